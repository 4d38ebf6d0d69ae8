"""What every generator must do: a new one is tested by existing, once the tables below have a call of it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn import plugins
from exactattn.errors import ExactattnError, NumeralError, Unavailable, UsageError
from exactattn.generators.arguments import MAX_NUMBERS
from exactattn.generators.generator import MAX_CALLS, CallError

GENERATORS = plugins.found("generators")
LIBRARIES = {"torch": "torch"}  # what a generator needs beyond the requirements
FLOATS = {"numpy-legacy": "rand(3, 2)", "numpy": "random((3, 2))", "r": "matrix(runif(6), 3, 2)", "torch": "rand(3, 2)"}
VECTOR = {"numpy-legacy": "randn({})", "numpy": "random({})", "r": "rnorm({})", "torch": "rand({})"}
KEYWORDS = "low high size n min max mean sd loc scale a x replace nrow ncol data"
VALUES = """
    0 1 3 -1 2.5 1e2 1e400 20001 9223372036854775808 -9223372036854775809
    None NULL TRUE True T x (2,3) (2) (2,) [2,2] () [] (0,1) (1e3,) ((2,3),4)
    1:3 3:1 c(1,2) c() runif(4) rand(2) matrix(runif(4),2) floor(rnorm(2))
"""
SLIPS = {"numpy-legacy": "randm", "numpy": "randon", "r": "runiff", "torch": "rnd"}

every_generator = pytest.mark.parametrize("generator", GENERATORS.values(), ids=list(GENERATORS))


def is_there(name: str) -> bool:
    return name not in LIBRARIES or importlib.util.find_spec(LIBRARIES[name]) is not None


drawing_generator = pytest.mark.parametrize(
    "generator",
    [
        pytest.param(
            generator,
            id=name,
            marks=pytest.mark.skipif(not is_there(name), reason=f"{LIBRARIES.get(name)} is not installed"),
        )
        for name, generator in GENERATORS.items()
    ],
)


def numbers(drawn: Any) -> list[Fraction]:
    return [drawn] if isinstance(drawn, Fraction) else [x for part in drawn for x in numbers(part)]


def test_the_required_generators_are_there():
    assert {"numpy-legacy", "numpy", "r", "torch"} <= set(GENERATORS)


@every_generator
def test_its_file_has_its_name_and_it_says_what_it_draws(generator):
    assert type(generator).__module__ == f"exactattn.generators.{generator.name.replace('-', '_')}"
    assert generator.text
    assert "\n" not in generator.text
    assert all(name in generator.text for name in list(generator.functions)[:1])


@drawing_generator
def test_the_same_seed_gives_the_same_and_another_another(generator):
    call = FLOATS[generator.name]
    first = generator.draw(5, [call, call])
    assert first == generator.draw(5, [call, call])
    assert first != generator.draw(6, [call, call])


@drawing_generator
def test_calls_are_drawn_in_order_from_one_stream(generator):
    one, two = VECTOR[generator.name].format(2), VECTOR[generator.name].format(6)
    together = generator.draw(5, [one, two])
    assert together[0] != together[1][:2]
    assert generator.draw(5, [one]) == together[:1]
    assert generator.draw(5, []) == []


@drawing_generator
def test_numbers_are_exact_doubles_in_the_shape_asked_for(generator):
    (matrix,) = generator.draw(5, [FLOATS[generator.name]])
    assert [len(row) for row in matrix] == [2, 2, 2]
    assert all(isinstance(x, Fraction) and Fraction(float(x)) == x and 0 < x < 1 for x in numbers(matrix))
    assert len(set(numbers(matrix))) == 6


@every_generator
def test_too_many_numbers_are_refused_before_any_is_drawn(generator, monkeypatch):
    monkeypatch.setattr(type(generator), "stream", lambda self, seed: pytest.fail("drew"))
    call = VECTOR[generator.name]
    with pytest.raises(NumeralError, match=str(MAX_NUMBERS)) as caught:
        generator.draw(5, [call.format(MAX_NUMBERS), call.format(1)])
    assert isinstance(caught.value, CallError)
    assert caught.value.call == 1
    with pytest.raises(NumeralError, match=str(MAX_NUMBERS)):
        generator.draw(5, [call.format(MAX_NUMBERS + 1)])


@drawing_generator
def test_as_many_as_allowed_are_drawn(generator):
    call = VECTOR[generator.name].format(MAX_NUMBERS // 2)
    assert sum(len(numbers(drawn)) for drawn in generator.draw(5, [call, call])) == MAX_NUMBERS


@every_generator
def test_too_many_calls_are_refused(generator):
    with pytest.raises(UsageError, match=f"at most {MAX_CALLS}"):
        generator.draw(5, [FLOATS[generator.name]] * (MAX_CALLS + 1))


@every_generator
def test_a_seed_out_of_range_is_refused(generator):
    for seed in (generator.seeds[0] - 1, generator.seeds[-1] + 1):
        with pytest.raises(UsageError, match=f"from {generator.seeds[0]} to {generator.seeds[-1]}"):
            generator.draw(seed, [])


@drawing_generator
def test_the_ends_of_the_seeds_are_taken(generator):
    first, last = (generator.draw(seed, [FLOATS[generator.name]]) for seed in (generator.seeds[0], generator.seeds[-1]))
    assert first != last


@every_generator
def test_an_unknown_function_is_named_with_the_closest(generator):
    slip = SLIPS[generator.name]
    with pytest.raises(CallError, match=f"call 2: {generator.name} draws no '{slip}'; did you mean 'r") as caught:
        generator.draw(5, [FLOATS[generator.name], f"  {slip}(3)"])
    assert (caught.value.call, caught.value.offset) == (1, 2)


@every_generator
@pytest.mark.parametrize("text", ["", "rand", "__import__('os')", "eval(1)", "rand(3) + 1", "f" * 3_000])
def test_what_is_no_call_is_refused_with_a_place(generator, text):
    with pytest.raises(CallError) as caught:
        generator.draw(5, [text])
    assert caught.value.offset is not None


@every_generator
@given(data=st.data())
def test_hostile_arguments_give_an_error_of_ours_or_numbers(generator, data):
    keyword = st.just("") | st.sampled_from(KEYWORDS.split())
    argument = st.builds(lambda k, v: f"{k}={v}" if k else v, keyword, st.sampled_from(VALUES.split()))
    function = st.sampled_from(sorted(generator.functions))
    text = data.draw(st.builds(lambda f, a: f"{f}({', '.join(a)})", function, st.lists(argument, max_size=4)))
    try:
        (drawn,) = generator.draw(5, [text])
    except ExactattnError:
        return
    assert 1 <= len(numbers(drawn)) <= MAX_NUMBERS


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_not_there_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, LIBRARIES[name], None)
    with pytest.raises(Unavailable, match=f"pip install {LIBRARIES[name]}"):
        GENERATORS[name].draw(5, [FLOATS[name]])


def test_generators_load_without_numpy_and_torch():
    code = (
        "import sys; from exactattn import plugins; plugins.found('generators'); "
        "print([m for m in sys.modules if m in ('numpy', 'torch')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
