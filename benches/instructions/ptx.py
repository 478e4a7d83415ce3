"""Runs units of a kernel in PTX, for as much of PTX as CubeCL 0.11 writes for this crate's kernels.

A register holds bits as a whole number; what they mean is in the instructions.
"""

import operator
import re
import struct
from collections import Counter

import numpy as np

np.seterr(all="ignore")
SHARED = 1 << 62  # where the memory that a block shares lies
WARP = 32  # so many units run together


class Kernel:
    """The instructions of a kernel, each with its guard, its name's parts and its operands."""

    def __init__(self, text):
        self.instructions, self.labels = [], {}
        for line in text[text.index("{\n") + 2 : text.rindex("}")].splitlines():
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
        (buffers,) = struct.unpack_from("<Q", data, 48)
        self.memory, self.parameters, place = [], [], 56
        for _ in range(buffers):
            start, all_of_it, size = struct.unpack_from("<3Q", data, place)
            self.memory.append((start, all_of_it, data[place + 24 : place + 24 + size]))
            self.parameters.append(data[place : place + 8])
            place += 24 + size
        self.parameters.append(data[place:])

    def load(self, address, size):
        """Of the global memory. Where it was not written down, it is 0."""
        for start, all_of_it, held in self.memory:
            if start <= address and address + size <= start + all_of_it:
                return held[address - start : address - start + size].ljust(size, b"\0")
        raise IndexError(f"a load from {address:#x}, which is in no buffer")


def single(bits):
    return np.uint32(bits & 0xFFFFFFFF).view(np.float32)


def bits_of(number):
    return int(np.float32(number).view(np.uint32))


def signed(bits, width):
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def fused(left, right, more):
    return np.float32(np.float64(left) * np.float64(right) + np.float64(more))


FLOATS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "neg": operator.neg, "abs": abs, "min": np.fmin, "max": np.fmax, "fma": fused,
    "rcp": lambda number: np.float32(1) / number,
}  # fmt: skip
WHOLES = {
    "add": operator.add, "sub": operator.sub, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "not": operator.invert, "neg": operator.neg, "min": min, "max": max,
    "shl": operator.lshift, "shr": operator.rshift, "mov": lambda number: number,
    "div": lambda left, right: int(left / right), "mul": operator.mul,
    "mad": lambda left, right, more: left * right + more,
    "bfe": lambda number, first, count: number >> first & (1 << count) - 1,
}  # fmt: skip
COMPARISONS = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge,
}  # fmt: skip
ROUNDINGS = {"rmi": np.floor, "rpi": np.ceil}


class Block:
    """Units of one block of a launch, which share memory: all of them, or some."""

    def __init__(self, kernel, launch, number, units=None):
        self.kernel, self.shared = kernel, bytearray(48 << 10)
        every = range(launch.units[0] * launch.units[1])
        self.units = [Unit(kernel, launch, number, unit, self.shared) for unit in units or every]

    def run(self):
        """Runs to the end, all units from barrier to barrier. Counts what the units ran in `ran`, what their warps had
        to issue at least in `issued`, and the stores in `stored`."""
        running = [unit.run() for unit in self.units]
        while running:
            running = [unit for unit in running if next(unit, None) is not None]
        self.ran = self.named(sum((unit.ran for unit in self.units), Counter()))
        # What one unit of a warp runs is issued for all of them.
        warps = [self.units[first : first + WARP] for first in range(0, len(self.units), WARP)]
        self.issued = self.named(sum((most(unit.ran for unit in warp) for warp in warps), Counter()))
        self.stored = sum(unit.stored for unit in self.units)
        return self

    def named(self, places):
        """How often instructions ran, by their names instead of their places."""
        names = Counter()
        for place, times in places.items():
            names[".".join(self.kernel.instructions[place][1])] += times
        return names


def most(counters):
    """Of each count the largest."""
    result = Counter()
    for counter in counters:
        result |= counter
    return result


class Unit:
    """A unit of a launch, number `unit` of block `block`."""

    def __init__(self, kernel, launch, block, unit, shared):
        self.kernel, self.launch, self.shared = kernel, launch, shared
        self.stored = 0
        self.ran = Counter()
        width, height, _ = launch.units
        self.registers = dict.fromkeys(["%ctaid.y", "%ctaid.z", "%tid.z"], 0)
        self.registers |= {"%ctaid.x": block, "%tid.x": unit % width, "%tid.y": unit // width}
        self.registers["cube_shared"] = SHARED
        for axis, blocks, units in zip("xyz", launch.blocks, launch.units):
            self.registers |= {f"%nctaid.{axis}": blocks, f"%ntid.{axis}": units}
        assert unit < width * height

    def run(self):
        """Runs to the end, and yields at each barrier."""
        place = 0
        while True:
            guard, name, operands = self.kernel.instructions[place]
            self.ran[place] += 1
            place += 1
            taken = guard is None or self.registers[guard.lstrip("!")] != guard.startswith("!")
            if taken and name[0] == "ret":
                return
            if taken and name[0] == "bar":
                yield place
            elif taken and name[0] == "bra":
                place = self.kernel.labels[operands[0]]
            elif taken:
                self.step(name, operands)

    def value(self, operand):
        if operand in self.registers or operand.startswith("%"):
            return self.registers[operand]
        return int(operand[2:], 16) if operand.startswith("0f") else int(operand, 0)

    def step(self, name, operands):
        kind = name[-1]
        target, *sources = operands
        if name[0] == "ld":
            self.load(name, target, sources[0])
        elif name[0] == "st":
            self.store(name, target, sources[0])
        elif name[0] == "setp":
            self.registers[target] = self.compare(name[1], kind, sources)
        elif name[0] == "selp":
            self.registers[target] = self.value(sources[0 if self.registers[sources[2]] else 1])
        elif kind == "pred":
            values = [bool(self.value(source)) for source in sources]
            choices = {"not": lambda: not values[0], "mov": lambda: values[0]}
            compute = choices.get(name[0], lambda: WHOLES[name[0]](*values))
            self.registers[target] = compute()
        elif name[0] == "cvt":
            self.registers[target] = convert(name[1:], self.value(sources[0]))
        elif kind == "f32":
            numbers = [single(self.value(source)) for source in sources]
            self.registers[target] = bits_of(FLOATS[name[0]](*numbers))
        else:
            self.registers[target] = self.compute(name, sources)

    def place(self, operand):
        base, offset = re.match(r"\[([^+\]]+)\+?(-?\d*)\]", operand).groups()
        return base, int(offset or 0)

    def load(self, name, target, source):
        base, offset = self.place(source)
        size = int(name[-1][1:]) // 8
        for number, register in enumerate(target.strip("{}").split(",")):
            start = offset + number * size
            if name[1] == "param":
                parameter = self.launch.parameters[int(base.rsplit("_", 1)[1])]
                data = parameter[start : start + size]
            elif name[1] == "shared":
                start += self.value(base) - SHARED
                data = self.shared[start : start + size]
            else:
                data = self.launch.load(self.value(base) + start, size)
            self.registers[register.strip()] = int.from_bytes(data, "little")

    def store(self, name, target, source):
        """What is stored in the global memory is counted, and never read again."""
        if name[1] != "shared":
            self.stored += 1
            return
        base, offset = self.place(target)
        start, size = self.value(base) - SHARED + offset, int(name[-1][1:]) // 8
        self.shared[start : start + size] = self.value(source).to_bytes(size, "little")

    def compare(self, comparison, kind, sources):
        values = [self.value(source) for source in sources]
        if kind == "f32":
            left, right = map(single, values)
            if np.isnan(left) or np.isnan(right):
                return comparison.endswith("u") or comparison == "nan"
            return bool(COMPARISONS[comparison[:2]](left, right))
        left, right = (whole(value, kind) for value in values)
        return COMPARISONS[comparison](left, right)

    def compute(self, name, sources):
        """On whole numbers."""
        kind, width = name[-1], int(name[-1][1:])
        values = [whole(self.value(source), kind) for source in sources]
        if "wide" in name:
            values[2:] = [self.value(source) for source in sources[2:]]
            width *= 2
        result = WHOLES[name[0]](*values)
        if "relu" in name:
            result = max(result, 0)
        if "hi" in name:
            result >>= width
        return result & ((1 << width) - 1)


def whole(bits, kind):
    width = int(kind[1:])
    return signed(bits, width) if kind[0] == "s" else bits & ((1 << width) - 1)


def convert(name, value):
    *rounding, target, source = name
    if target == "f32" and source == "f32":
        return bits_of(ROUNDINGS[rounding[0]](single(value)))
    if target == "f32":
        return bits_of(whole(value, source))
    width = int(target[1:])
    if source == "f32":
        least, most = (-(1 << 31), (1 << 31) - 1) if target == "s32" else (0, (1 << 32) - 1)
        value = int(min(max(float(single(value)), least), most))
    else:
        value = whole(value, source)
    return value & ((1 << width) - 1)
