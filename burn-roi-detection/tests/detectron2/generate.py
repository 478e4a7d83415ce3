"""Writes checkpoints as detectron2's model zoo has them, small, for tests of the reader of pickles.

    python generate.py pickles

Needs numpy. Run it with numpy 1.26 and with numpy 2.4 and ml_dtypes: the two name their modules differently, and each
writes a file for each protocol. The test computes what the arrays must hold.
"""

import pathlib
import pickle
import sys

import numpy


def arrays():
    """Elements count from 0 in the order of the last index moving fastest, minus 5."""

    def counted(shape, dtype="float32"):
        return (numpy.arange(numpy.prod(shape, dtype=int)) - 5).reshape(shape).astype(dtype)

    model = {
        "backbone.bottom_up.stem.conv1.weight": counted((4, 3, 3, 2)),
        "half": counted((2, 3), "float16"),
        "double": counted((2, 3), "float64"),
        "long": counted((2, 3), "int64"),
        "int": counted((2, 3), "int32"),
        "no_dimensions": numpy.array(-5, "int64"),
        "scalar": numpy.float32(-5),
        "empty": counted((0, 3)),
        "fortran": numpy.asfortranarray(counted((2, 3))),
        "strided": numpy.repeat(counted((2, 3, 4)), 2, axis=2)[:, :, ::2],
        # Neither order: the last axis moves fastest, then the first.
        "permuted": numpy.ascontiguousarray(counted((2, 3, 4)).transpose(1, 0, 2)).transpose(1, 0, 2),
    }
    model["shared"] = model["half"]
    return model


def main():
    folder = pathlib.Path(sys.argv[1])
    major = numpy.__version__.split(".")[0]
    checkpoint = {"model": arrays(), "__author__": "Detectron2 Model Zoo", "matching_heuristics": False}
    for protocol in range(2, 6):
        path = folder / f"numpy_{major}_protocol_{protocol}.pkl"
        path.write_bytes(pickle.dumps(checkpoint, protocol))
    if major == "2":
        import ml_dtypes

        checkpoint = {"model": {"bfloat16": numpy.arange(-5, 1).reshape(2, 3).astype(ml_dtypes.bfloat16)}}
        (folder / "bfloat16.pkl").write_bytes(pickle.dumps(checkpoint, 4))


main()
