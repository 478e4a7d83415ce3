//! The stack machine that a pickle is a program for.

use std::collections::HashMap;

use super::call::{build, call};
use super::error::{PickleError, PickleReason};
use super::global::{Global, Names};
use super::heap::{Heap, Object};
use super::literal::literal;
use super::reader::Reader;
use super::torch::storage;
use super::value::Value;

/// The most opcodes of a pickle, enough for 13,000 tensors of 40 opcodes. detectron2's largest model has 1,500.
const MAX_OPCODES: usize = 1 << 19;

const STOP: u8 = b'.';

struct Machine<'a> {
    reader: Reader<'a>,
    stack: Vec<Value<'a>>,
    /// The heights of the stack at which an opcode MARK was.
    marks: Vec<usize>,
    memo: HashMap<u32, Value<'a>>,
    heap: Heap<'a>,
    names: Names,
}

/// What a pickle returns, its objects, and the bytes that it takes. Others may follow.
pub(in crate::weights) fn read(bytes: &[u8], names: Names) -> Result<(Value<'_>, Heap<'_>, usize), PickleError> {
    let mut machine = Machine {
        reader: Reader::new(bytes),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        heap: Heap::new(bytes.len()),
        names,
    };
    machine
        .read_header()
        .map_err(|reason| PickleError { offset: 0, reason })?;
    for _ in 0..MAX_OPCODES {
        let offset = machine.reader.position();
        match machine.step() {
            Ok(None) => {}
            Ok(Some(value)) => return Ok((value, machine.heap, machine.reader.position())),
            Err(reason) => return Err(PickleError { offset, reason }),
        }
    }
    Err(PickleError {
        offset: machine.reader.position(),
        reason: PickleReason::TooLong { limit: MAX_OPCODES },
    })
}

impl<'a> Machine<'a> {
    fn read_header(&mut self) -> Result<(), PickleReason> {
        let start = self.reader.take(self.reader.remaining().min(2) as u64)?;
        match start {
            [0x80, 2..=5] => Ok(()),
            _ => Err(PickleReason::Header { start: start.to_vec() }),
        }
    }

    /// Runs an opcode. Returns the value of the pickle at its end.
    fn step(&mut self) -> Result<Option<Value<'a>>, PickleReason> {
        let [opcode] = self.reader.array()?;
        if opcode == STOP {
            return self.pop().map(Some);
        }
        match literal(opcode, &mut self.reader)? {
            Some(value) => self.stack.push(value),
            None => self.run(opcode)?,
        }
        Ok(None)
    }

    fn run(&mut self, opcode: u8) -> Result<(), PickleReason> {
        match opcode {
            // FRAME: how many of the next bytes to read at once.
            0x95 => self.skip_frame(),
            // MARK
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3, TUPLE
            b')' => self.push_tuple(0),
            0x85 => self.push_tuple(1),
            0x86 => self.push_tuple(2),
            0x87 => self.push_tuple(3),
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Object::Tuple(items))
            }
            // EMPTY_LIST, APPEND, APPENDS
            b']' => self.push(Object::List(Vec::new())),
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])
            }
            b'e' => {
                let items = self.pop_to_mark()?;
                self.append(items)
            }
            // EMPTY_DICT, SETITEM, SETITEMS
            b'}' => self.push(Object::Dict(Vec::new())),
            b's' => {
                let [key, item] = self.pop_some()?;
                self.set_items(&[key, item])
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set_items(&items)
            }
            // GLOBAL, STACK_GLOBAL, REDUCE, BUILD
            b'c' | 0x93 => self.push_global(opcode),
            b'R' => {
                let [callable, arguments] = self.pop_some()?;
                let value = call(callable, arguments, &mut self.heap)?;
                self.stack.push(value);
                Ok(())
            }
            b'b' => {
                let state = self.pop()?;
                build(self.top()?, state, &mut self.heap)
            }
            // EMPTY_SET, ADDITEMS, NEWOBJ, BINPERSID
            0x8f if self.names == Names::Torch => self.push(Object::Other),
            0x90 if self.names == Names::Torch => {
                let items = self.pop_to_mark()?;
                self.append(items)
            }
            0x81 if self.names == Names::Torch => {
                let [_class, _arguments] = self.pop_some()?;
                self.push(Object::Other)
            }
            b'Q' if self.names == Names::Torch => {
                let identifier = self.pop()?;
                let value = storage(identifier, &mut self.heap)?;
                self.stack.push(value);
                Ok(())
            }
            _ => self.run_memo(opcode),
        }
    }

    fn run_memo(&mut self, opcode: u8) -> Result<(), PickleReason> {
        match opcode {
            // BINPUT, LONG_BINPUT, MEMOIZE
            b'q' => self.store_index_of_width(1),
            b'r' => self.store_index_of_width(4),
            0x94 => self.store(self.memo.len() as u32),
            // BINGET, LONG_BINGET
            b'h' => self.load_index_of_width(1),
            b'j' => self.load_index_of_width(4),
            _ => Err(PickleReason::Opcode { opcode }),
        }
    }

    fn skip_frame(&mut self) -> Result<(), PickleReason> {
        let expected = self.reader.uint(8)?;
        match expected > self.reader.remaining() as u64 {
            true => Err(PickleReason::Truncated { expected }),
            false => Ok(()),
        }
    }

    /// The stack above the last mark, or all of it.
    fn above_mark(&self) -> usize {
        self.stack.len() - self.marks.last().copied().unwrap_or_default()
    }

    fn top(&self) -> Result<Value<'a>, PickleReason> {
        match (self.above_mark(), self.stack.last()) {
            (1.., Some(&value)) => Ok(value),
            _ => Err(PickleReason::StackUnderflow),
        }
    }

    fn pop(&mut self) -> Result<Value<'a>, PickleReason> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    /// The last values, in the order in which they were pushed.
    fn pop_some<const N: usize>(&mut self) -> Result<[Value<'a>; N], PickleReason> {
        let mut values = [Value::None; N];
        for value in values.iter_mut().rev() {
            *value = self.pop()?;
        }
        Ok(values)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Value<'a>>, PickleReason> {
        let height = self.marks.pop().ok_or(PickleReason::StackUnderflow)?;
        Ok(self.stack.split_off(height))
    }

    fn push(&mut self, object: Object<'a>) -> Result<(), PickleReason> {
        let value = self.heap.add(object);
        self.stack.push(value);
        Ok(())
    }

    fn push_tuple(&mut self, length: usize) -> Result<(), PickleReason> {
        if self.above_mark() < length {
            return Err(PickleReason::StackUnderflow);
        }
        let items = self.stack.split_off(self.stack.len() - length);
        self.push(Object::Tuple(items))
    }

    fn append(&mut self, items: Vec<Value<'a>>) -> Result<(), PickleReason> {
        let list = self.top()?;
        match self.heap.object_mut(list) {
            Some(Object::List(list)) => {
                list.extend(items);
                Ok(())
            }
            Some(Object::Other) => Ok(()),
            _ => Err(list.not("list", "a list")),
        }
    }

    fn set_items(&mut self, items: &[Value<'a>]) -> Result<(), PickleReason> {
        let (pairs, []) = items.as_chunks() else {
            return Err(PickleReason::StackUnderflow);
        };
        let dict = self.top()?;
        match self.heap.object_mut(dict) {
            Some(Object::Dict(entries)) => {
                entries.extend(pairs.iter().map(|&[key, item]| (key, item)));
                Ok(())
            }
            Some(Object::Other) => Ok(()),
            _ => Err(dict.not("dict", "a dict")),
        }
    }

    fn push_global(&mut self, opcode: u8) -> Result<(), PickleReason> {
        let [module, name] = match opcode {
            b'c' => [self.reader.line()?, self.reader.line()?],
            _ => {
                let [module, name] = self.pop_some()?;
                [module.text("module")?, name.text("name")?]
            }
        };
        self.stack.push(Value::Global(Global::named(module, name, self.names)?));
        Ok(())
    }

    fn store(&mut self, index: u32) -> Result<(), PickleReason> {
        let value = self.top()?;
        self.memo.insert(index, value);
        Ok(())
    }

    fn store_index_of_width(&mut self, width: u64) -> Result<(), PickleReason> {
        let index = self.reader.uint(width)? as u32;
        self.store(index)
    }

    fn load_index_of_width(&mut self, width: u64) -> Result<(), PickleReason> {
        let index = self.reader.uint(width)? as u32;
        let value = self.memo.get(&index).ok_or(PickleReason::Memo { index })?;
        self.stack.push(*value);
        Ok(())
    }
}
