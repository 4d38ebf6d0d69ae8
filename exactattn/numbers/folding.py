"""The value of a tree of `expressions`: one exact number, or nested tuples of them.

Rationals are computed, everything else becomes an `Expr`. What an operation may cost is estimated from its
operands and refused before it is done, so a short text cannot ask for a long computation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from exactattn.errors import NumeralError
from exactattn.numbers import exact
from exactattn.numbers.exact import Exact, Expr
from exactattn.numbers.expressions import Binary, Call, Index, ListNode, Name, Node, Number, Reference, Unary
from exactattn.numbers.tokens import shorten, suggestion

MAX_BITS = 14_000  # bits of a numerator or denominator, estimated from the operands; Python prints 4300 digits
MAX_WORK = 10**10  # sum over the operations of one text of the estimate squared, as a gcd costs; milliseconds
MAX_EXPONENT = 10_000  # numerator and denominator of an exponent whose power is not rational
MAX_TOWER = 2  # exp inside exp: a third one has no digits that any engine could hold

Array: TypeAlias = "Fraction | Expr | tuple[Array, ...] | None"  # None: a masked score, which steps may hold
Lookup: TypeAlias = Callable[[str, tuple[Index, ...]], Array]
NO_NAMES: Mapping[str, Exact] = MappingProxyType({})
NO_CALLS: Mapping[str, Callable[..., Array]] = MappingProxyType({})
CONSTANTS: Mapping[str, Exact] = MappingProxyType({"pi": exact.PI, "π": exact.PI})
SCALAR_FUNCTIONS = ("sqrt", "exp", "log", "ln")


def fold(node: Node, names: Mapping[str, Exact] = NO_NAMES) -> Exact:
    """The value of a scalar expression: numbers, names, operators, sqrt, exp, log = ln to base e.

    Errors: NumeralError with the place, also for what is no real number or too large to compute.
    """
    value = _Evaluator(names, None, NO_CALLS).value(node)
    assert value is not None  # without lists and references there is nothing to make an array
    assert not isinstance(value, tuple)
    return value


def evaluate_array(
    node: Node,
    names: Mapping[str, Exact],
    lookup: Lookup,
    calls: Mapping[str, Callable[..., Array]] = NO_CALLS,
) -> Array:
    """The value of one operand of a statement.

    Shapes: + and - want equal ones, * one scalar, / and ** a scalar on the right; `sum` adds all elements.
    sqrt, exp, log and ln go through a list element by element. `lookup(label, indices)` gives references, and names
    not in `names` (with no indices); a KeyError of it means "no such name". `calls` gives the meaning of further
    functions. A NumeralError of either gets the place.
    """
    return _Evaluator(names, lookup, calls).value(node)


def shape(array: Array) -> tuple[int, ...]:
    """The shape, () for a scalar."""
    sizes = []
    while isinstance(array, tuple):
        sizes.append(len(array))
        if not array:
            break
        array = array[0]
    return tuple(sizes)


class _Evaluator:
    """One walk over one tree, with its budget."""

    def __init__(
        self, names: Mapping[str, Exact], lookup: Lookup | None, calls: Mapping[str, Callable[..., Array]]
    ) -> None:
        self.names = names
        self.lookup = lookup
        self.calls = calls
        self.work = 0

    def value(self, node: Node) -> Array:
        match node:
            case Number():
                return node.numeral.value
            case Name():
                return self._name(node)
            case Reference():
                return self._look_up(node, node.indices)
            case Call():
                return self._call(node)
            case Unary(op="+"):
                return self.value(node.operand)
            case Unary():
                return _map(exact.neg, self.value(node.operand))
            case ListNode():
                return self._list(node)
            case Binary():
                return self._binary(node)

    def _name(self, node: Name) -> Array:
        for known in (CONSTANTS, self.names):
            if node.label in known:
                return known[node.label]
        return self._look_up(node, ())

    def _look_up(self, node: Name | Reference, indices: tuple[Index, ...]) -> Array:
        if self.lookup is None and isinstance(node, Reference):
            raise NumeralError(f"found {shorten(node.label)}[...], wanted one number or a name", node.offset)
        if self.lookup is not None:
            try:
                return _placed(self.lookup, node.offset, node.label, indices)
            except KeyError:
                pass
        hint = "; write exp(1) for Euler's number" if node.label == "e" else ""
        known = suggestion(node.label, (*self.names, "pi"))
        raise NumeralError(f"unknown name {shorten(node.label)!r}; {known}{hint}", node.offset)

    def _call(self, node: Call) -> Array:
        known = {*SCALAR_FUNCTIONS, *self.calls, *(() if self.lookup is None else ("sum",))}
        if node.function not in known:
            hint = suggestion(node.function, known)
            raise NumeralError(f"unknown function {shorten(node.function)!r}; {hint}", node.offset)
        if node.function in self.calls:
            found = _placed(self.calls[node.function], node.offset, *(self.value(arg) for arg in node.args))
            if any(isinstance(x, Fraction) and _bits(x) > MAX_BITS for x in _flat(found)):
                self._charge(MAX_BITS + 1, node.offset)
            return found
        if len(node.args) != 1:
            raise NumeralError(f"{node.function} takes one argument, found {len(node.args)}", node.offset)
        argument = self.value(node.args[0])
        if node.function == "sum":
            return self._sum([_scalar(x, "an element of a sum", node.offset) for x in _flat(argument)], node.offset)
        if isinstance(argument, tuple) and self.lookup is not None:
            return _map(lambda x: self._function(node.function, x, node.offset), argument)
        return self._function(node.function, _scalar(argument, node.function, node.offset), node.offset)

    def _function(self, function: str, x: Exact, offset: int) -> Exact:
        if function == "sqrt":
            return self._power(x, Fraction(1, 2), offset)
        if function == "exp":
            if _tower(x) >= MAX_TOWER:
                raise NumeralError(f"more than {MAX_TOWER} exp in each other: too large to compute", offset)
            return exact.exp(x)
        if isinstance(x, Fraction) and x <= 0:
            raise NumeralError(f"the logarithm of {_show(x)} is not real; wanted a number above 0", offset)
        return exact.log(x)

    def _list(self, node: ListNode) -> Array:
        if self.lookup is None:
            raise NumeralError("found a list, wanted one number", node.offset)
        items = tuple([self.value(item) for item in node.items])
        for item, written in zip(items, node.items, strict=True):
            if shape(item) != shape(items[0]):
                raise NumeralError(
                    f"ragged list: {_spell_shape(item)} after {_spell_shape(items[0])}; make all items alike",
                    written.offset,
                )
        return items

    def _binary(self, node: Binary) -> Array:
        left, right, place = self.value(node.left), self.value(node.right), node.offset
        if node.op in ("+", "-"):
            if shape(left) != shape(right):
                shapes = f"{_spell_shape(left)} {node.op} {_spell_shape(right)}"
                raise NumeralError(f"found {shapes}, wanted equal shapes", place)
            make = exact.add if node.op == "+" else exact.sub
            return _zip(lambda a, b: self._rational(make, a, b, place), left, right)
        if node.op == "*" and isinstance(right, tuple):
            factor = _scalar(left, "one side of *", place)
            return _map(lambda b: self._rational(exact.mul, factor, b, place), right)
        second = _scalar(right, f"the right side of {node.op}", place)
        if node.op == "**":
            return self._power(_scalar(left, "the left side of **", place), second, place)
        if node.op == "/" and second == exact.ZERO:
            raise NumeralError("division by zero; wanted a divisor other than 0", place)
        make = exact.mul if node.op == "*" else exact.div
        return _map(lambda a: self._rational(make, a, second, place), left)

    def _sum(self, terms: list[Exact], offset: int) -> Exact:
        """Exact value: the sum; in pairs, so that a long sum of closed forms is not a high tree."""
        while len(terms) > 1:
            odd = terms[len(terms) & ~1 :]
            pairs = zip(terms[::2], terms[1::2], strict=False)
            terms = [self._rational(exact.add, a, b, offset) for a, b in pairs] + odd
        return terms[0] if terms else exact.ZERO

    def _rational(self, make: Callable[[Exact, Exact], Exact], a: Exact, b: Exact, offset: int) -> Exact:
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            # no numerator or denominator of a + b, a - b, a * b or a / b has more bits than this
            self._charge(_bits(a) + _bits(b) + 1, offset)
        return make(a, b)

    def _power(self, base: Exact, exponent: Exact, offset: int) -> Exact:
        if isinstance(exponent, Expr):
            raise NumeralError("an exponent must be rational; write exp(b*log(a)) for a**b", offset)
        top, bottom = abs(exponent.numerator), exponent.denominator
        rational = isinstance(base, Fraction)
        if base == exact.ZERO and exponent < 0:
            raise NumeralError("division by zero: a negative power of 0", offset)
        if isinstance(base, Fraction) and base < 0 and bottom != 1:
            raise NumeralError(f"a root of the negative number {_show(base)} is not a real number", offset)
        if (bottom != 1 or not rational) and max(top, bottom) > MAX_EXPONENT:
            raise NumeralError(
                f"found the exponent {_show(exponent)}, wanted parts up to {MAX_EXPONENT}; simplify", offset
            )
        rooting = 4 if bottom != 1 else 1  # Newton's iteration divides numbers as long as the base, often
        if base not in (0, 1, -1):
            self._charge(_weight(base) * max(top, rooting), offset, rational)
        return exact.power(base, exponent)

    def _charge(self, bits: int, offset: int, works: bool = True) -> None:
        self.work += min(bits, MAX_BITS) ** 2 if works else 0
        if bits > MAX_BITS:
            raise NumeralError(
                f"too large to compute exactly: more than {MAX_BITS} bits expected; write smaller numbers",
                offset,
            )
        if self.work > MAX_WORK:
            raise NumeralError("too many operations on large numbers; write fewer or smaller ones", offset)


def _bits(x: Fraction) -> int:
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _weight(x: Exact) -> int:
    """The bits x would have if every root in it were rational: what powers of powers multiply."""
    if isinstance(x, Fraction):
        return _bits(x)
    if x.op == "pow":
        exponent = x.args[1]
        assert isinstance(exponent, Fraction)
        return _weight(x.args[0]) * max(1, abs(exponent.numerator) // exponent.denominator)
    return sum(_weight(arg) for arg in x.args) if x.op in ("add", "mul", "div") else 1


def _tower(x: Exact) -> int:
    """How many exp stand inside each other in x."""
    if isinstance(x, Fraction):
        return 0
    return max((_tower(arg) for arg in x.args), default=0) + (x.op == "exp")


def _show(x: Fraction) -> str:
    """A number for a message; Python refuses to print very long integers."""
    return shorten(str(x)) if _bits(x) <= 1000 else f"a number of {_bits(x)} bits"


def _spell_shape(array: Array) -> str:
    return "a scalar" if not isinstance(array, tuple) else "x".join(map(str, shape(array))) + " array"


def _scalar(array: Array, role: str, offset: int) -> Exact:
    if isinstance(array, tuple):
        found = _spell_shape(array)
        raise NumeralError(f"{role} must be one number, found {found}; write out its elements", offset)
    if array is None:
        raise NumeralError(f"{role} is a masked score, which has no value", offset)
    return array


def _placed(function: Callable[..., Array], offset: int, *args: object) -> Array:
    """function(*args), an error of it with a place."""
    try:
        return function(*args)
    except NumeralError as error:
        raise error if error.offset is not None else NumeralError(str(error), offset) from error


def _map(make: Callable[[Exact], Exact], a: Array) -> Array:
    """make(x) of every element; what is no number, such as a masked score, stays what it is."""
    if isinstance(a, tuple):
        return tuple([_map(make, x) for x in a])
    return make(a) if isinstance(a, (Fraction, Expr)) else a


def _zip(make: Callable[[Exact, Exact], Exact], a: Array, b: Array) -> Array:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple([_zip(make, x, y) for x, y in zip(a, b, strict=True)])
    assert not isinstance(a, tuple)
    assert not isinstance(b, tuple)
    return None if a is None or b is None else make(a, b)


def _flat(array: Array) -> list[Array]:
    return [x for item in array for x in _flat(item)] if isinstance(array, tuple) else [array]
