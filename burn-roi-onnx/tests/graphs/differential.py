"""Graphs of many nodes: each operator of detectors, with each of its attributes and inputs.

A graph has one node, and one output, for each variant. Its inputs are shared."""

from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from graph import TOLERANCES, node, onnxruntime_of
from standard import random_of


@dataclass
class Sheet:
    """Nodes of one operator set version that read the same inputs; has what `generate.save` asks of a `Graph`."""

    name: str
    operator: str
    opset: int
    inputs: dict
    free: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)
    tolerance: float = TOLERANCES[np.dtype(np.float32)]
    domain: str = ""
    note: str = "a node for each variant"
    nodes: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)
    outputs: list = field(default_factory=list)
    kinds: dict = field(default_factory=dict)

    def add(self, variant, inputs, constants=None, outputs=1, operator=None, **attributes):
        """Adds a node. `constants` are its own inputs; they replace their names in `inputs`."""
        own = {f"{variant}_{name}": np.asarray(value) for name, value in (constants or {}).items()}
        self.constants |= own
        names = [f"{variant}_{name}" if f"{variant}_{name}" in own else name for name in inputs]
        given = [variant] if outputs == 1 else [f"{variant}_{at}" for at in range(outputs)]
        self.outputs += given
        self.nodes.append(node(operator or self.operator, names, given, name=variant, **attributes))

    def model(self, opset=None):
        values = [self.value(name, tensor.dtype, tensor.shape) for name, tensor in self.inputs.items()]
        outputs = [self.value(name, *self.kinds.get(name, (np.float32, None))) for name in self.outputs]
        constants = [numpy_helper.from_array(tensor, name) for name, tensor in self.constants.items()]
        graph = helper.make_graph(self.nodes, self.name, values, outputs, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset or self.opset)], ir_version=8)

    def value(self, name, dtype, shape):
        if shape is not None:
            shape = [self.free.get((name, axis), side) for axis, side in enumerate(shape)]
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    def recordings(self):
        self.infer_kinds()
        for run, changes in {"": {}, **self.runs}.items():
            inputs = {**self.inputs, **changes}
            outputs, source = onnxruntime_of()(self, inputs)
            for name, output in outputs.items():
                assert np.isfinite(output).all(), (self.name, run, name)
            yield run, inputs, outputs, source

    def infer_kinds(self):
        """Sets the types of the outputs to those that ONNX infers."""
        from onnx import shape_inference

        model = self.model()
        for output in model.graph.output:
            output.type.Clear()
        found = shape_inference.infer_shapes(model, data_prop=True)
        for value in found.graph.output:
            kind = value.type.tensor_type
            shape = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
            self.kinds[value.name] = helper.tensor_dtype_to_np_dtype(kind.elem_type), shape

    def of_tolerance(self):
        return self.tolerance


def numbers_of(name, shape, dtype=np.float32):
    """Distinct numbers from -2 to 2 in a random order."""
    values = random_of(name).permutation(np.linspace(-2, 2, np.prod(shape)))
    return values.reshape(shape).astype(dtype)


def pad(opset):
    inputs = {"x": numbers_of("pad", (2, 3, 5, 4)), "whole": np.arange(-6, 6).reshape(3, 4),
              "value": np.array(1.5, np.float32), "pads": np.array([0, 1, 2, 0, 0, 0, 1, 3])}
    sheet = Sheet(f"pad_{opset}", "Pad", opset, inputs)
    pads = np.array([0, 0, 1, 2, 0, 1, 3, 0])
    for mode in ["constant", "edge", "reflect"]:
        sheet.add(f"{mode}", ["x", "pads"], {"pads": pads}, mode=mode)
        sheet.add(f"computed_{mode}", ["x", "pads"], mode=mode)
    sheet.add("defaults", ["x", "pads"], {"pads": pads})
    sheet.add("valued", ["x", "pads", "value"], {"pads": pads, "value": np.float32(-7.5)})
    sheet.add("computed_value", ["x", "pads", "value"], {"pads": pads})
    sheet.add("none", ["x", "pads"], {"pads": np.zeros(8, np.int64)})
    sheet.add("whole_numbers", ["whole", "pads"], {"pads": np.array([1, 0, 0, 2])})
    sheet.add("whole_numbers_valued", ["whole", "pads", "value"], {"pads": np.array([1, 0, 0, 2]), "value": -2**40})
    if opset >= 18:
        axes = {"axes": np.array([-1, 1]), "pads": np.array([1, 0, 2, 1])}
        sheet.add("axes", ["x", "pads", "", "axes"], axes, mode="edge")
        sheet.add("axes_valued", ["x", "pads", "value", "axes"], {**axes, "value": np.float32(3)})
    return sheet


def pad_2():
    sheet = Sheet("pad_2", "Pad", 2, {"x": numbers_of("pad_2", (2, 3, 5, 4))})
    pads = [0, 0, 1, 2, 0, 1, 3, 0]
    for mode in ["constant", "edge", "reflect"]:
        sheet.add(mode, ["x"], pads=pads, mode=mode)
    sheet.add("valued", ["x"], pads=pads, value=2.5)
    return sheet


def gather_nd(opset):
    inputs = {"x": numbers_of("gather_nd", (2, 3, 4)), "whole": np.arange(24).reshape(2, 3, 4) * 2**33,
              "indices": np.array([[0, -1], [1, 0], [-2, 2]]), "flags": numbers_of("flags", (2, 3, 4)) > 0}
    sheet = Sheet(f"gather_nd_{opset}", "GatherND", opset, inputs)
    sheet.add("elements", ["x", "i"], {"i": np.array([[[0, 1, 2], [-1, -2, -3]]])})
    sheet.add("rows", ["x", "i"], {"i": np.array([[[0, 1]], [[-1, -2]]])})
    sheet.add("slices", ["x", "i"], {"i": np.array([[1], [0], [-1]])})
    sheet.add("computed", ["x", "indices"])
    sheet.add("whole_numbers", ["whole", "indices"])
    sheet.add("booleans", ["flags", "indices"])
    if opset >= 12:
        sheet.add("batched", ["x", "i"], {"i": np.array([[[1], [-1]], [[0], [2]]])}, batch_dims=1)
        sheet.add("batched_twice", ["x", "i"], {"i": np.array([[[1], [-1], [0]], [[0], [2], [3]]])}, batch_dims=2)
    return sheet


def scatter(opset):
    inputs = {"x": numbers_of("scatter", (2, 3, 4)), "whole": np.arange(24).reshape(2, 3, 4) * 2**33,
              "row_indices": np.array([[0, -1], [1, 0]]), "rows": numbers_of("rows", (2, 4)),
              "elements": numbers_of("elements", (2, 2, 4)),
              "positions": random_of("positions").integers(-3, 3, (2, 2, 4)), "some": numbers_of("some", (2, 2, 3)),
              "last": np.array([[[1, 0, 3], [0, 2, 1]], [[-1, 0, 1], [3, 2, -4]]]),
              "flags": numbers_of("flags", (2, 3, 4)) > 0}
    distinct = np.array([[[0, 2, 1, -1], [1, 0, 2, 0]], [[2, 1, 0, 1], [-3, 0, 1, -1]]])
    sheet = Sheet(f"scatter_{opset}", "ScatterND", opset, inputs)
    sheet.add("rows_assigned", ["x", "row_indices", "rows"])
    sheet.add("slice_assigned", ["x", "i", "u"], {"i": np.array([[-1]]), "u": numbers_of("u", (1, 3, 4))})
    sheet.add("elements_assigned", ["x", "i", "u"], {"i": np.array([[0, 1, 2], [1, -1, 0]]), "u": np.float32([5, -5])})
    sheet.add("whole_assigned", ["whole", "row_indices", "u"], {"u": np.arange(8).reshape(2, 4) * -2**35})
    sheet.add("flags_assigned", ["flags", "row_indices", "u"], {"u": np.array([[True] * 4, [False] * 4])})
    sheet.add("along_axis_1", ["x", "i", "elements"], {"i": distinct}, operator="ScatterElements", axis=1)
    sheet.add("along_last", ["x", "last", "some"], operator="ScatterElements", axis=-1)
    sheet.add("along_first", ["x", "i", "u"], {"i": np.array([[[1, 0]]]), "u": np.float32([[[8, 9]]])},
              operator="ScatterElements")
    sheet.add("whole_along", ["whole", "last", "u"], {"u": np.arange(12).reshape(2, 2, 3) * 2**36},
              operator="ScatterElements", axis=2)
    columns = {"i": np.array([[[1, -4], [0, 3], [2, 2]], [[-1, 0], [1, 1], [3, -2]]])}
    sheet.add("gathered", ["x", "positions"], operator="GatherElements", axis=1)
    sheet.add("gathered_last", ["x", "i"], columns, operator="GatherElements", axis=-1)
    sheet.add("gathered_whole", ["whole", "i"], columns, operator="GatherElements", axis=2)
    repeated = {"i": np.array([[0, 1], [0, 1], [1, 2], [0, -2]]), "u": numbers_of("repeated", (4, 4))}
    reductions = ["add", "mul"] * (opset >= 16) + ["max", "min"] * (opset >= 18)
    for reduction in reductions:
        sheet.add(f"rows_{reduction}", ["x", "i", "u"], repeated, reduction=reduction)
        sheet.add(f"along_{reduction}", ["x", "positions", "elements"], operator="ScatterElements", axis=1,
                  reduction=reduction)
        sheet.add(f"along_short_{reduction}", ["x", "i", "u"],
                  {"i": np.array([[[1, 1], [2, -1]]]), "u": np.float32([[[.5, 3], [-2, .25]]])},
                  operator="ScatterElements", axis=1, reduction=reduction)
        whole = {"i": np.array([[0], [1], [0]]), "u": np.arange(36).reshape(3, 3, 4)}
        sheet.add(f"whole_{reduction}", ["whole", "i", "u"], whole, reduction=reduction)
    return sheet


def grid_sample(opset, mode):
    grid = random_of("grid").uniform(-1.6, 1.6, (2, 3, 5, 2)).astype(np.float32)
    inputs = {"x": numbers_of("grid_sample", (2, 3, 6, 5)), "grid": grid}
    sheet = Sheet(f"grid_sample_{mode}_{opset}", "GridSample", opset, inputs)
    for padding in ["zeros", "border", "reflection"]:
        for aligned in [0, 1]:
            sheet.add(f"{padding}_{'aligned' if aligned else 'moved'}", ["x", "grid"], mode=mode, padding_mode=padding,
                      align_corners=aligned)
    if mode != "nearest":
        sheet.add("defaults", ["x", "grid"])
    return sheet


def top_k():
    inputs = {"x": numbers_of("top_k", (3, 6, 4)), "whole": np.array([[5, -3, 2**40, 2**40 + 1, 0, -2**50]]),
              "k": np.array([2])}
    sheet = Sheet("top_k_variants", "TopK", 11, inputs)
    k = {"k": np.array([3])}
    sheet.add("last", ["x", "k"], k, 2)
    sheet.add("smallest", ["x", "k"], k, 2, axis=1, largest=0)
    sheet.add("computed", ["x", "k"], None, 2, axis=-2)
    sheet.add("all", ["x", "k"], {"k": np.array([4])}, 2)
    sheet.add("whole_numbers", ["whole", "k"], k, 2)
    sheet.add("none", ["x", "k"], {"k": np.array([0])}, 2)
    return sheet


def counts():
    """Operators of detectors for three regions, one and none."""
    inputs = {"x": numbers_of("counts", (3, 4)), "scores": numbers_of("scores", (3,)),
              "maps": numbers_of("maps", (3, 4, 3, 3)), "labels": np.array([1, 0, 2]),
              "kept": np.array([True, False, True])}
    free = {(name, 0): "regions" for name in inputs}
    runs = {name: {key: tensor[:count] for key, tensor in inputs.items()} for name, count in [("one", 1), ("none", 0)]}
    sheet = Sheet("counts", "Unsqueeze", 18, inputs, free, runs)
    rows = {"axes": np.array([1])}
    for reduction in ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd"]:
        name = reduction.removeprefix("Reduce").lower()
        if reduction not in ["ReduceMax", "ReduceMin", "ReduceMean"]:
            sheet.add(f"{name}_of_all", ["x"], operator=reduction, keepdims=1)
        sheet.add(f"{name}_of_rows", ["x", "axes"], rows, operator=reduction, keepdims=0)
        sheet.add(f"{name}_of_maps", ["maps", "axes"], {"axes": np.array([2, 3])}, operator=reduction)
    # Of no elements it is infinite; the sum is 0.
    sheet.nodes.append(node("ReduceMax", ["x"], ["largest_of_all"], keepdims=0))
    sheet.nodes.append(node("ReduceMin", ["x"], ["smallest_of_all"], keepdims=1))
    sheet.nodes.append(node("Mul", ["x", "largest_of_all"], ["scaled"]))
    sheet.add("scaled_twice", ["scaled", "smallest_of_all"], operator="Mul")
    sheet.add("best_of_rows", ["x"], operator="ArgMax", axis=1, keepdims=0)
    sheet.add("column", ["scores", "axes"], {"axes": np.array([1])})
    sheet.add("row", ["scores", "axes"], {"axes": np.array([0, 2])})
    sheet.add("integers_column", ["labels", "axes"], {"axes": np.array([1])})
    sheet.add("squeezed", ["maps_row", "axes"], {"axes": np.array([0])}, operator="Squeeze")
    sheet.nodes.insert(-1, node("Unsqueeze", ["maps", "maps_row_axes"], ["maps_row"]))
    sheet.constants["maps_row_axes"] = np.array([0])
    sheet.add("turned", ["x"], operator="Transpose", perm=[1, 0])
    sheet.add("joined", ["x", "x"], operator="Concat", axis=0)
    sheet.add("joined_columns", ["x", "x"], operator="Concat", axis=1)
    for name, ends in {"sliced": (1, 3, 1), "first_rows": (0, 2, 0)}.items():
        ends = {key: np.array([value]) for key, value in zip(["from", "to", "axis"], ends)}
        sheet.add(name, ["x", *ends], ends, operator="Slice")
    sheet.add("every_second", ["x", "from", "to", "axis", "step"], {
        "from": np.array([0]), "to": np.array([4]), "axis": np.array([1]), "step": np.array([2])}, operator="Slice")
    sheet.add("table_rows", ["table", "labels"], {"table": numbers_of("table", (5, 4))}, operator="Gather", axis=0)
    sheet.add("columns", ["x", "i"], {"i": np.array([3, 0])}, operator="Gather", axis=1)
    sheet.add("one_column", ["x", "i"], {"i": np.array(2)}, operator="Gather", axis=1)
    sheet.add("scores_of_labels", ["x", "integers_column"], operator="GatherElements", axis=1)
    table = {"table": numbers_of("table", (5, 4))}
    sheet.add("table_gathered", ["table", "integers_column"], table, operator="GatherND")
    sheet.add("scattered", ["table", "integers_column", "x"], table, operator="ScatterND")
    sheet.add("scattered_elements", ["x", "integers_column", "u"], operator="ScatterElements", axis=1)
    sheet.nodes[-1].input[2] = "column"
    sheet.add("found", ["kept"], operator="NonZero")
    sheet.add("chosen", ["kept_column", "x", "other"], {"other": np.float32(0.5)}, operator="Where")
    sheet.nodes.insert(-1, node("Unsqueeze", ["kept", "column_axes"], ["kept_column"]))
    sheet.add("softmax", ["x"], operator="Softmax", axis=1)
    sheet.add("sigmoid", ["x"], operator="Sigmoid")
    sheet.add("exp", ["x"], operator="Exp")
    sheet.add("clipped", ["x", "low", "high"], {"low": np.float32(-1), "high": np.float32(1)}, operator="Clip")
    sheet.add("largest", ["x", "other"], {"other": np.float32([0.5])}, operator="Max")
    sheet.add("split", ["x"], outputs=2, operator="Split", axis=1, num_outputs=2)
    sheet.add("tiled", ["x", "repeats"], {"repeats": np.array([1, 2])}, operator="Tile")
    sheet.add("expanded", ["column", "shape"], {"shape": np.array([1, 4])}, operator="Expand")
    sheet.add("reshaped", ["x", "shape"], {"shape": np.array([-1, 2, 2])}, operator="Reshape")
    sheet.add("cast", ["labels"], operator="Cast", to=TensorProto.FLOAT)
    sheet.add("equal", ["labels", "one"], {"one": np.array([1])}, operator="Equal")
    sheet.add("greater", ["scores", "limit"], {"limit": np.float32([0.2])}, operator="Greater")
    sheet.add("not", ["kept"], operator="Not")
    sheet.add("linear", ["x", "w", "b"], {"w": numbers_of("w", (4, 5)), "b": numbers_of("b", (5,))}, operator="Gemm")
    sheet.add("product", ["x", "w"], {"w": numbers_of("w", (4, 5))}, operator="MatMul")
    sheet.add("convolved", ["maps", "w", "b"], {"w": numbers_of("c", (5, 4, 3, 3)), "b": numbers_of("b", (5,))},
              operator="Conv", pads=[1, 1, 1, 1])
    sheet.add("enlarged", ["maps", "w", "b"], {"w": numbers_of("t", (4, 5, 2, 2)), "b": numbers_of("b", (5,))},
              operator="ConvTranspose", strides=[2, 2])
    norm = {name: abs(numbers_of(name, (4,))) for name in ["scale", "bias", "mean", "variance"]}
    sheet.add("normalized", ["maps", *norm], norm, operator="BatchNormalization")
    sheet.add("average", ["maps"], operator="GlobalAveragePool")
    sheet.add("pooled", ["maps"], operator="MaxPool", kernel_shape=[2, 2])
    sheet.add("means", ["maps"], operator="AveragePool", kernel_shape=[2, 2])
    sheet.add("resized", ["maps", "", "scales"], {"scales": np.float32([1, 1, 2, 2])}, operator="Resize", mode="linear")
    sheet.add("padded", ["x", "pads"], {"pads": np.array([0, 1, 0, 0])}, operator="Pad")
    sheet.add("relu", ["maps"], operator="Relu")
    sheet.add("one_hot", ["labels", "depth", "values"], {"depth": np.array([4]), "values": np.float32([0, 1])},
              operator="OneHot")
    sheet.add("summed_up", ["labels", "axis"], {"axis": np.array(0)}, operator="CumSum")
    sheet.add("ranked", ["x", "k"], {"k": np.array([2])}, 2, operator="TopK", axis=1)
    sheet.add("modulo", ["labels", "two"], {"two": np.array([2])}, operator="Mod")
    sheet.add("flat", ["maps"], operator="Flatten", axis=1)
    return sheet


def old(opset):
    """The nodes of detectors of opsets 10 to 12, as maskrcnn-benchmark's and its time's exporters write them."""
    inputs = {"x": numbers_of("old", (3, 4)), "maps": numbers_of("old_maps", (1, 4, 6, 7)),
              "pooled": numbers_of("pooled", (3, 4, 2, 2)), "labels": np.array([1, 0, 2]),
              # Boxes of two pictures in one tensor; -1 pads the second one's.
              "padded": np.float32([[0, 1, 2, 30, 20], [1, 5, 5, 25, 40], [0, 4, 0, 20, 20], [1, -1, -1, -1, -1]])}
    free = {("x", 0): "regions", ("pooled", 0): "regions", ("labels", 0): "regions", ("padded", 0): "boxes"}
    runs = {name: {key: inputs[key][:count] for key in ["x", "pooled", "labels", "padded"]}
            for name, count in [("one", 1), ("none", 0)]}
    sheet = Sheet(f"old_{opset}", "Scatter", opset, inputs, free, runs)
    sheet.add("probabilities", ["x"], operator="Softmax", axis=1)
    # Before opset 13, all axes from `axis` on are one.
    sheet.add("of_two_axes", ["maps"], operator="Softmax", axis=2)
    sheet.add("of_all", ["maps"], operator="Softmax")
    sheet.add("logarithms", ["maps"], operator="LogSoftmax", axis=2)
    sheet.add("columns", ["x"], outputs=2, operator="Split", axis=1, split=[1, 3])
    sheet.add("column", ["labels"], operator="Unsqueeze", axes=[1])
    sheet.add("row", ["x"], operator="Unsqueeze", axes=[0, 3])
    sheet.add("first", ["row"], operator="Squeeze", axes=[0])
    sheet.add("rows_scattered", ["table", "i", "x_rows"], {
        "table": np.zeros((5, 4), np.float32), "i": np.array([[4, 0, 1, 2], [0, 3, 2, 1]]),
        "x_rows": numbers_of("x_rows", (2, 4))}, operator="Scatter" if opset < 11 else "ScatterElements", axis=0)
    sheet.add("sums", ["pooled"], operator="ReduceSum", axes=[2, 3], keepdims=0)
    sheet.add("largest", ["x"], operator="ReduceMax", axes=[1], keepdims=1)
    sheet.add("ceiling", ["maps"], operator="MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    sheet.add("mean", ["maps"], operator="AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    sheet.add("mean_of_pixels", ["maps"], operator="AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    if opset < 11:
        sheet.add("pixels", ["maps", "scales"], {"scales": np.float32([1, 1, 2, 2])}, operator="Resize", mode="nearest")
        sheet.add("clipped", ["x"], operator="Clip", min=-0.5, max=1.25)
        sheet.add("padded_map", ["maps"], operator="Pad", pads=[0, 0, 1, 0, 0, 0, 0, 2], value=0.5)
    sheet.add("every_second", ["maps", "from", "to", "axis", "step"], {
        "from": np.array([6]), "to": np.array([-100]), "axis": np.array([-1]), "step": np.array([-2])},
        operator="Slice")
    # Pictures and boxes from one tensor of floats, and the rows that are none.
    constants = {"picture": np.array(0), "box": np.array([1, 2, 3, 4]), "none": np.float32([-1])}
    sheet.constants |= constants
    sheet.nodes += [node("Gather", ["padded", "picture"], ["numbers"], axis=1),
                    node("Cast", ["numbers"], ["pictures"], to=TensorProto.INT64),
                    node("Gather", ["padded", "box"], ["boxes"], axis=1),
                    node("Gather", ["two_maps", "pictures"], ["their_maps"], axis=0),
                    node("Concat", ["maps", "maps"], ["two_maps"], axis=0)]
    sheet.nodes.insert(-2, sheet.nodes.pop())
    sheet.add("aligned", ["two_maps", "boxes", "pictures"], operator="RoiAlign", output_height=2, output_width=2,
              spatial_scale=0.125, sampling_ratio=2)
    sheet.add("of_pictures", ["their_maps"], operator="GlobalAveragePool")
    sheet.nodes += [node("Gather", ["padded", "one"], ["left"], axis=1), node("Greater", ["left", "none"], ["is_box"]),
                    node("NonZero", ["is_box"], ["found"]), node("Transpose", ["found"], ["rows"], perm=[1, 0])]
    sheet.constants["one"] = np.array(1)
    sheet.add("row_numbers", ["rows"], operator="Squeeze", axes=[1])
    sheet.add("found_boxes", ["boxes", "row_numbers"], operator="Gather", axis=0)
    sheet.constants |= {"most": np.array([10]), "iou": np.float32([0.5]), "least": np.float32([-9])}
    sheet.nodes += [node("Unsqueeze", ["found_boxes"], ["of_one_picture"], axes=[0]),
                    node("Gather", ["numbers", "row_numbers"], ["scores"], axis=0),
                    node("Unsqueeze", ["scores"], ["of_one_class"], axes=[0, 1])]
    sheet.add("kept", ["of_one_picture", "of_one_class", "most", "iou", "least"], operator="NonMaxSuppression")
    sheet.add("best", ["x", "k"], {"k": np.array([2])}, 2, operator="TopK", axis=1)
    sheet.add("index", ["x"], operator="ArgMax", axis=1, keepdims=0)
    sheet.add("filled", ["shape"], {"shape": np.array([2, 3])}, operator="ConstantOfShape")
    sheet.add("equal", ["labels", "two"], {"two": np.array([2])}, operator="Equal")
    sheet.add("gemm", ["x", "w", "b"], {"w": numbers_of("w", (5, 4)), "b": numbers_of("b", (5,))}, operator="Gemm",
              transB=1, alpha=0.5, beta=2.0)
    return sheet


def refused():
    """Nodes that the import must refuse, each in a graph of its own."""
    x = {"x": numbers_of("refused", (1, 2, 5, 6))}
    pads = np.array([0, 0, -1, 2, 0, 0, 1, 0])
    grid = random_of("grid").uniform(-1, 1, (1, 3, 5, 2)).astype(np.float32)
    volume = {"x": numbers_of("volume", (1, 2, 3, 4, 5)), "grid": np.zeros((1, 2, 2, 3, 3), np.float32)}
    whole = {"x": np.arange(12).reshape(3, 4)}
    sizes = {"sizes": np.array([1, 2, 4, 3])}
    yield one("pad_negative", "Pad", 18, x, ["x", "pads"], {"pads": pads})
    yield one("pad_negative_attribute", "Pad", 2, x, ["x"], pads=[0, 0, 0, -1, 0, 0, 0, 0])
    yield one("pad_wrap", "Pad", 19, x, ["x", "pads"], {"pads": abs(pads)}, mode="wrap")
    yield one("pad_value", "Pad", 18, whole, ["x", "pads", "value"], {"pads": np.ones(4, np.int64), "value": 2**40 + 1})
    yield one("grid_sample_cubic", "GridSample", 16, {**x, "grid": grid}, ["x", "grid"], mode="bicubic")
    yield one("grid_sample_volume", "GridSample", 20, volume, ["x", "grid"])
    yield one("resize_antialias", "Resize", 18, x, ["x", "", "", "sizes"], sizes, mode="linear", antialias=1)


def one(name, operator, opset, given, inputs, constants=None, **attributes):
    sheet = Sheet(f"refused_{name}", operator, opset, given, note="the import refuses it")
    sheet.add("refused", inputs, constants, **attributes)
    return sheet


def scalar_f64():
    """A scalar of f64 that becomes a tensor. burn-onnx 0.22 takes none in `Reshape`, nor in `Unsqueeze` of two axes."""
    sheet = Sheet("scalar_f64", "Expand", 18, {"value": np.array(0.1)}, tolerance=TOLERANCES[np.dtype(np.float64)])
    sheet.add("expanded", ["value", "sizes"], {"sizes": np.array([2, 3])})
    return sheet


def graphs():
    yield from refused()
    yield counts()
    yield scalar_f64()
    yield old(10)
    yield old(12)
    yield pad_2()
    yield pad(13)
    yield pad(18)
    yield gather_nd(12)
    yield scatter(11)
    yield scatter(18)
    for opset, modes in [(16, ["bilinear", "nearest"]), (20, ["linear", "nearest"])]:
        for mode in modes:
            yield grid_sample(opset, mode)
    yield top_k()
