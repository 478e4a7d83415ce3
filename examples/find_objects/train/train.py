"""Trains the Mask R-CNN of a configuration file on generated pictures, and exports its weights.

    python train.py --config ../shapes.json --checkpoint shapes.pt --weights ../shapes.safetensors

The checkpoint lets an interrupted run continue, with other settings if wanted. The shipped weights were trained by:

    python train.py <paths as above> --batch 16 --rate 2e-3 --steps 3000      until step 700
    python train.py <paths as above> --batch 8 --rate 1.5e-3 --steps 3700     until step 1900
    python train.py <paths as above> --batch 8 --rate 1.5e-3 --steps 3100     to the end

The first 400 steps used 48 regions a picture instead of 32. On two cores of an AMD EPYC with bf16 instructions and no
GPU, a step of 16 pictures took 0.6 s. The run of 3100 steps took 90 minutes, while other work used about half of the
machine.

The programs in order, and how long each takes on the same machine:

    train.py      writes the weights, as above
    evaluate.py   measures them on the held-out pictures (half a minute)
    showcase.py   draws the two pictures beside the weights (a second)
    record.py     records the outputs of the model's parts for the small picture (some seconds)
    shapes.py     writes the held-out pictures as files, for another program (some seconds)
"""

import argparse
import copy
import json
import math
import os
import pathlib
import time

import safetensors.torch
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import model as models
import shapes

TRAINING_SETTINGS = {
    "rpn_pre_nms_top_n_train": 300,
    "rpn_post_nms_top_n_train": 200,
    "rpn_batch_size_per_image": 64,
    "box_batch_size_per_image": 32,
}


class Batches(Dataset):
    """The batches of training steps, as torchvision's lists of pictures and targets, all of one size."""

    def __init__(self, first, last, size):
        self.first, self.last, self.size = first, last, size

    def __len__(self):
        return self.last - self.first

    def __getitem__(self, offset):
        torch.set_num_threads(1)
        step = self.first + offset
        size = shapes.SIZES[step % len(shapes.SIZES)]
        indices = range(step * self.size, (step + 1) * self.size)
        pictures = [shapes.picture(shapes.TRAINING_SEED, index, size) for index in indices]
        images = [torch.from_numpy(picture.pixels).permute(2, 0, 1) / 255 for picture in pictures]
        return images, [target(picture) for picture in pictures]


def target(picture):
    """The ground truth of a picture, as torchvision's model takes it."""
    return {
        "boxes": torch.from_numpy(picture.boxes),
        "labels": torch.from_numpy(picture.labels),
        "masks": torch.from_numpy(picture.masks).to(torch.uint8),
    }


def learning_rate(step, steps, peak, warmup=300):
    """Rises linearly to the peak, then falls to nearly nothing along a cosine."""
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(1, steps - warmup)
    return peak * (0.01 + 0.99 * (1 + math.cos(math.pi * progress)) / 2)


def optimizer_of(model, decay):
    """AdamW that decays the weights of convolutions and linear layers, but no biases and no norms."""
    decayed = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, fused=True)


def follow(average, model, step):
    """Moves the averaged weights and statistics towards those of the model."""
    keep = min(0.999, (step + 1) / (step + 10))
    names = [name for name, value in model.state_dict().items() if value.is_floating_point()]
    means, values = average.state_dict(), model.state_dict()
    with torch.no_grad():
        torch._foreach_lerp_([means[name] for name in names], [values[name] for name in names], 1 - keep)


def replace(path, write):
    """Writes a file under another name and renames it, so that the path never holds half a file."""
    partial = path.with_name(path.name + ".partial")
    write(partial)
    os.replace(partial, path)


def export(average, config, path):
    """Writes the averaged weights, with the running statistics of the norms, as safetensors in f32."""
    tensors = {
        name: tensor.detach().float().contiguous().clone()
        for name, tensor in average.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    metadata = {"format": "pt", "name": config["name"], "classes": json.dumps(config["classes"])}
    replace(path, lambda partial: safetensors.torch.save_file(tensors, partial, metadata))


def train(arguments):
    torch.manual_seed(0)
    torch.set_num_threads(arguments.threads)
    config = models.read(arguments.config)
    model = models.build(config, nn.BatchNorm2d, **TRAINING_SETTINGS)
    model = model.to(memory_format=torch.channels_last).train()
    average = copy.deepcopy(model)
    optimizer = optimizer_of(model, arguments.decay)
    first = 0
    if arguments.checkpoint.exists():
        saved = torch.load(arguments.checkpoint)
        model.load_state_dict(saved["model"])
        average.load_state_dict(saved["average"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["step"]
    batches = DataLoader(
        Batches(first, arguments.steps, arguments.batch), batch_size=None, num_workers=1, prefetch_factor=8
    )
    sums, started = {}, time.time()
    for step, (images, targets) in enumerate(batches, first):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, arguments.steps, arguments.rate)
            group["fused"] = True
        with torch.autocast("cpu", torch.bfloat16):
            losses = model(images, targets)
        loss = sum(losses.values())
        if not torch.isfinite(loss):
            raise RuntimeError(f"the loss of step {step} is {loss.item()}")
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        follow(average, model, step)
        for name, value in losses.items():
            sums[name] = sums.get(name, 0.0) + value.item()
        done = step + 1
        if done % 50 == 0:
            means = " ".join(f"{name[5:]} {total / 50:.4f}" for name, total in sums.items())
            pace = (time.time() - started) / (done - first)
            print(f"step {done} {means} | {pace:.2f} s a step", flush=True)
            sums = {}
        if done % arguments.save_every == 0 or done == arguments.steps:
            state = {
                "model": model.state_dict(),
                "average": average.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": done,
            }
            replace(arguments.checkpoint, lambda partial: torch.save(state, partial))
            export(average, config, arguments.weights)


def main():
    parser = argparse.ArgumentParser(
        description="Trains the model, from the checkpoint if there is one, and exports it."
    )
    parser.add_argument("--config", type=pathlib.Path, required=True)
    parser.add_argument(
        "--checkpoint", type=pathlib.Path, required=True, help="the file to continue from, and to save progress to"
    )
    parser.add_argument("--weights", type=pathlib.Path, required=True, help="the safetensors file to write")
    parser.add_argument("--steps", type=int, default=3700)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1.5e-3, help="the peak of the learning rate")
    parser.add_argument("--decay", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=int, default=100)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
