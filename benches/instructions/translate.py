"""Translates a kernel from PTX to C, for as much of PTX as LLVM writes for this crate's kernels.

`warp.h` says how the C code runs: a block of instructions is a function, which runs them for each active unit of a
warp, and then tells which addresses the warp asked for together. A register holds bits; what they mean is in the
instructions.

    python benches/instructions/translate.py KERNEL.ptx KERNEL.so

With PTXAS, the path of NVIDIA's assembler, in the environment, KERNEL.so also says how many registers a unit takes.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from assemble import assemble

# If there is no assembler. It is what most kernels take.
REGISTERS = 128

# What the type of an instruction is in C. Registers of 16, 32 and 64 bits hold it.
TYPES = {"pred": "uint8_t", "f16": "_Float16", "bf16": "bf16", "f32": "float", "f64": "double"}
TYPES |= {f"{kind}{bits}": f"{'' if kind == 's' else 'u'}int{bits}_t" for kind in "bus" for bits in (8, 16, 32, 64)}
FLOATS = ("f16", "bf16", "f32", "f64")
SPACES = ("global", "shared", "local", "param", "const")
# What ends a block, and what units of a warp or of the whole device do together, which is not translated.
ENDS = ("bra", "ret", "exit", "bar", "barrier")
REFUSED = ("shfl", "vote", "match", "redux", "activemask", "mma", "wmma", "cp", "tex", "call", "brx")
# Machine instructions that an H200 runs for one of PTX, if not one: divisions are loops of them, and parameters are
# operands of others.
COSTS = {"div.rn.f32": 10, "rcp.rn.f32": 8, "ld.param": 0, "ret": 1}

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=",
               "hi": ">", "hs": ">="}  # fmt: skip
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
ROUNDINGS = {"rmi": "floor", "rpi": "ceil", "rni": "rint", "rzi": "trunc"}
OF_FLOATS = {"abs": "fabs", "min": "fmin", "max": "fmax", "fma": "fma", "mad": "fma", "sqrt": "sqrt", "ex2": "exp2",
             "lg2": "log2", "sin": "sin", "cos": "cos", "tanh": "tanh", "copysign": "copysign_of"}  # fmt: skip
OF_WHOLES = {"min": "MIN", "max": "MAX", "bfe": "bit_field"}


class Instruction:
    def __init__(self, guard, name, operands):
        self.guard, self.parts, self.operands = guard, name.split("."), operands
        self.kind = self.parts[0]
        # Of a conversion this is what it converts from.
        self.type = next((part for part in reversed(self.parts) if part in TYPES), None)
        self.space = next((part for part in self.parts if part.split("::")[0] in SPACES), "").split("::")[0]

    def cost(self):
        name = ".".join(self.parts)
        return next((cost for start, cost in COSTS.items() if name.startswith(start)), 1)

    def registers(self):
        """Those that are read, and those that are written. What may not be written is read, too."""
        found = [re.findall(r"%\w+(?![\w.])", operand) for operand in self.operands]
        written = [] if self.kind in ("st", "red", *ENDS) else sum(found[:1], [])
        read = sum(found if self.guard else found[bool(written) :], [self.guard.lstrip("!")] if self.guard else [])
        return read, written


class Kernel:
    def __init__(self, text):
        self.name = re.search(r"\.entry (\w+)", text).group(1)
        body = text[text.index("{\n") + 2 : text.rindex("}")]
        self.widths = {prefix: kind for kind, prefix in re.findall(r"\.reg \.(\w+)\s+(%\w+?)<", body)}
        self.shared, self.is_dynamic, self.places = 0, False, {}
        self.local = sum(int(size) for size in re.findall(r"\.local .*?(?:__local_depot\d+)\[(\d+)\]", body))
        for extern, align, name, size in re.findall(
            r"(\.extern )?.*?\.shared \.align (\d+) \.b8 (\w+)\[(\d*)\]", text
        ):
            self.shared = -(-self.shared // int(align)) * int(align)
            self.places[name] = self.shared
            self.shared += int(size or 0)
            self.is_dynamic |= not size
        self.blocks, self.labels = [[]], {}
        for line in body.splitlines():
            self.read(line.split("//")[0].strip().rstrip(";"))
        self.blocks.append([Instruction(None, "ret", [])])

    def read(self, line):
        if line.endswith(":"):
            if self.blocks[-1]:
                self.blocks.append([])
            self.labels[line[:-1]] = len(self.blocks) - 1
        elif line and not line.startswith("."):
            guard, name, operands = re.match(r"(?:@(!?%p\d+)\s+)?(\S+)\s*(.*)", line).groups()
            instruction = Instruction(guard, name, re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", operands))
            if instruction.kind in REFUSED:
                raise NotImplementedError(line)
            self.blocks[-1].append(instruction)
            if instruction.kind in ENDS:
                self.blocks.append([])

    def width(self, register):
        return self.widths[re.match(r"%[a-z]+", register).group()]

    def kept(self):
        """The registers whose values go from block to block."""
        first, kept = {}, set()
        for number, block in enumerate(self.blocks):
            for instruction in block:
                read, written = instruction.registers()
                kept |= {name for name in read if first.get(name) != number}
                kept |= {name for name in written if first.setdefault(name, number) != number}
        return {name for name in kept if not self.is_special(name)}

    def successors(self, number):
        """The blocks that may run after a block. The last block ends the kernel."""
        last = self.blocks[number][-1] if self.blocks[number] else None
        after = [self.labels[last.operands[0]]] if last and last.kind == "bra" else []
        if last and last.kind in ("ret", "exit"):
            after = [len(self.blocks) - 1] if number + 1 < len(self.blocks) else []
        falls_through = not last or last.guard or last.kind not in ("bra", "ret", "exit")
        return after + [number + 1] * bool(falls_through)

    def joins(self):
        """Of each block the first block that all units run after it, whichever way they take from there."""
        last = len(self.blocks) - 1
        after = [self.successors(number) for number in range(last)]
        behind = [set(range(last + 1)) for _ in range(last)] + [{last}]
        changed = True
        while changed:
            changed = False
            for number in reversed(range(last)):
                found = {number} | set.intersection(*(behind[other] for other in after[number]))
                changed |= found != behind[number]
                behind[number] = found
        nearest = (max(behind[number] - {number}, key=lambda other: len(behind[other])) for number in range(last))
        return [*nearest, last]

    def is_special(self, name):
        return re.match(r"%[a-z]+", name).group() not in self.widths

    def code(self, registers):
        kept = self.kept()
        lines = ['#include "warp.h"', "", "struct unit {"]
        lines += [f"    {TYPES[self.width(name)]} {name[1:]};" for name in sorted(kept)]
        lines += [f"    uint8_t depot[{self.local + 1}] __attribute__((aligned(16)));", "};", ""]
        for number, block in enumerate(self.blocks):
            lines += Block(self, kept, number, block).code()
        lines.append("static void (*const blocks[])(struct warp *, uint32_t) = {")
        lines += [f"    block_{number}," for number in range(len(self.blocks))]
        lines += ["};", "static const uint16_t costs[] = {"]
        lines += [f"    {sum(instruction.cost() for instruction in block)}," for block in self.blocks]
        lines += ["};", "static const uint16_t joins[] = {"]
        lines += [f"    {join}," for join in self.joins()]
        lines += ["};", "const struct code code = {"]
        last = len(self.blocks) - 1
        lines.append(f"    blocks, costs, joins, {last}, sizeof(struct unit), {self.shared}, {registers},")
        lines.append("};")
        return "\n".join(lines) + "\n"


class Block:
    """A function of C, of instructions without a branch."""

    def __init__(self, kernel, kept, number, instructions):
        self.kernel, self.kept, self.number, self.instructions = kernel, kept, number, instructions
        self.asked = []  # what goes to memory: space, kind, bytes

    def code(self):
        local = {name for instruction in self.instructions for name in sum(instruction.registers(), [])} - self.kept
        local = sorted(name for name in local if not self.kernel.is_special(name))
        body = [f"        {line}" for instruction in self.instructions for line in self.statement(instruction)]
        if not self.instructions or self.instructions[-1].kind not in ENDS or self.instructions[-1].guard:
            body.insert(0, f"        warp->next[lane] = {self.number + 1};")
        lines = [f"static void block_{self.number}(struct warp *warp, uint32_t active) {{"]
        lines += [f"    uint64_t asked_{number}[WARP];" for number in range(len(self.asked))]
        lines.append("    EACH_LANE(active) {")
        lines.append("        struct unit *const unit = (struct unit *)warp->units + lane;")
        lines += [f"        {TYPES[self.kernel.width(name)]} {name[1:]} = 0;" for name in local]
        lines += body + ["        (void)unit;", "    }"]
        for number, (space, kind, size) in enumerate(self.asked):
            lines.append(f"    ask(warp, {space.upper()}, {kind}, {size}, active, asked_{number});")
        return lines + ["}", ""]

    def statement(self, instruction):
        guard = instruction.guard
        lines = self.unguarded(instruction)
        if not guard:
            return lines
        condition = f"{'!' if guard.startswith('!') else ''}{self.register(guard.lstrip('!'))}"
        before = [f"asked_{len(self.asked) - 1}[lane] = 0;"] if any("asked_" in line for line in lines) else []
        return [*before, f"if ({condition}) {{", *(f"    {line}" for line in lines), "}"]

    def unguarded(self, it):
        if it.kind in ("ret", "exit"):
            return [f"warp->next[lane] = {len(self.kernel.blocks) - 1};"]
        if it.kind in ("bar", "barrier"):
            return [f"warp->next[lane] = BARRIER_BEFORE + {self.number + 1};"]
        if it.kind == "bra":
            return [f"warp->next[lane] = {self.kernel.labels[it.operands[0]]};"]
        if it.kind in ("ld", "ldu", "st", "atom", "red"):
            return self.memory(it)
        if it.kind in ("membar", "fence", "prefetch", "nanosleep"):
            return []
        target, *sources = it.operands
        if "{" in target or any("{" in source for source in sources):
            return self.packed(it, target, sources[0])
        return [self.assigned(target, *self.value(it, sources))]

    def register(self, name):
        return f"unit->{name[1:]}" if name in self.kept else name[1:]

    def assigned(self, target, kind, value):
        width = TYPES[self.kernel.width(target)]
        value = f"bits_of_{kind}({value})" if kind in FLOATS else f"({TYPES[kind]})({value})"
        return f"{self.register(target)} = ({width}){value};"

    def read(self, operand, kind):
        """An operand, as a value of a type."""
        if operand.startswith("0f") or operand.startswith("0d"):
            text = f"0x{operand[2:]}u" if operand.startswith("0f") else f"0x{operand[2:]}ull"
        elif operand.startswith("%") and not self.kernel.is_special(operand.split(".")[0]):
            text = self.register(operand)
        elif operand.startswith("%"):
            text = f"{operand[1:].replace('.', '_')}(warp, lane)"
        elif operand in self.kernel.places:
            text = f"((uint64_t)warp->shared + {self.kernel.places[operand]})"
        elif operand.startswith("__local_depot"):
            text = "(uint64_t)unit->depot"
        elif "_param_" in operand:
            text = f"(uint64_t)warp->parameters[{operand.rsplit('_', 1)[1]}]"
        else:
            text = f"{operand}ull" if re.fullmatch(r"-?(0x)?[0-9a-fA-F]+", operand) else operand
        return f"as_{kind}({text})" if kind in FLOATS else f"(({TYPES[kind]})({text}))"

    def address(self, operand):
        base, offset = re.fullmatch(r"\[([^+\]]+?)(?:\+(-?\w+))?\]", operand).groups()
        return f"{self.read(base, 'u64')} + ({offset or 0})"

    def memory(self, it):
        kind = it.type
        size = int(re.search(r"\d+$", kind).group()) // 8
        address = it.operands[0 if it.kind in ("st", "red") else 1]
        inner = TYPES[kind].replace("float", "uint32_t").replace("double", "uint64_t")
        if kind in ("f16", "bf16"):
            inner = "uint16_t"
        lines = [f"{{ const uint64_t address = {self.address(address)};"]
        values = it.operands[1 if it.kind in ("st", "red") else 0].strip("{}").split(",")
        if it.kind in ("atom", "red"):
            operation = next(part for part in it.parts[1:] if part in ("add", "min", "max", "and", "or", "xor", "exch"))
            source = self.read(it.operands[-1], kind)
            old = f"as_{kind}(*({inner} *)address)" if kind in FLOATS else f"*({TYPES[kind]} *)address"
            new = {"min": f"MIN(old, {source})", "max": f"MAX(old, {source})", "exch": source}.get(operation)
            new = new or f"old {INFIX[operation]} {source}"
            lines.append(f"const {TYPES[kind]} old = {old}, new = {new};")
            new = f"bits_of_{kind}(new)" if kind in FLOATS else "new"
            lines.append(f"*({inner} *)address = {new};")
            if it.kind == "atom":
                lines.append(self.assigned(it.operands[0], kind, "old"))
        for number, value in enumerate(value.strip() for value in values if it.kind in ("ld", "ldu", "st")):
            place = f"(({inner} *)address)[{number}]"
            if it.kind == "st":
                lines.append(f"{place} = ({inner}){self.read(value, 'b64')};")
            elif value != "_":
                width = TYPES[self.kernel.width(value)]
                lines.append(f"{self.register(value)} = ({width}){place};")
        if it.space not in ("param", "const", "local"):
            lines.append(f"asked_{len(self.asked)}[lane] = address;")
            what = {"ld": "LOAD", "ldu": "LOAD", "st": "STORE"}.get(it.kind, "ATOMIC")
            self.asked.append((it.space or "generic", what, size * len(values) if what != "ATOMIC" else size))
        return [*lines, "}"]

    def packed(self, it, target, source):
        """A register of two halves, or the halves of a register."""
        kind, half = it.type, f"u{int(it.type[1:]) // 2}"
        if "{" in source:
            low, high = (self.read(part.strip(), half) for part in source.strip("{}").split(","))
            return [self.assigned(target, kind, f"(({TYPES[kind]}){high} << {half[1:]}) | {low}")]
        parts = [part.strip() for part in target.strip("{}").split(",")]
        shifts = (f"{self.read(source, kind)} >> {number * int(half[1:])}" for number in range(2))
        return [self.assigned(part, half, shift) for part, shift in zip(parts, shifts) if part != "_"]

    def value(self, it, sources):
        """The type of a result, and its value."""
        kind, name = it.type, it.kind
        if name == "setp":
            return "pred", self.comparison(it, sources)
        if name == "selp":
            left, right, choice = sources
            return "b64", f"{self.read(choice, 'pred')} ? {self.bits(left)} : {self.bits(right)}"
        if name == "cvt":
            return self.conversion(it, sources[0])
        if name in ("mov", "cvta"):
            return ("pred", self.read(sources[0], "pred")) if kind == "pred" else ("b64", self.bits(sources[0]))
        if kind in FLOATS:
            return kind, self.of_floats(it, [self.read(source, kind) for source in sources])
        return self.of_wholes(it, sources)

    def bits(self, operand):
        return self.read(operand, "b64")

    def comparison(self, it, sources):
        kind = it.type
        left, right = (self.read(source, kind) for source in sources[:2])
        comparison = it.parts[1]
        if comparison in ("num", "nan"):
            return f"{'!' if comparison == 'num' else ''}(isnan({left}) || isnan({right}))"
        unordered = kind in FLOATS and comparison[-1] == "u" and len(comparison) == 3
        result = f"{left} {COMPARISONS[comparison[:2]]} {right}"
        if unordered:
            result = f"isnan({left}) || isnan({right}) || {result}"
        elif kind in FLOATS and comparison == "ne":
            result = f"!isnan({left}) && !isnan({right}) && {result}"
        if len(sources) > 2:
            result = f"({result}) {INFIX[it.parts[2]]} {self.read(sources[2], 'pred')}"
        return result

    def conversion(self, it, source):
        target, origin = [part for part in it.parts if part in TYPES]
        value = self.read(source, origin)
        rounding = next((ROUNDINGS[part] for part in it.parts if part in ROUNDINGS), None)
        if origin in FLOATS and rounding:
            value = f"{rounding}({value})"
        if target in FLOATS:
            return target, f"clamped({value}, 0, 1)" if "sat" in it.parts else value
        if origin in FLOATS:
            bits = int(target[1:])
            least = f"-0x1p{bits - 1}" if target[0] == "s" else "0"
            most = f"0x1p{bits - 1 if target[0] == 's' else bits}"
            last = f"{TYPES[target].upper()[:-2]}_MAX"
            return target, f"TO_WHOLE({TYPES[target]}, {value}, {least}, {most}, {last})"
        if "sat" in it.parts:
            raise NotImplementedError(".".join(it.parts))
        return target, value

    def of_floats(self, it, values):
        if it.kind == "neg":
            return f"-{values[0]}"
        if it.kind in ("rcp", "rsqrt"):
            return f"1 / {values[0] if it.kind == 'rcp' else f'sqrt({values[0]})'}"
        if "NaN" in it.parts:
            result = f"isnan({values[0]} + {values[1]}) ? NAN : {OF_FLOATS[it.kind]}({', '.join(values)})"
        elif it.kind in INFIX:
            result = f" {INFIX[it.kind]} ".join(values)
        else:
            result = f"{OF_FLOATS[it.kind]}({', '.join(values)})"
        return f"clamped({result}, 0, 1)" if "sat" in it.parts else result

    def of_wholes(self, it, sources):
        kind, name = it.type, it.kind
        values = [self.read(source, kind) for source in sources]
        bits = int(kind[1:]) if kind != "pred" else 1
        wide = f"{kind[0]}{2 * bits}"
        if "wide" in it.parts:
            product = f"({TYPES[wide]}){values[0]} * {values[1]}"
            return wide, f"{product} + {self.read(sources[2], wide)}" if name == "mad" else product
        if "hi" in it.parts:
            double = ("__int128" if kind[0] == "s" else "unsigned __int128") if bits == 64 else TYPES[wide]
            result = f"(({double}){values[0]} * {values[1]}) >> {bits}"
            return kind, f"({result}) + {values[2]}" if name == "mad" else result
        if name == "mad":
            return kind, f"{values[0]} * {values[1]} + {values[2]}"
        if name in ("shl", "shr"):
            amount = self.read(sources[1], "u32")
            beyond = f"({values[0]} < 0 ? -1 : 0)" if name == "shr" and kind[0] == "s" else "0"
            return kind, f"{amount} >= {bits} ? {beyond} : {values[0]} {'<<' if name == 'shl' else '>>'} {amount}"
        if name in ("div", "rem"):
            return kind, f"{values[1]} ? {values[0]} {INFIX[name]} {values[1]} : 0"
        if name == "not":
            return kind, f"!{values[0]}" if kind == "pred" else f"~{values[0]}"
        if name == "shf":
            amount = f"({self.read(sources[2], 'u32')} & 31)"
            both = f"((uint64_t){values[1]} << 32 | {values[0]})"
            return kind, f"{both} << {amount} >> 32" if "l" in it.parts else f"{both} >> {amount}"
        if name in ("neg", "abs"):
            return kind, f"-{values[0]}" if name == "neg" else f"{values[0]} < 0 ? -{values[0]} : {values[0]}"
        if name in ("popc", "clz", "brev"):
            return "u32", f"{name}_{bits}({values[0]})"
        if name == "bfe":
            return kind, f"bit_field({values[0]}, {self.read(sources[1], 'u32')}, {self.read(sources[2], 'u32')})"
        if name == "prmt":
            return kind, f"permuted({', '.join(values)})"
        if name in OF_WHOLES:
            result = f"{OF_WHOLES[name]}({', '.join(values)})"
            return kind, f"MAX({result}, 0)" if "relu" in it.parts else result
        if name in INFIX:
            return kind, f" {INFIX[name]} ".join(values)
        raise NotImplementedError(".".join(it.parts))


def main():
    source, target = map(Path, sys.argv[1:])
    ptxas = os.environ.get("PTXAS")
    registers = (assemble(ptxas, source)[1] if ptxas else None) or REGISTERS
    code = target.with_suffix(".c")
    code.write_text(Kernel(source.read_text()).code(registers))
    include = Path(__file__).parent
    exact = ["-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing"]
    command = ["cc", "-O1", "-march=native", *exact, "-shared", "-fPIC", "-w", f"-I{include}", code]
    subprocess.run([*command, "-o", target, "-lm"], check=True)


if __name__ == "__main__":
    main()
