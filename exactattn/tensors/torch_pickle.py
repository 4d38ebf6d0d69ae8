"""The pickle in a file of PyTorch, looked at and not run: whether it makes tensors and nothing else.

PyTorch's `weights_only` keeps code from being run, but lets a short pickle make a `bytearray` of any size, or copy one
dictionary for hours. What tensors need is little: a few functions, and empty dictionaries.
Source: the docstrings of Python's pickletools, which say what each opcode takes from the stack and puts there.
"""

from __future__ import annotations

import pickletools
from typing import TypeAlias

from exactattn.tensors.layout import PLAIN, SHORT
from exactattn.tensors.source import Source

MOST_PICKLE = 2**22  # bytes
AGAIN = "save a dictionary of tensors with torch.save({'q': q, 'k': k, 'v': v}, ...)"
EMPTY_DICT = "collections OrderedDict"  # called without arguments only
FUNCTIONS = {f"torch._utils _rebuild_{what}" for what in ("parameter", "tensor_v2", "tensor_v3")}
STORAGES = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
TYPES = {"torch.storage UntypedStorage", *(f"torch {kind}Storage" for kind in STORAGES)}
TYPES |= {f"torch {name}" for name in PLAIN + SHORT}
KNOWN = FUNCTIONS | TYPES | {EMPTY_DICT}
BY_NAME = ("STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4", "NEWOBJ", "NEWOBJ_EX", "OBJ")  # other ways to call

Item: TypeAlias = str  # a name that was put there by GLOBAL, MARK, or nothing that is told apart
MARK, OTHER = "(", ""


def check_pickle(source: Source, pickle: bytes) -> None:
    """Errors: TensorError when a pickle calls anything that tensors do not need, or is damaged."""
    stack: list[Item] = []
    memo: dict[int, Item] = {}
    before, builds = "", 0
    try:
        for opcode, argument, _ in pickletools.genops(pickle):
            name = opcode.name
            if name in BY_NAME or (name == "GLOBAL" and argument not in KNOWN):
                raise _unwanted(source, name if argument is None else str(argument))
            if name == "REDUCE" and not (
                stack[-2] in FUNCTIONS or (stack[-2] == EMPTY_DICT and before == "EMPTY_TUPLE")
            ):
                raise _unwanted(source, stack[-2] or name)
            builds += name == "BUILD"  # a dictionary of a module has one
            if builds > 1:
                raise _unwanted(source, name)
            _step(stack, memo, opcode, argument)
            before = name
    except (ValueError, OverflowError, LookupError) as error:
        raise source.error(f"its list of tensors is damaged: {str(error)[:200]}", "save it again") from error


def _unwanted(source: Source, what: str) -> Exception:
    why = "only tensors are read, as other objects may run code or fill the memory"
    return source.error(f"the file wants to make {what[:80]!r}; {why}", AGAIN)


def _step(stack: list[Item], memo: dict[int, Item], opcode: pickletools.OpcodeInfo, argument: object) -> None:
    """What one opcode does to the stack. Errors: LookupError for what is not there."""
    name = opcode.name
    if name in ("BINPUT", "LONG_BINPUT", "PUT") and isinstance(argument, int):
        memo[argument] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET", "GET") and isinstance(argument, int):
        stack.append(memo[argument])
    elif name == "MEMOIZE":
        memo[len(memo)] = stack[-1]
    elif name in ("MARK", "GLOBAL", "DUP"):
        stack.append({"MARK": MARK, "GLOBAL": str(argument), "DUP": stack[-1] if stack else OTHER}[name])
    else:
        taken = list(opcode.stack_before)
        if pickletools.stackslice in taken:  # everything from the last mark on
            while stack.pop() != MARK:
                pass
            taken = taken[: taken.index(pickletools.markobject)]
        for _ in taken:
            stack.pop()
        stack.extend(OTHER for _ in opcode.stack_after)
