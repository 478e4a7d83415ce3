#!/usr/bin/env python3
"""Exports detectron2's Mask R-CNN of a few channels as its `TracingAdapter` does, and records runs of onnxruntime.

    pip install -r ../graphs/requirements.txt -r requirements_detectron2.txt
    git clone https://github.com/facebookresearch/detectron2 FOLDER     # recorded with commit 02b5c4e
    PYTHONPATH=FOLDER python generate_detectron2.py

The operators in C++ of detectron2 are not called, so it need not be built. This writes `detectron2.onnx`, the model of
`mask_rcnn_R_50_FPN_1x.yaml` with few channels, whose height and width of the picture are free, and
`detectron2.RUN.safetensors` with the tensors input.image and output.OUTPUT of these runs:

    some             a picture with detections
    one              a picture with one detection
    padded_size      a picture whose sides are no multiples of 32, to which the graph pads them
    empty_level      a picture whose proposals leave a level of the pyramid without a region
    no_detection     a picture with proposals and no detection

detectron2 has no threshold for proposals, so each picture has some.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
import torch
from detectron2 import config as configs
from detectron2.export import TracingAdapter
from detectron2.modeling import build_model
from torch import nn

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "examples/find_objects/train"))
import shapes  # noqa: E402

OPSET = 16
OUTPUTS = ["boxes", "classes", "masks", "scores", "size"]
SEED, PICTURE_SEED = 1, 3
SIZE = (96, 64)
FILE = "COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_1x.yaml"


def configuration():
    folder = Path(configs.__file__).parents[2] / "configs"
    config = configs.get_cfg()
    config.merge_from_file(str(folder / FILE))
    config.MODEL.DEVICE, config.MODEL.WEIGHTS = "cpu", ""
    config.MODEL.RESNETS.NORM = "BN"
    config.MODEL.RESNETS.STEM_OUT_CHANNELS = config.MODEL.RESNETS.RES2_OUT_CHANNELS = 4
    config.MODEL.RESNETS.WIDTH_PER_GROUP = 1
    config.MODEL.FPN.OUT_CHANNELS = config.MODEL.ROI_MASK_HEAD.CONV_DIM = 4
    config.MODEL.ROI_BOX_HEAD.FC_DIM = 8
    config.MODEL.ROI_HEADS.NUM_CLASSES = 3
    config.MODEL.ANCHOR_GENERATOR.SIZES = [[8], [16], [32], [64], [128]]
    config.MODEL.RPN.PRE_NMS_TOPK_TEST, config.MODEL.RPN.POST_NMS_TOPK_TEST = 60, 40
    config.MODEL.ROI_HEADS.SCORE_THRESH_TEST, config.TEST.DETECTIONS_PER_IMAGE = 0.65, 10
    return config


def build():
    torch.manual_seed(SEED)
    model = build_model(configuration()).eval()
    for pooler in [model.roi_heads.box_pooler, model.roi_heads.mask_pooler]:
        # As large as boxes are here, so that they belong to several levels.
        pooler.canonical_box_size = 12
    picture = drawn(0, SIZE)
    settle_norms(model, picture)
    heads = [(model.proposal_generator.rpn_head.objectness_logits, 2.0),
             (model.proposal_generator.rpn_head.anchor_deltas, 0.5), (model.roi_heads.box_predictor.cls_score, 1.5),
             (model.roi_heads.box_predictor.bbox_pred, 1.0), (model.roi_heads.mask_head.predictor, 2.0)]
    for layer, spread in heads:
        with torch.no_grad():
            outputs = outputs_of(model, layer, picture)
            layer.weight *= spread / torch.cat([level.flatten() for level in outputs]).std()
    return model


def settle_norms(model, picture):
    """Gives the norms of the backbone the statistics of a picture."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    found(model, picture)
    for norm in norms:
        norm.eval()


def outputs_of(model, layer, picture):
    outputs = []
    hook = layer.register_forward_hook(lambda _layer, _inputs, output: outputs.append(output))
    # The mask head runs only where there are detections.
    predictor = model.roi_heads.box_predictor
    predictor.test_score_thresh, threshold = 0.0, predictor.test_score_thresh
    found(model, picture)
    predictor.test_score_thresh = threshold
    hook.remove()
    return outputs


def inference(model, inputs):
    return [{"instances": model.inference(inputs, do_postprocess=False)[0]}]


def found(model, picture):
    with torch.no_grad():
        return inference(model, [{"image": picture}])[0]["instances"]


def drawn(index, size):
    pixels = shapes.picture(PICTURE_SEED, index, size, extent=(8, 48), most=6, least=3).pixels
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous().float()


def pictures():
    return {"some": drawn(29, SIZE), "one": drawn(5, SIZE), "padded_size": drawn(3, (70, 55)),
            "empty_level": drawn(13, SIZE), "no_detection": drawn(21, SIZE)}


def levels_of(model, picture):
    """How many proposals each level has."""
    regions = []
    poolers = model.roi_heads.box_pooler.level_poolers
    count = lambda _pooler, inputs, _output: regions.append(len(inputs[1]))  # noqa: E731
    hooks = [pooler.register_forward_hook(count) for pooler in poolers]
    found(model, picture)
    for hook in hooks:
        hook.remove()
    return regions


def expected(model, picture):
    instances = found(model, picture)
    tensors = [instances.pred_boxes.tensor, instances.pred_classes, instances.pred_masks, instances.scores]
    size = np.array(instances.image_size, np.int64)
    return dict(zip(OUTPUTS, [tensor.numpy() for tensor in tensors] + [size]))


def export(model, path):
    picture = pictures()["some"]
    adapter = TracingAdapter(model, [{"image": picture}], inference)
    with warnings.catch_warnings():
        # torch warns of every value that it traces.
        warnings.simplefilter("ignore")
        torch.onnx.export(adapter, (picture,), path, dynamo=False, opset_version=OPSET, input_names=["image"],
                          output_names=OUTPUTS, dynamic_axes={"image": {1: "height", 2: "width"}})
    file = onnx.load(path)
    # The traces of the Python code are longer than the graph.
    for node in file.graph.node:
        node.ClearField("doc_string")
    onnx.save(file, path)


def check(run, levels, outputs, reference):
    """Fails unless onnxruntime finds what torch finds, and the run is what its name says."""
    count = len(outputs["classes"])
    print(f"{run}: {levels} proposals on each level, {count} detections")
    for name in OUTPUTS:
        assert outputs[name].shape == reference[name].shape, (run, name, outputs[name].shape)
        assert np.abs(outputs[name] - reference[name]).max(initial=0) < 1e-3, (run, name)
    assert {"no_detection": count == 0, "one": count == 1}.get(run, count > 2), run
    assert (0 in levels) == (run == "empty_level"), run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="the folder to write into")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.output.mkdir(parents=True, exist_ok=True)
    model, path = build(), arguments.output / "detectron2.onnx"
    export(model, path)
    # The export leaves the model in training.
    model.eval()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for run, picture in pictures().items():
        outputs = dict(zip(OUTPUTS, session.run(OUTPUTS, {"image": picture.numpy()})))
        check(run, levels_of(model, picture), outputs, expected(model, picture))
        tensors = {"input.image": picture.numpy(), **{f"output.{name}": tensor for name, tensor in outputs.items()}}
        content = safetensors.numpy.save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
        (arguments.output / f"detectron2.{run}.safetensors").write_bytes(content)


if __name__ == "__main__":
    main()
