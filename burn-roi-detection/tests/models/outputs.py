"""The outputs of the parts of a model, by name, and the file that keeps them. `record.py` has its format."""

import json

import safetensors.torch
import torch

SAMPLES = 256


class Outputs:
    def __init__(self):
        self.tensors, self.whole = {}, set()

    def on(self, module, store):
        module.register_forward_hook(lambda _module, _inputs, output: store(output))

    def keep(self, name, tensor, whole=False):
        self.tensors[name] = tensor.detach().clone().contiguous()
        if whole:
            self.whole.add(name)

    def keep_all(self, name, tensors, whole=False):
        for index, tensor in enumerate(tensors):
            self.keep(f"{name}.{index}", tensor, whole)

    def sampled(self, model):
        """The tensors to write for a model of this name, and what the metadata says of them."""
        tensors, steps, shapes = {}, {}, {}
        for key, tensor in self.tensors.items():
            shapes[key] = list(tensor.shape)
            steps[key] = 1 if key in self.whole else max(1, tensor.numel() // SAMPLES)
            tensors[f"{model}/{key}"] = tensor.flatten()[:: steps[key]].clone()
        return tensors, {"steps": steps, "shapes": shapes}

    def print_counts(self, model, detections):
        proposals = [len(self.tensors[f"proposals.{image}"]) for image in (0, 1)]
        print(f"{model}: {proposals} proposals, {detections} detections")


def save(path, tensors, models, **versions):
    # One entry, since the order of several changes from run to run.
    metadata = {"torch": torch.__version__, **versions, "models": models}
    safetensors.torch.save_file(tensors, path, {"metadata": json.dumps(metadata)})
