"""The node tests of the installed `onnx` package: one operator, its attributes, inputs and expected outputs.

Up to 1.22 the package has them as files; from 1.23 on it makes them when its modules are imported.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.errors import Unavailable

MODULES: dict[str, str] = {
    "Attention": "attention",
    "LogSoftmax": "logsoftmax",
    "RotaryEmbedding": "rotaryembedding",
    "Softmax": "softmax",
}
"""The operators judged here, and the module of `onnx.backend.test.case.node` that makes the tests of each."""

OTHERS: dict[str, str] = {"FlexAttention": "flexattention", "LinearAttention": "linear_attention"}
"""Operators of attention that are not judged."""

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class NodeCase:
    """One node test: inputs and outputs by the names of the operator's schema, those that are left out left out.

    `expanded` names the tests whose model is the operator written out as a graph; `expanded_differs` those of them
    whose data are not the same bit for bit.
    """

    name: str
    operator: str
    opset: int
    attributes: Mapping[str, Any]
    inputs: Arrays
    outputs: Arrays
    expanded: tuple[str, ...] = ()
    expanded_differs: tuple[str, ...] = ()


def onnx_module() -> Any:
    """The package. Errors: Unavailable where it is not installed."""
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise Unavailable("onnx is not installed: pip install 'exactattn[onnx]'") from error


def node_cases(operators: Sequence[str] = tuple(MODULES)) -> list[NodeCase]:
    """Every node test of some operators, by name. Errors: Unavailable where onnx is not installed."""
    onnx = onnx_module()
    plain: dict[str, NodeCase] = {}
    written_out: list[tuple[str, Any]] = []
    for found in _tests(operators):
        if "_expanded" in found.name:
            written_out.append((found.name.partition("_expanded")[0], found))
            continue
        model = found.model or onnx.load(Path(found.model_dir) / "model.onnx")
        if len(model.graph.node) == 1 and model.graph.node[0].op_type in operators and not model.graph.node[0].domain:
            plain[found.name] = _case(found.name, model, *_data(found))
    for name, found in written_out:
        if name in plain:
            case = plain[name]
            differs = (found.name,) if _differs(case, _data(found)) else ()
            plain[name] = replace(
                case, expanded=(*case.expanded, found.name), expanded_differs=case.expanded_differs + differs
            )
    return sorted(plain.values(), key=lambda case: (case.operator, case.opset, case.name))


def count_of_others() -> dict[str, int]:
    """How many node tests each operator of attention has that is not judged, those written out as graphs left out."""
    names = {test.name.replace("_", "") for test in _tests(tuple(OTHERS)) if "_expanded" not in test.name}
    return {operator: sum(operator.lower() in name for name in names) for operator in OTHERS}


def _tests(operators: Sequence[str]) -> Iterator[Any]:
    """The tests whose names may be those of the operators, as onnx's loader gives them.

    Where they are made, the modules of the operators are imported first and, when there are such, alone: making all
    takes twenty times as long. onnx seeds NumPy's global generator for each test, so the order of imports does not
    matter; what the generator stood at before is put back.
    """
    from onnx.backend.test.loader import load_model_tests

    state = np.random.get_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = _made(operators)
            tests = load_model_tests(kind="node") if made is None else made
        finally:
            np.random.set_state(state)
    words = {operator.lower() for operator in operators}
    yield from (test for test in tests if any(word in test.name.replace("_", "") for word in words))


def _made(operators: Sequence[str]) -> Sequence[Any] | None:
    """The tests that the modules of the operators make, or None where onnx has files or other modules."""
    from onnx.backend.test import loader

    if (Path(loader.DATA_DIR) / "node").is_dir():
        return None
    try:
        node = importlib.import_module("onnx.backend.test.case.node")
        for operator in operators:
            importlib.import_module(f"onnx.backend.test.case.node.{(MODULES | OTHERS)[operator]}")
    except ImportError:
        return None
    tests: Sequence[Any] | None = getattr(node, "_NodeTestCases", None)
    return list(tests) if tests else None


def _data(found: Any) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """(inputs, outputs) of a test, exactly."""
    if found.data_sets:
        inputs, outputs = found.data_sets[0]
        return [_array(x) for x in inputs], [_array(x) for x in outputs]
    folder = Path(found.model_dir) / "test_data_set_0"
    return _files(folder, "input"), _files(folder, "output")


def _files(folder: Path, kind: str) -> list[NDArray[Any]]:
    onnx = onnx_module()
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [_array(onnx.load_tensor(folder / f"{kind}_{i}.pb")) for i in range(count)]


def _array(x: Any) -> NDArray[Any]:
    """An array of the stored type; bfloat16 is that of ml_dtypes."""
    if isinstance(x, np.ndarray):
        return x
    if not hasattr(x, "data_type"):
        return np.asarray(x)
    from onnx import TensorProto, numpy_helper

    array = np.asarray(numpy_helper.to_array(x))
    if x.data_type == TensorProto.BFLOAT16 and array.dtype.name != "bfloat16":
        import ml_dtypes

        array = array.astype(ml_dtypes.bfloat16)  # older versions give the same numbers as float32
    return array


def _case(name: str, model: Any, inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]]) -> NodeCase:
    from onnx import defs, helper

    node = model.graph.node[0]
    opset = max(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    schema = defs.get_schema(node.op_type, opset, "")
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return NodeCase(
        name,
        node.op_type,
        opset,
        attributes,
        _named(schema.inputs, node.input, inputs),
        _named(schema.outputs, node.output, outputs),
    )


def _named(formal: Sequence[Any], actual: Sequence[str], arrays: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays by the names of the schema: a node has an empty name where an optional one is left out."""
    there = [one.name for one, own in zip(formal, actual, strict=False) if own]
    return dict(zip(there, arrays, strict=True))


def _differs(case: NodeCase, data: tuple[Sequence[NDArray[Any]], Sequence[NDArray[Any]]]) -> bool:
    """Are the data of a test others than those of a case, in any bit?"""
    own = [*case.inputs.values(), *case.outputs.values()]
    other = [*data[0], *data[1]]
    same = len(own) == len(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(own, other, strict=True)
    )
    return not same
