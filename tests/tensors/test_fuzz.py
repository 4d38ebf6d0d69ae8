"""Good files with bytes changed, cut out or put in: arrays or the project's error, never anything else, and soon."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import no_hang
from tensor_writers import WRITERS, bits, zip_file

from exactattn.errors import ExactattnError
from exactattn.tensors.files import read_tensors

TENSORS = {"q": bits("float32", (2, 3)), "k": bits("bool", (7,)), "v": bits("uint16", (2, 0))}
MOST = 10**6


@pytest.fixture(scope="module", name="good")
def the_good_files(tmp_path_factory):
    """One file of each format, and of each way to keep it, as bytes."""
    folder = tmp_path_factory.mktemp("good")
    WRITERS["npz"](folder / "stored.npz", TENSORS)
    np.savez_compressed(folder / "packed.npz", **TENSORS)
    WRITERS["safetensors"](folder / "x.safetensors", TENSORS)
    np.save(folder / "q.npy", TENSORS["q"])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


EDIT = st.tuples(
    st.sampled_from(["set", "flip", "cut", "insert", "truncate", "number"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 255),
    st.sampled_from([0, 1, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]),
)


def edited(data, edits):
    """Some edits, one after the other; places are parts of the length, so that they shrink with it."""
    out = bytearray(data)
    for kind, part, byte, number in edits:
        place = int(part * len(out))
        if kind == "set" and out:
            out[place] = byte
        elif kind == "flip" and out:
            out[place] ^= 1 << byte % 8
        elif kind == "cut":
            del out[place : place + byte]
        elif kind == "insert":
            out[place:place] = bytes([byte]) * (1 + byte % 9)
        elif kind == "truncate":
            del out[place:]
        else:
            size = 8 if number >= 2**32 else 4
            out[place : place + size] = number.to_bytes(size, "little")
    return bytes(out)


def read(path):
    """Either arrays or one error of one printable line."""
    with no_hang(60):
        try:
            found = read_tensors(path, most=MOST, dtypes={})
        except ExactattnError as error:
            assert str(error).isprintable()  # noqa: PT017
            assert len(str(error)) < 1500  # noqa: PT017
            return
    assert sum(array.nbytes for array in found.values()) <= MOST
    assert all(name.isprintable() and array.size >= 0 for name, array in found.items())


many = settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.parametrize("name", ["stored.npz", "packed.npz", "x.safetensors", "q.npy"])
@many
@given(edits=st.lists(EDIT, min_size=1, max_size=4))
def test_edited_files(good, name, edits, tmp_path):
    path = tmp_path / name
    path.write_bytes(edited(good[name], edits))
    read(path)


@many
@given(edits=st.lists(EDIT, min_size=1, max_size=4), packed=st.booleans())
def test_edited_members_with_a_right_checksum(good, edits, packed, tmp_path):
    """Past the checksum, which would refuse nearly all."""
    zip_file(
        tmp_path / "x.npz",
        [("k.npy", good["q.npy"]), ("q.npy", edited(good["q.npy"], edits))],
        zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED,
    )
    read(tmp_path / "x.npz")


@many
@given(
    edits=st.lists(EDIT, min_size=1, max_size=3), where=st.sampled_from([b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04"])
)
def test_edited_lists_of_members(good, edits, where, tmp_path):
    """Edits only from the last of a signature on, where sizes and places stand."""
    data = good["packed.npz"]
    place = data.rindex(where)
    tail = edited(data[place : place + 46], edits)
    (tmp_path / "x.npz").write_bytes(data[:place] + tail + data[place + 46 :])
    read(tmp_path / "x.npz")


@many
@given(
    dtype=st.sampled_from(["F32", "F8_E5M2", "BOOL", "I64", "X"]) | st.integers() | st.none(),
    shape=st.lists(st.integers(-2, 4) | st.sampled_from([2**31, 2**32, 2**62, 2**63, 2**64]), max_size=4)
    | st.integers(),
    offsets=st.lists(st.integers(-9, 40) | st.sampled_from([2**32, 2**63, 2**64]), max_size=3) | st.text(max_size=2),
    rest=st.binary(max_size=32),
)
def test_headers_of_safetensors_that_are_json(dtype, shape, offsets, rest, tmp_path):
    from tensor_writers import safetensors_bytes

    header = {"q": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}
    (tmp_path / "x.safetensors").write_bytes(safetensors_bytes(header, rest))
    read(tmp_path / "x.safetensors")


@many
@given(
    descr=st.sampled_from(["'<f8'", "'>f2'", "'|O'", "'|b1'", "'<V2'", "'<f3'", "''", "[]", "'<i8"])
    | st.text(max_size=6),
    order=st.sampled_from(["True", "False", "None", "1"]),
    shape=st.lists(st.integers(-1, 3) | st.sampled_from([2**31, 2**32, 2**63, 2**64]), max_size=4).map(tuple).map(str)
    | st.text("(),0123456789L -x", max_size=12),
    rest=st.binary(max_size=32),
)
def test_headers_of_npy(descr, order, shape, rest, tmp_path):
    from tensor_writers import npy_bytes

    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    data = npy_bytes(header=header.encode("latin-1", "replace").decode("latin-1"), data=rest)
    (tmp_path / "q.npy").write_bytes(data)
    read(tmp_path / "q.npy")


@many
@given(edits=st.lists(EDIT, min_size=1, max_size=4))
def test_what_numpy_reads_of_an_edited_file_is_what_we_read(good, edits, tmp_path):
    """NumPy as the other system: where both read it, they agree bit by bit; what NumPy refuses is refused."""
    data = edited(good["q.npy"], edits)
    (tmp_path / "q.npy").write_bytes(data)
    try:
        ours = read_tensors(tmp_path / "q.npy")["q"]
    except ExactattnError:
        return
    theirs = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.astype(theirs.dtype.newbyteorder("=")).tobytes()
