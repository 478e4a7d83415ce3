"""Records 20 steps of SGD by torchvision on the heads of the shipped model, as a safetensors file.

    PYTHONPATH=../detection_head/train python record.py --config ../detection_head/shapes.json \\
        --weights ../detection_head/shapes.safetensors --output parity.safetensors

The features, the proposals, the heads, the losses and the optimizer are torchvision's and torch's own:
`MaskRCNN.backbone`, `RegionProposalNetwork` without gradients, `RoIHeads.forward` in training mode, which chooses the
samples, and `torch.optim.SGD`. The steps take the batches in turn. The tensors, for B batches of N pictures:

    pictures.b [N, H, W, 3]           u8
    shapes.b [N, H, W]                u8: 0 for the background, and n for the picture's n-th shape
    labels.b.n [G]                    i64: the class of each shape of a picture
    proposals.b.n [K, 4]              f32: the proposals of a picture
    permutation.s.0 ..                i64: what `torch.randperm` returned in step s, call by call
    losses [S, 3]                     f32: loss_classifier, loss_box_reg and loss_mask of each step
    roi_heads...                      f32: the weights of the heads after the last step
"""

import argparse
import itertools
import pathlib

import numpy as np
import safetensors.torch
import torch
import torchvision

import model as models
import shapes

SEED = 6  # of no other pictures
STEPS = 20
BATCHES = 4
BATCH_SIZE = 2
SIDE = 96
EXTENT = (12, 56)  # the longer sides of shapes
RATE = 0.005
MOMENTUM = 0.9
LOSSES = ("loss_classifier", "loss_box_reg", "loss_mask")
PROPOSALS = 100
SAMPLES = 32


def targets(pictures):
    """The ground truth as torchvision's heads take it."""
    return [
        {
            "boxes": torch.from_numpy(picture.boxes),
            "labels": torch.from_numpy(picture.labels),
            "masks": torch.from_numpy(picture.masks).to(torch.uint8),
        }
        for picture in pictures
    ]


def numbered(picture):
    """The number of the shape that each pixel shows, from one; no pixel shows two."""
    numbers = np.arange(1, len(picture.masks) + 1, dtype=np.uint8)
    return (picture.masks * numbers[:, None, None]).sum(axis=0, dtype=np.uint8)


@torch.no_grad()
def frozen(model, pictures):
    """The features and the proposals of a batch, and the sizes of its pictures."""
    images = [torch.from_numpy(picture.pixels).permute(2, 0, 1) / 255 for picture in pictures]
    images, _ = model.transform(images)
    features = model.backbone(images.tensors)
    proposals, _ = model.rpn(images, features)
    return features, proposals, images.image_sizes


def recorder(randperm, tensors, step):
    """A `torch.randperm` that stores what it returns."""
    calls = itertools.count()

    def record_order(*arguments, **settings):
        order = randperm(*arguments, **settings)
        tensors[f"permutation.{step}.{next(calls)}"] = order
        return order

    return record_order


def record(model):
    """The steps, by the names above."""
    tensors, batches = {}, []
    for batch in range(BATCHES):
        pictures = [
            shapes.picture(SEED, batch * BATCH_SIZE + index, (SIDE, SIDE), EXTENT) for index in range(BATCH_SIZE)
        ]
        features, proposals, sizes = frozen(model, pictures)
        batches.append((features, proposals, sizes, targets(pictures)))
        tensors[f"pictures.{batch}"] = torch.from_numpy(np.stack([picture.pixels for picture in pictures]))
        tensors[f"shapes.{batch}"] = torch.from_numpy(np.stack([numbered(picture) for picture in pictures]))
        for index, picture in enumerate(pictures):
            tensors[f"labels.{batch}.{index}"] = torch.from_numpy(picture.labels)
            tensors[f"proposals.{batch}.{index}"] = proposals[index]

    heads = model.roi_heads.train()
    optimizer = torch.optim.SGD(heads.parameters(), lr=RATE, momentum=MOMENTUM)
    losses = []
    randperm = torch.randperm
    for step in range(STEPS):
        torch.randperm = recorder(randperm, tensors, step)
        features, proposals, sizes, truth = batches[step % BATCHES]
        _, of_step = heads(features, [boxes.clone() for boxes in proposals], sizes, truth)
        optimizer.zero_grad()
        sum(of_step.values()).backward()
        optimizer.step()
        losses.append([of_step[name].item() for name in LOSSES])
        print(step, " ".join(f"{name} {value:.4f}" for name, value in zip(LOSSES, losses[-1])))
    tensors["losses"] = torch.tensor(losses)
    state = heads.state_dict()
    tensors.update({f"roi_heads.{name}": value.detach().clone() for name, value in state.items()})
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def main():
    parser = argparse.ArgumentParser(description="Records 20 steps of SGD by torchvision on the heads.")
    parser.add_argument("--config", type=pathlib.Path, required=True)
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    config = models.read(arguments.config)
    config["preprocessing"]["min_size"] = SIDE
    config["region_proposals"]["post_nms_top_n"] = PROPOSALS
    model = models.build(config, box_batch_size_per_image=SAMPLES)
    model.load_state_dict(safetensors.torch.load_file(arguments.weights))
    tensors = record(model.eval())
    metadata = {
        "min_size": SIDE,
        "batches": BATCHES,
        "samples": SAMPLES,
        "rate": RATE,
        "momentum": MOMENTUM,
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
    }
    metadata = {name: str(value) for name, value in metadata.items()}
    safetensors.torch.save_file(tensors, arguments.output, metadata)


if __name__ == "__main__":
    main()
