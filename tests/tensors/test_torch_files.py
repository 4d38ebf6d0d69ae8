"""Files of torch.save, as PyTorch writes them; what a file holds beside tensors is named. Skipped without PyTorch."""

from __future__ import annotations

import pickle
import pickletools
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import no_hang
from tensor_writers import zip_file

from exactattn.errors import ExactattnError, TensorError
from exactattn.tensors.files import read_tensors

torch = pytest.importorskip("torch")


def saved(tmp_path, value, **options):
    path = tmp_path / "x.pt"
    torch.save(value, path, **options)
    return path


def test_views_parameters_and_expanded_tensors(tmp_path):
    """Numbers as PyTorch's tolist gives them."""
    base = torch.arange(12.0).reshape(3, 4)
    tensors = {
        "transposed": base.t(),
        "part": base[1:, ::2],
        "row": base[1],
        "expanded": torch.ones(1).expand(5),
        "parameter": torch.nn.Parameter(base),
        "wants gradients": torch.ones(2, requires_grad=True),
        "one": torch.tensor(3),
        "none": torch.ones(0, 3),
        "conjugate": torch.ones(2, dtype=torch.complex64).conj().imag,
    }
    found = read_tensors(saved(tmp_path, tensors))
    assert {name: x.tolist() for name, x in found.items()} == {name: x.tolist() for name, x in tensors.items()}
    assert np.signbit(found["conjugate"]).all() == torch.signbit(tensors["conjugate"]).all()


def test_one_tensor_and_the_state_of_a_module(tmp_path):
    assert read_tensors(saved(tmp_path, torch.ones(2)))["x"].tolist() == [1, 1]
    module = torch.nn.Linear(2, 3, dtype=torch.bfloat16)
    found = read_tensors(saved(tmp_path, module.state_dict()))
    assert found["weight"].astype(float).tolist() == module.weight.tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([torch.ones(2)], "found a list, wanted a dictionary of tensors"),
        ({"q": 1.5}, "tensor 'q': found a float, wanted a tensor"),
        ({"model": {"q": torch.ones(2)}}, "tensor 'model': found a dict, wanted a tensor"),
        ({1: torch.ones(2)}, "found a int as a name"),
        ({"\x1b": torch.ones(2)}, "printable"),
        ({}, "holds no tensor"),
        ({"q": torch.ones(2, dtype=torch.complex64)}, "wants to make 'torch ComplexFloatStorage'"),
        ({"q": torch.ones(2, 2).to_sparse()}, "wants to make"),
        ({"q": torch.ones(2, device="meta")}, "wants to make"),
        (torch.nn.Linear(2, 2), "wants to make"),
    ],
)
def test_what_is_no_dictionary_of_dense_tensors(value, message, tmp_path):
    with pytest.raises(TensorError, match=message):
        read_tensors(saved(tmp_path, value))


def test_the_old_form_of_files_is_refused(tmp_path):
    with pytest.raises(TensorError, match=r"begins like a pickle, as old versions of torch\.save"):
        read_tensors(saved(tmp_path, {"q": torch.ones(2)}, _use_new_zipfile_serialization=False))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def test_an_expanded_tensor_counts_as_what_it_becomes(tmp_path):
    path = saved(tmp_path, {"q": torch.ones(1).expand(10**12)})
    with no_hang(), pytest.raises(TensorError, match="found 4000000000000 bytes of tensors"):
        read_tensors(path)


def test_storages_that_are_not_as_large_as_declared(tmp_path):
    """4 numbers become 2^30, in the storage and in the shape."""
    path = saved(tmp_path, {"q": torch.arange(4.0)})
    lie = [
        (name, data.replace(b"K\x04", b"J\0\0\0\x40") if name.endswith("data.pkl") else data)
        for name, data in members(path)
    ]
    zip_file(path, lie)
    with no_hang(), pytest.raises(TensorError, match="PyTorch cannot read it"):
        read_tensors(path)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(part=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255), data=st.data())
def test_edited_pickles(part, byte, data, tmp_path):
    """One byte of the list of tensors changed, checksums right: arrays, or one error of the project."""
    path = saved(tmp_path, {"q": torch.arange(4.0), "k": torch.ones(2, dtype=torch.bfloat16)})
    edited = []
    for name, content in members(path):
        out = bytearray(content)
        if name.endswith("data.pkl"):
            out[int(part * len(out))] = byte
        edited.append((name, bytes(out)))
    zip_file(path, edited)
    with no_hang(60):
        try:
            found = read_tensors(path, most=10**6)
        except ExactattnError as error:
            assert str(error).isprintable()  # noqa: PT017
            return
    assert sum(x.nbytes for x in found.values()) <= 10**6


def test_pickles_of_other_protocols(tmp_path):
    path = saved(tmp_path, {"q": torch.ones(2)}, pickle_protocol=4)
    assert any(op.name == "STACK_GLOBAL" for op, _, _ in pickletools.genops(dict(members(path))["x/data.pkl"]))
    with pytest.raises(TensorError, match="wants to make 'STACK_GLOBAL'"):
        read_tensors(path)
    assert pickle.HIGHEST_PROTOCOL >= 4
