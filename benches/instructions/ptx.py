"""Runs kernels in PTX, for as much of PTX as CubeCL 0.11 writes for this crate's kernels: many units at once, each
instruction as one operation of numpy. Units of a warp that part at a branch meet again where the paths join, since
those whose next instruction comes first in the text go first.
"""

import re
import struct
from collections import Counter

import numpy as np

np.seterr(all="ignore")
WARP = 32
ENDED = 1 << 30
KINDS = {"f32": np.float32, "f64": np.float64, "pred": np.bool_}
for bits in (8, 16, 32, 64):
    KINDS[f"s{bits}"] = np.dtype(f"int{bits}").type
    KINDS[f"u{bits}"] = KINDS[f"b{bits}"] = np.dtype(f"uint{bits}").type


class Kernel:
    """The instructions of a kernel, each with its guard, its name's parts and its operands."""

    def __init__(self, text):
        self.instructions, self.labels, self.shared, size = [], {}, {}, 0
        for name, length in re.findall(r"\.shared .*\.b8 (\S+)\[(\d*)\]", text):
            self.shared[name] = size
            size += (int(length or 0) + 15) // 16 * 16
        self.shared_size = size
        entry = text.index(".entry")
        for line in text[text.index("\n{\n", entry) + 3 : text.rindex("}")].splitlines():
            line = line.split("//")[0].strip().rstrip(";")
            if line.endswith(":"):
                self.labels[line[:-1]] = len(self.instructions)
            elif line and not line.startswith("."):
                guard, name, operands = re.match(r"(?:@(!?%p\d+)\s+)?(\S+)\s*(.*)", line).groups()
                operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", operands)
                self.instructions.append((guard, name.split("."), operands))


class Launch:
    """What a kernel was given: `driver.c` writes it."""

    def __init__(self, data):
        self.blocks, self.units = struct.unpack_from("<3Q", data), struct.unpack_from("<3Q", data, 24)
        (self.shared,), place = struct.unpack_from("<Q", data, 48), 56
        self.memory, self.parameters = [], []
        while place < len(data):
            start, size = struct.unpack_from("<2Q", data, place)
            held = np.frombuffer(data, np.uint8, size, place + 16)
            if start:
                self.memory.append((start, held))
                held = np.frombuffer(struct.pack("<Q", start), np.uint8)
            self.parameters.append(held)
            place += 16 + size

    def units_of_a_block(self):
        width, height, depth = self.units
        return width * height * depth


class Units:
    """Some units of a launch, by the numbers of their blocks and within these: whole warps, and whole blocks where
    the kernel waits for others."""

    def __init__(self, kernel, launch, blocks, numbers):
        self.kernel, self.launch, self.count = kernel, launch, len(blocks)
        self.ran, self.issued, self.stores = Counter(), 0, []
        _, self.block = np.unique(blocks, return_inverse=True)
        width, height, _ = launch.units
        across, down, _ = launch.blocks
        self.registers = {}
        places = {
            "%ctaid": (blocks % across, blocks // across % down, blocks // across // down),
            "%tid": (numbers % width, numbers // width % height, numbers // width // height),
            "%nctaid": launch.blocks,
            "%ntid": launch.units,
        }
        for name, values in places.items():
            for axis, value in zip("xyz", values):
                self.registers[f"{name}.{axis}"] = np.full(self.count, value, np.uint32)
        shared = max(kernel.shared_size, launch.shared, 8)
        self.shared = np.zeros((self.block.max() + 1, shared), np.uint8)

    def run(self):
        """Runs to the end, and counts in `ran` what units ran, and in `issued` what warps did."""
        place = np.zeros(self.count, np.int64)
        waiting = np.zeros(self.count, bool)
        while True:
            next_place = np.where(waiting, ENDED, place).min()
            if next_place == ENDED:
                if not waiting.any():
                    return self
                waiting[:] = False
                continue
            active = (place == next_place) & ~waiting
            guard, name, operands = self.kernel.instructions[next_place]
            self.ran[".".join(name)] += int(active.sum())
            self.issued += int(active.reshape(-1, WARP).any(axis=1).sum())
            place[active] += 1
            if guard:
                active &= self.registers[guard.lstrip("!")] != guard.startswith("!")
            if name[0] in ("ret", "exit"):
                place[active] = ENDED
            elif name[0] == "bra":
                place[active] = self.kernel.labels[operands[0]]
            elif name[0] in ("bar", "barrier"):
                waiting |= active
            elif active.any():
                self.step(name, operands, active)

    def value(self, operand, kind):
        """The operand of all units, as numbers of a kind."""
        if operand.startswith("%"):
            return as_kind(self.registers[operand], kind)
        if operand in self.kernel.shared:
            return np.full(self.count, self.kernel.shared[operand], KINDS[kind])
        if operand.startswith("0f"):
            return np.full(self.count, int(operand[2:], 16), np.uint32).view(np.float32)
        number = int(operand, 0)
        if kind == "pred":
            return np.full(self.count, bool(number))
        return as_kind(np.full(self.count, number & (1 << 64) - 1, np.uint64), kind)

    def assign(self, target, result, active):
        if result.dtype != bool:
            result = result.view(f"uint{8 * result.itemsize}")
        old = self.registers.get(target)
        if old is None or old.dtype != result.dtype:
            old = self.registers[target] = np.zeros(self.count, result.dtype)
        np.copyto(old, result, where=active)

    def step(self, name, operands, active):
        if name[0] == "st":
            return self.store(name, operands[0], operands[1], active)
        target, *sources = operands
        if name[0] == "ld":
            return self.load(name, target, sources[0], active)
        if name[0] == "setp":
            result = self.compare(name, sources)
        elif name[0] == "selp":
            left, right = (self.value(source, name[-1]) for source in sources[:2])
            result = np.where(self.registers[sources[2]], left, right)
        elif name[0] == "cvt":
            result = convert(name[1:], self.value(sources[0], name[-1]))
        else:
            result = self.compute(name, sources)
        return self.assign(target, result, active)

    def address(self, operand):
        base, offset = re.match(r"\[([^+\]]+)\+?(-?\d*)\]", operand).groups()
        return base, int(offset or 0)

    def load(self, name, target, source, active):
        base, offset = self.address(source)
        kind = KINDS[name[-1]]
        size = np.dtype(kind).itemsize
        for number, register in enumerate(target.strip("{}").split(",")):
            start = offset + number * size
            if name[1] == "param" and not base.startswith("%"):
                held = self.launch.parameters[int(base.rsplit("_", 1)[1])]
                result = np.full(self.count, held[start : start + size].view(kind)[0], kind)
            elif name[1] == "shared":
                result = np.zeros(self.count, kind)
                places = (self.value(base, "s64")[active] + start) // size
                result[active] = self.shared.view(kind)[self.block[active], places]
            else:
                result = self.load_global(self.value(base, "u64") + np.uint64(start), kind, active)
            if size < 4:
                result = result.astype(np.int32 if name[-1][0] == "s" else np.uint16 if size == 2 else np.uint32)
            self.assign(register.strip(), result, active)

    def load_global(self, addresses, kind, active):
        result, rest, size = np.zeros(self.count, kind), active.copy(), np.dtype(kind).itemsize
        for start, held in self.launch.memory:
            here = rest & (addresses >= start) & (addresses + np.uint64(size) <= start + len(held))
            if here.any():
                whole = held[: len(held) // size * size].view(kind)
                result[here] = whole[(addresses[here] - np.uint64(start)) // np.uint64(size)]
                rest &= ~here
        if rest.any():
            raise IndexError(f"a load from {addresses[rest][0]:#x}, which is in no buffer")
        return result

    def store(self, name, target, source, active):
        base, offset = self.address(target)
        kind = KINDS[name[-1]]
        size = np.dtype(kind).itemsize
        for number, register in enumerate(source.strip("{}").split(",")):
            start, value = offset + number * size, self.value(register.strip(), name[-1])[active]
            if name[1] == "shared":
                places = (self.value(base, "s64")[active] + start) // size
                self.shared.view(kind)[self.block[active], places] = value
            else:
                addresses = self.value(base, "u64")[active] + np.uint64(start)
                self.stores.append((addresses, value.view(f"uint{8 * size}")))

    def compare(self, name, sources):
        left, right = (self.value(source, name[-1]) for source in sources[:2])
        comparison = name[1]
        if name[-1][0] == "f":
            unordered = np.isnan(left) | np.isnan(right)
            if comparison in ("nan", "num"):
                return unordered if comparison == "nan" else ~unordered
            ordered = {"ne": ~unordered & (left != right)}.get(comparison[:2])
            ordered = COMPARISONS[comparison[:2]](left, right) if ordered is None else ordered
            result = ordered | unordered if comparison.endswith("u") else ordered
        else:
            result = COMPARISONS[comparison](left, right)
        if len(name) == 4:
            other = self.registers[sources[2]]
            result = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[name[2]](result, other)
        return result

    def compute(self, name, sources):
        operation, kind = name[0], name[-1]
        values = [self.value(source, kind) for source in sources]
        if kind[0] == "f" or kind == "pred":
            return FLOATS[operation](*values) if kind[0] == "f" else LOGIC[operation](*values)
        width = 8 * values[0].itemsize
        if operation in ("shl", "shr"):
            amount = self.value(sources[1], "u32")
            shifted = (np.left_shift if operation == "shl" else np.right_shift)(
                values[0], np.minimum(amount, width - 1).astype(values[0].dtype))
            return np.where(amount < width, shifted, shifted if kind[0] == "s" and operation == "shr" else 0)
        if operation in ("mul", "mad") and ("wide" in name or "hi" in name):
            wide = KINDS[f"{'s' if kind[0] == 's' else 'u'}{2 * width if width < 64 else 64}"]
            if width == 64:
                products = [int(left) * int(right) >> 64 for left, right in zip(*values[:2])]
                return np.array(products, values[0].dtype)
            result = values[0].astype(wide) * values[1].astype(wide)
            if "hi" in name:
                result = (result >> wide(width)).astype(values[0].dtype)
            if operation == "mad":
                result = result + self.value(sources[2], f"{kind[0]}{8 * result.itemsize}")
            return result
        return WHOLES[operation](*values)


def as_kind(values, kind):
    """The same bits as another kind, fewer of them where the kind is narrower."""
    kind = KINDS[kind]
    if kind is np.bool_:
        return values if values.dtype == bool else values != 0
    size = np.dtype(kind).itemsize
    if values.itemsize != size:
        values = values.view(f"uint{8 * values.itemsize}").astype(f"uint{8 * size}")
    return values.view(kind)


def convert(name, values):
    *rounding, target, source = name
    kind = KINDS[target]
    if source[0] == "f" and target[0] == "f":
        return {"rmi": np.floor, "rpi": np.ceil, "rzi": np.trunc, "rni": np.rint}[rounding[0]](values)
    if source[0] == "f":
        limits = np.iinfo(kind)
        values = {"rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil, "rni": np.rint}[rounding[0]](values)
        return np.clip(np.nan_to_num(values.astype(np.float64)), limits.min, limits.max).astype(kind)
    return values.astype(kind)


def quotient(left, right):
    """Of whole numbers, towards zero; that by zero is not defined."""
    divisor = np.where(right == 0, right.dtype.type(1), right)
    result = np.abs(left) // np.abs(divisor)
    return np.where((left < 0) != (divisor < 0), -result, result).astype(left.dtype)


def reversed_bits(values):
    return np.array([int(f"{int(value):032b}"[::-1], 2) for value in values], np.uint32)


COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
FLOATS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "abs": np.abs,
    "min": np.fmin, "max": np.fmax, "sqrt": np.sqrt, "mov": np.copy,
    "fma": lambda left, right, more: (left.astype(float) * right + more).astype(left.dtype),
    "rcp": lambda number: np.float32(1) / number,
    "copysign": lambda sign, number: np.copysign(number, sign),
}  # fmt: skip
WHOLES = {
    "add": np.add, "sub": np.subtract, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "not": np.bitwise_not, "neg": np.negative, "min": np.minimum, "max": np.maximum, "mov": np.copy,
    "div": quotient, "mul": np.multiply, "abs": np.abs, "brev": reversed_bits,
    "rem": lambda left, right: (left - quotient(left, right) * right).astype(left.dtype),
    "mad": lambda left, right, more: left * right + more,
    "popc": lambda number: np.bitwise_count(number).astype(np.uint32),
}  # fmt: skip
LOGIC = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not, "mov": np.copy}
