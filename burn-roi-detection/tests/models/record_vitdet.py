"""Records a narrow ViTDet with random weights part by part, as `record_mayaku.py` records detectron2's other models:

    python record_vitdet.py vitdet.safetensors

That of detectron2's own width stays outside of the repository:

    python record_vitdet.py --wide folder/vitdet.safetensors
    VITDET_RECORDINGS=folder cargo test --release --test detection models::detectron2::vitdets_of_the_folder

The body, the pyramid and the heads are those of `vitdet.py`; what is between them, such as anchors, proposals and the
choice of detections, is mayaku's. The map of the pictures is no square and no multiple of the windows, and both kinds
of positions are for maps of other sizes.

The metadata has the name of the model in burn-roi-detection's `detectron2::named`, and what the recorded one has
otherwise.
"""

import argparse

import torch
from mayaku.inference.postprocess import detector_postprocess

import narrow
import vitdet
from mayaku_models import build, config
from outputs import save
from record import pictures
from record_mayaku import VERSIONS, Recorder, behave, inputs, is_stable

NAME, ANCHORS = "mask_rcnn_vitdet", 3
SIZES = {"min_size": 64, "max_size": 107}
BODY = {
    "channels": 16,
    "blocks": 3,
    "heads": 2,
    "global_blocks": [1],
    "patch_size": 16,
    "window_size": 4,
    "input_size": 96,
    "pretrained_size": 48,
}
WIDE_BODY = BODY | {
    "channels": 768,
    "blocks": 12,
    "heads": 12,
    "global_blocks": [2, 5, 8, 11],
    "window_size": 14,
    "input_size": 1024,
    "pretrained_size": 224,
}
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


def changes(wide):
    """What differs from the model of the name, by the names of burn-roi-detection's config."""
    width, preprocessing = narrow.PYRAMID, SIZES | {"square_pad": None}
    if wide:
        return {"preprocessing": preprocessing}
    return {
        "classes": [f"class {index}" for index in range(3)] + ["background"],
        "body": BODY,
        "feature_pyramid": {"channels": width},
        "box_head": {"convolutions": [width] * 4, "fully_connected": [narrow.HIDDEN]},
        "mask_head": {"convolutions": [width] * 4, "predictor_channels": width},
        "preprocessing": preprocessing,
    }


def model_of(arguments):
    """mayaku's Mask R-CNN with the layers of ViTDet."""
    wide = arguments.wide
    model = build(config("mask_rcnn", wide, arguments), wide)
    width, hidden, classes = (256, 1024, 80) if wide else (narrow.PYRAMID, narrow.HIDDEN, 3)
    model.backbone = vitdet.SimpleFeaturePyramid(WIDE_BODY if wide else BODY, width)
    model.rpn.head = vitdet.RegionProposalHead(width, ANCHORS)
    model.roi_heads.box_head = vitdet.BoxHead(width, 7, hidden)
    model.roi_heads.mask_head = vitdet.MaskHead(width, classes)
    model.pixel_mean, model.pixel_std = (torch.tensor(values).view(3, 1, 1) for values in (MEAN, STD))
    vitdet.liven(model)
    return model.eval()


def main():
    parser = argparse.ArgumentParser(description="Records a ViTDet part by part.")
    parser.add_argument("--wide", action="store_true", help="of detectron2's own width")
    parser.add_argument("output")
    arguments = parser.parse_args(namespace=argparse.Namespace(**SIZES))
    images = [pictures(2)[0], pictures(1)[1]]
    batch = inputs(images, arguments)
    for seed in range(1, 60):
        torch.manual_seed(seed)
        model = model_of(arguments)
        behave(model, batch, 16)
        if arguments.wide or is_stable(model, batch):
            break
    else:
        raise SystemExit("no seed has detections that rounding does not change")
    recorder = Recorder(model, reverses=False)
    with torch.no_grad():
        results = model(batch)
    for index, (image, result) in enumerate(zip(images, results)):
        recorder.keep_detections(index, detector_postprocess(result["instances"], *image.shape[:2]))
    tensors, metadata = recorder.sampled(NAME)
    recorder.print_counts(NAME, [len(result["instances"]) for result in results])
    for key, tensor in model.state_dict().items():
        name = key.replace("backbone.bottom_up.", "backbone.net.").replace("rpn.head.", "proposal_generator.rpn_head.")
        tensors[f"{NAME}/weights.{name}"] = tensor.half().contiguous()
    tensors |= {f"pictures/{index}": picture for index, picture in enumerate(images)}
    metadata |= {"model": "COCO/mask_rcnn_vitdet_b_100ep", "changes": changes(arguments.wide)}
    save(arguments.output, tensors, {NAME: metadata}, **VERSIONS)


main()
