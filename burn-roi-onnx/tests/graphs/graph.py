"""A small ONNX graph with inputs, and what runs it."""

from dataclasses import dataclass, field, replace

import ml_dtypes
import numpy as np
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

BF16 = np.dtype(ml_dtypes.bfloat16)
# A result in bf16 that is rounded to the other neighbour differs by 1/128.
TOLERANCES = {np.dtype(np.float32): 2e-5, np.dtype(np.float16): 2e-3, BF16: 8e-3, np.dtype(np.float64): 1e-10}


@dataclass
class Graph:
    """A model of one region operator, and what stands before and after it.

    `inputs` has the recorded tensors by name; an axis that is named in `free` may have another length in each run.
    `runs` has further recordings by name: tensors that replace inputs. The runs tell the `shapes` of the outputs.
    """

    name: str
    operator: str
    nodes: list
    inputs: dict
    opset: int = 16
    domain: str = ""
    constants: dict = field(default_factory=dict)
    outputs: list = field(default_factory=lambda: ["pooled"])
    free: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)
    run: object = None
    note: str = ""
    tolerance: float = None
    shapes: dict = field(default_factory=dict)
    # ONNX's number of the outputs' element type, where it is not that of the first input.
    output_type: int = None

    def node_domain(self):
        return {node.domain for node in self.nodes} - {""}

    def model(self, opset=None):
        imports = [helper.make_opsetid("", opset or self.opset)]
        imports += [helper.make_opsetid(domain, 1) for domain in sorted(self.node_domain())]
        of_features = helper.np_dtype_to_tensor_dtype(next(iter(self.inputs.values())).dtype)
        graph = helper.make_graph(
            self.nodes, self.name, [self.value(name, tensor) for name, tensor in self.inputs.items()],
            [helper.make_tensor_value_info(name, self.output_type or of_features, self.shapes.get(name))
             for name in self.outputs],
            [numpy_helper.from_array(tensor, name) for name, tensor in self.constants.items()])
        return helper.make_model(graph, opset_imports=imports, ir_version=10 if self.opset >= 22 else 8)

    def value(self, name, tensor):
        shape = [self.free.get((name, axis), side) for axis, side in enumerate(tensor.shape)]
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype), shape)

    def recordings(self):
        """The inputs and outputs of each run by its name; that of the first run is empty."""
        for run, changes in {"": {}, **self.runs}.items():
            inputs = {**self.inputs, **changes}
            outputs, source = self.run(self, inputs)
            for name, output in outputs.items():
                assert np.isfinite(output).all(), (self.name, run, name)
                # The regions are the first axis of an output whose number of regions is free.
                self.shapes[name] = ["regions", *output.shape[1:]] if self.free else list(output.shape)
            yield run, inputs, outputs, source

    def of_tolerance(self):
        return TOLERANCES[next(iter(self.inputs.values())).dtype] if self.tolerance is None else self.tolerance


def with_constants(graph, *names):
    """The graph with some of its inputs as initializers, and one run."""
    graph.constants = {**graph.constants, **{name: graph.inputs.pop(name) for name in names}}
    graph.free, graph.runs = {}, {}
    return graph


# One for each operator whose output is not square: burn-onnx reads its height and width from its type.
FLIPPED = {"max_roi_pool_16", "mmcv_roi_align_max", "mmcv_roi_align_rotated_clockwise",
           "mmdeploy_multi_level_roi_align_adaptive_max", "mmdeploy_multi_level_rotated_roi_align_adaptive",
           "trt_crop_and_resize_dynamic", "trt_roi_align_max"}


def flipped(graph):
    """The graph with the rows and columns of its output from the last but one to the first."""
    graph.nodes[-1].output[0] = "straight"
    slices = {"last": [-2, -2], "first": [-100, -100], "axes": [-2, -1], "steps": [-1, -1]}
    graph.constants = {**graph.constants, **{name: np.array(values) for name, values in slices.items()}}
    graph.nodes.append(node("Slice", ["straight", *slices], ["pooled"]))
    return graph


def node(operator, inputs, outputs, domain="", **attributes):
    return helper.make_node(operator, inputs, outputs, domain=domain, **attributes)


def onnxruntime_of(opset=None):
    """Runs a graph with onnxruntime, as one of another opset where onnxruntime lacks the graph's own."""
    def run(graph, inputs):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        content = graph.model(opset).SerializeToString()
        onnxruntime.set_default_logger_severity(4)
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        outputs = dict(zip(graph.outputs, session.run(graph.outputs, inputs)))
        source = f"onnxruntime {onnxruntime.__version__} CPU"
        return outputs, source + (f", as opset {opset}, whose rule is the same" if opset else "")

    return run


def onnxruntime_in_f32(opset):
    """Runs a graph of bf16, for which onnxruntime has no kernels: in f32, with outputs that are rounded to bf16."""
    def wide(tensors):
        return {name: tensor.astype(np.float32) if tensor.dtype == BF16 else tensor for name, tensor in tensors.items()}

    def run(graph, inputs):
        outputs, source = onnxruntime_of(opset)(replace(graph, inputs=wide(graph.inputs)), wide(inputs))
        return {name: output.astype(BF16) for name, output in outputs.items()}, source + ", in f32, rounded to bf16"

    return run


def openvino_run(graph, inputs):
    import openvino

    core = openvino.Core()
    model = core.read_model(graph.model().SerializeToString())
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found = compiled(inputs)
    outputs = {name: found[name].copy() for name in graph.outputs}
    version = openvino.__version__.split("-")[0]
    return outputs, f"openvino {version} CPU, reading the ONNX file"


def by_rule(rule, source="the rule in README.md, float64"):
    """Runs a graph with ONNX's reference implementation, and its vendor operator by `rule(inputs, attributes)`."""
    def run(graph, inputs):
        operators = vendor_operators(graph, rule)
        evaluator = ReferenceEvaluator(graph.model(), new_ops=operators)
        return dict(zip(graph.outputs, evaluator.run(graph.outputs, inputs))), source

    return run


def vendor_operators(graph, rule):
    """The class that ONNX's reference implementation calls for the vendor operator of a graph."""
    from onnx.reference.op_run import OpRun

    def compute(self, *inputs, **_attributes):
        # What the node has, not what a schema would add.
        attributes = {entry.name: helper.get_attribute_value(entry) for entry in self.onnx_node.attribute}
        return tuple(output if output.dtype == np.int64 else np.asarray(output, inputs[0].dtype)
                     for output in rule(inputs, attributes))

    vendor = next(entry for entry in graph.nodes if entry.op_type == graph.operator)
    members = {"op_domain": vendor.domain, "_run": compute}
    return [type(graph.operator, (OpRun,), members)]
