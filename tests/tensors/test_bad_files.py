"""Bad and hostile files: one error that says what, where and what to do, soon and in little memory."""

from __future__ import annotations

import os
import pickle
import socket
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from samples import no_hang
from tensor_writers import entry, npy_bytes, safetensors_bytes, zip_file

from exactattn.errors import ExactattnError, TensorError
from exactattn.tensors import archive
from exactattn.tensors.files import read_tensors

GOOD = npy_bytes(data=np.ones(2).tobytes())


def refused(path, match, **options):
    """The message; it names the file, has one line, and the whole is short."""
    with no_hang(), pytest.raises(TensorError, match=match) as caught:
        read_tensors(path, **options)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 1500
    return caught.value


NPY = {
    "objects": (npy_bytes("'|O'", data=pickle.dumps([print])), "Python objects, which only pickle reads"),
    "structured": (npy_bytes("[('a', '<f8')]"), "structured type"),
    "text": (npy_bytes("'<U4'"), "found the type '<U4', wanted float64"),
    "complex": (npy_bytes("'<c16'"), "found the type '<c16'"),
    "long double": (npy_bytes("'<f16'"), "found the type '<f16'"),
    "dates": (npy_bytes("'<M8[ns]'"), "found the type"),
    "no byte order": (npy_bytes("'f8'"), "found the type 'f8'"),
    "void of the other byte order": (npy_bytes("'>V2'", "(8,)"), "found the type '>V2'"),
    "large void": (npy_bytes("'|V8'"), "found the type '|V8'"),
    "code for a type": (npy_bytes("__import__('os').system('true')"), "header cannot be read"),
    "code for a shape": (npy_bytes(shape="(2,)*2"), "header cannot be read"),
    "truncated": (GOOD[:-1], r"declares 16 bytes of numbers \(shape \(2,\)\), found 15"),
    "two arrays": (GOOD + GOOD, "more than one array"),
    "no header": (GOOD[:8], "no header"),
    "cut header": (GOOD[:20], "found a header of"),
    "long header": (npy_bytes(version=2, length=2**32 - 1), "found a header of 4294967295 bytes"),
    "endless header": (npy_bytes(header="{" + " " * 60_000), "found a header of 60001 bytes"),
    "deep header": (npy_bytes(header="{'shape': " + "(" * 9000), "header cannot be read"),
    "version": (npy_bytes(version=9), r"format version 9\.0"),
    "negative": (npy_bytes(shape="(-2,)"), r"shape \(-2,\), wanted no negative"),
    "no tuple": (npy_bytes(shape="(2)"), "wanted a tuple"),
    "huge": (npy_bytes(shape="(1000000000000,)"), "declares 8000000000000 bytes of numbers"),
    "32 bits": (npy_bytes(shape="(65536, 65536)", descr="'|i1'"), "declares 4294967296 bytes"),
    "64 bits": (npy_bytes(shape="(4294967296, 4294967296)"), "which no memory holds"),
    "64 bits and none": (npy_bytes(shape="(0, 9000000000000000000)", data=b""), "which no memory holds"),
    "digits": (npy_bytes(shape="(" + "9" * 5000 + ",)"), "wanted a tuple of integers"),
    "axes": (npy_bytes(shape="(" + "1," * 33 + ")", data=b"\0" * 8), "33 axes, wanted at most 32"),
    "key twice": (npy_bytes(header="{'descr': '<f8', 'descr': '<f8', 'shape': ()}"), "header cannot be read"),
    "key more": (
        npy_bytes(header="{'descr': '<f8', 'fortran_order': True, 'shape': (), 'x': ()}"),
        "header cannot be read",
    ),
    "key less": (npy_bytes(header="{'descr': '<f8', 'shape': (2,)}"), "header cannot be read"),
    "rest": (npy_bytes(header="{'descr': '<f8', 'fortran_order': True, 'shape': (2,)} x"), "header cannot be read"),
    "truth": (npy_bytes("'|b1'", data=b"\1\2"), "found the byte 2 as a truth value"),
    "another file": (b"\x89HDF\r\n\x1a\n" + b"\0" * 20, "begins like HDF5"),
    "an archive": (b"PK\x03\x04" + b"\0" * 30, r"begins like \.npz or \.pt or \.pth: name it so"),
    "a pickle": (pickle.dumps([1.0]), "begins like a pickle"),
    "empty": (b"", "the file is empty"),
}

SAFETENSORS = {
    "short": (b"\x08\0\0\0", "begins with"),
    "header past the end": (safetensors_bytes({"q": entry(0, 8)}, b"\0" * 8, 1000), "declares 1000 bytes, found"),
    "header of 2^63": (
        safetensors_bytes({"q": entry(0, 8)}, b"\0" * 8, 2**63),
        "found a header of 9223372036854775808",
    ),
    "cut JSON": (safetensors_bytes(b'{"q": {"dtype": "F32"'), "the header is no JSON"),
    "no UTF-8": (safetensors_bytes(b'{"\xff": 1}'), "the header is no JSON"),
    "deep JSON": (safetensors_bytes(b'{"q":' + b"[" * 100_000), "the header is no JSON"),
    "digits": (safetensors_bytes(b'{"q":' + b"9" * 100_000 + b"}"), "the header is no JSON"),
    "no object": (safetensors_bytes({"q": [1]}), "wanted dtype, shape and data_offsets"),
    "key more": (safetensors_bytes({"q": entry(0, 8) | {"x": 1}}, b"\0" * 8), "and nothing else"),
    "type": (safetensors_bytes({"q": entry(0, 8, "C64", [1])}, b"\0" * 8), "found the type 'C64'"),
    "no type": (safetensors_bytes({"q": entry(0, 8, ["F32"], [1])}, b"\0" * 8), "found the type"),
    "negative": (safetensors_bytes({"q": entry(0, 8, shape=[-2])}, b"\0" * 8), "wanted integers from 0"),
    "fraction": (safetensors_bytes({"q": entry(0, 8, shape=[2.0])}, b"\0" * 8), "wanted integers from 0"),
    "truth as a length": (safetensors_bytes({"q": entry(0, 4, shape=[True])}, b"\0" * 4), "wanted integers from 0"),
    "three offsets": (
        safetensors_bytes({"q": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1, 2]}}, b"\0\0"),
        "two as data_offsets",
    ),
    "lie": (
        safetensors_bytes({"q": entry(0, 8, shape=[3])}, b"\0" * 8),
        r"need 12 bytes, data_offsets \[0, 8\] hold 8",
    ),
    "backwards": (safetensors_bytes({"q": entry(8, 0, shape=[2])}, b"\0" * 8), "hold -8"),
    "64 bits": (safetensors_bytes({"q": entry(0, 0, shape=[2**32, 2**32])}), "which no memory holds"),
    "more than 64 bits": (safetensors_bytes({"q": entry(0, 0, shape=[2**64, 1])}), "wanted integers from 0"),
    "64 bits of offsets": (
        safetensors_bytes({"q": entry(0, 2**62, shape=[2**60])}, b"\0" * 8),
        "and 8 bytes are there",
    ),
    "axes": (safetensors_bytes({"q": entry(0, 4, shape=[1] * 1000)}, b"\0" * 4), "1000 axes"),
    "overlap": (safetensors_bytes({"q": entry(0, 8), "k": entry(4, 12)}, b"\0" * 12), "tensor 'k': .* overlaps"),
    "same place": (safetensors_bytes({"q": entry(0, 8), "k": entry(0, 8)}, b"\0" * 8), "overlaps"),
    "gap": (safetensors_bytes({"q": entry(0, 4), "k": entry(8, 12)}, b"\0" * 12), "leaves a gap"),
    "late start": (safetensors_bytes({"q": entry(4, 8)}, b"\0" * 8), "leaves a gap"),
    "rest": (safetensors_bytes({"q": entry(0, 8)}, b"\0" * 9), "1 bytes behind the last tensor"),
    "truncated": (safetensors_bytes({"q": entry(0, 8)}, b"\0" * 7), "ends at byte 8, and 7 bytes are there"),
    "name twice": (
        safetensors_bytes(b'{"q":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"q":1}', b"\0"),
        "the name 'q' twice",
    ),
    "no name": (safetensors_bytes({"": entry(0, 8)}, b"\0" * 8), "found a tensor named ''"),
    "escape": (safetensors_bytes({"\x1b[2J": entry(0, 8)}, b"\0" * 8), r"named '\\x1b\[2J'"),
    "bidi": (safetensors_bytes({"a\u202eb": entry(0, 8)}, b"\0" * 8), r"named 'a\\u202eb'"),
    "half a character": (safetensors_bytes(b'{"\\ud800":{}}'), r"named '\\ud800'"),
    "long name": (safetensors_bytes({"q" * 5000: entry(0, 8)}, b"\0" * 8), "wanted 1 to 500"),
    "no tensor": (safetensors_bytes({"__metadata__": {"a": "b"}}), "holds no tensor"),
    "truth": (safetensors_bytes({"q": entry(0, 2, "BOOL", [2])}, b"\1\xff"), "found the byte 255"),
}


@pytest.mark.parametrize("name", NPY)
def test_bad_npy(name, tmp_path):
    data, message = NPY[name]
    (tmp_path / "q.npy").write_bytes(data)
    refused(tmp_path / "q.npy", message)


@pytest.mark.parametrize(
    "name", [name for name in NPY if name not in ("another file", "an archive", "a pickle", "empty")]
)
def test_bad_members_of_an_archive(name, tmp_path):
    data, message = NPY[name]
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        zip_file(tmp_path / "x.npz", [("k.npy", GOOD), ("q.npy", data)], compression)
        assert refused(tmp_path / "x.npz", message).tensor == "q"


@pytest.mark.parametrize("name", SAFETENSORS)
def test_bad_safetensors(name, tmp_path):
    """The package of that name refuses them too, but for what it lets go: names, a repeated name, and no tensor."""
    data, message = SAFETENSORS[name]
    (tmp_path / "x.safetensors").write_bytes(data)
    refused(tmp_path / "x.safetensors", message)
    from safetensors import SafetensorError, deserialize

    lets_go = ("no tensor", "escape", "bidi", "long name", "no name", "truth", "type", "key more", "name twice", "axes")
    if name not in lets_go:
        with pytest.raises(SafetensorError):
            deserialize(data)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("q.npy", GOOD), ("q.npy", GOOD)], "tensor 'q.npy': found two members"),
        ([("q", GOOD)], "this member is no array"),
        ([("q.npy", GOOD), ("readme.txt", b"")], "tensor 'readme.txt': this member is no array"),
        ([("../q.npy", GOOD)], "leads out of the archive"),
        ([("a/../../q.npy", GOOD)], "leads out of the archive"),
        ([("/etc/q.npy", GOOD)], "leads out of the archive"),
        ([("a\\q.npy", GOOD)], "leads out of the archive"),
        ([("a/", b"")], "or a folder"),
        ([("a\nq.npy", GOOD)], r"named 'a\\nq.npy'"),
        ([(".npy", GOOD)], "found a tensor named ''"),
        ([("x/data.pkl", b""), ("x/data/0", b"")], "name it .pt"),
        ([], "the file begins with"),
    ],
)
def test_bad_archives(members, message, tmp_path):
    zip_file(tmp_path / "x.npz", members)
    refused(tmp_path / "x.npz", message)


def patch(path, signature, offset, data):
    """Bytes behind the last occurrence of a signature of the archive, replaced."""
    whole = bytearray(path.read_bytes())
    place = whole.rindex(signature) + offset
    whole[place : place + len(data)] = data
    path.write_bytes(whole)


LIST = b"PK\x01\x02"  # an entry of the list of members
PATCHES = {
    "checksum": (LIST, 16, b"\0\0\0\0", "checksum"),
    "encrypted": (LIST, 8, b"\1\0", "encrypted"),
    "method": (LIST, 10, b"\x0c\0", "compression method 12"),
    "packed size": (LIST, 20, struct.pack("<I", 10**9), "declares 1000000000 bytes, found"),
    "unpacked size": (LIST, 24, struct.pack("<I", 10**6), "declares"),
    "place": (LIST, 42, struct.pack("<I", 7), "no such member where its list says"),
    "place past the end": (LIST, 42, struct.pack("<I", 10**9), "no such member|cannot be read"),
    "size of the list": (b"PK\x05\x06", 12, struct.pack("<I", 10**9), "cannot be read"),
    "place of the list": (b"PK\x05\x06", 16, struct.pack("<I", 10**9), "no such member|cannot be read"),
}


@pytest.mark.parametrize("name", PATCHES)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_lists_of_members_that_lie(name, compression, tmp_path):
    signature, offset, data, message = PATCHES[name]
    path = tmp_path / "x.npz"
    zip_file(path, [("q.npy", GOOD)], compression)
    patch(path, signature, offset, data)
    refused(path, message)


def test_archives_cut_short_or_with_more_behind_them(tmp_path):
    path = tmp_path / "x.npz"
    zip_file(path, [("q.npy", GOOD)])
    good = path.read_bytes()
    for data in (good[:-1], good[: len(good) // 2], good + b"\0"):
        path.write_bytes(data)
        refused(path, "does not end with its list of members")
    zip_file(path, [("q.npy", GOOD)], comment=b"hello")
    refused(path, "an archive with a comment is not read")


def test_bombs(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    bomb = npy_bytes("'|i1'", "(100000000,)", bytes(10**8))
    zip_file(path, [("q.npy", bomb)], zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 10**6
    refused(path, "more than 100 times as many .*save it without compression")
    zip_file(path, [("q.npy", npy_bytes("'|i1'", "(1000000,)", bytes(10**6)))], zipfile.ZIP_DEFLATED)
    assert read_tensors(path)["q"].shape == (10**6,)  # a mask of zeros is no bomb
    refused(path, "wanted at most 100000", most=100_000)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    zip_file(path, [(f"{i}.npy", GOOD) for i in range(4)])
    refused(path, "4 members")
    monkeypatch.setattr(archive, "MOST_DIRECTORY", 100)
    refused(path, "cannot be read: it has more than 100 bytes")


def test_members_that_share_their_bytes_count_each_time(tmp_path):
    """A list of members that names the same bytes again and again."""
    path = tmp_path / "x.npz"
    array = npy_bytes("'|i1'", "(1000000,)", os.urandom(10**6))
    zip_file(path, [("0.npy", array)])
    whole = path.read_bytes()
    start = whole.rindex(LIST)
    one, end = whole[start : whole.rindex(b"PK\x05\x06")], whole[whole.rindex(b"PK\x05\x06") :]
    many = b"".join(one[:46] + b"%04d.npy" % i + one[46 + 5 :] for i in range(500))
    many = many.replace(b"\x05\0\0\0\0\0\0\0\0\0", b"\x08\0\0\0\0\0\0\0\0\0")  # the length of the name
    many = b"".join(entry[:28] + b"\x08\0" + entry[30:] for entry in split(many, len(many) // 500))
    end = end[:8] + struct.pack("<HHII", 500, 500, len(many), start) + end[20:]
    path.write_bytes(whole[:start] + many + end)
    refused(path, "more than 100 times as many")


def split(data, size):
    return [data[i : i + size] for i in range(0, len(data), size)]


def test_compressed_bytes_that_are_damaged_or_lie(tmp_path):
    path = tmp_path / "x.npz"
    zip_file(path, [("q.npy", GOOD)], zipfile.ZIP_DEFLATED)
    whole = bytearray(path.read_bytes())
    for place in range(35, whole.rindex(LIST)):
        damaged = whole.copy()
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        refused(path, "tensor 'q.npy': .*(damaged|more or fewer|checksum)")
    path.write_bytes(whole)
    patch(path, LIST, 24, struct.pack("<I", len(GOOD) - 8))
    patch(path, LIST, 16, struct.pack("<I", zlib.crc32(GOOD[:-8])))
    refused(path, "holds more or fewer")


def test_places_that_are_no_files(tmp_path):
    refused(tmp_path, "this is a directory")
    refused(tmp_path / "none.npy", "there is no such file")
    (tmp_path / "query.npy").write_bytes(GOOD)
    refused(tmp_path / "qeury.npy", "did you mean .*query.npy")
    refused(tmp_path, "name a file in it, for example 'query.npy'")
    refused(tmp_path / "query.npy" / "x.npy", "cannot be read: Not a directory")
    refused("bad\0name.npy", r"bad\\x00name.npy: the file cannot be read")
    refused(tmp_path / ("x" * 300 + ".npy"), "cannot be read: File name too long")
    (tmp_path / "ring.npy").symlink_to(tmp_path / "ring.npy")
    refused(tmp_path / "ring.npy", "cannot be read")
    os.mkfifo(tmp_path / "pipe.npy")
    refused(tmp_path / "pipe.npy", "this is a pipe")
    refused("/dev/zero", "this is a device")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.npy"))
        refused(tmp_path / "s.npy", "this is a socket")


def test_names_that_cannot_be_shown(tmp_path):
    for name in (b"q\xff.npy", b"q\x1b[2J.npy"):
        path = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(GOOD)
        refused(path, "wanted 1 to 500 printable characters")


def test_files_outside_the_folder_are_not_read(tmp_path):
    inside = tmp_path / "case"
    inside.mkdir()
    (tmp_path / "secret.npy").write_bytes(GOOD)
    (inside / "q.npy").symlink_to(tmp_path / "secret.npy")
    (inside / "up").symlink_to(tmp_path)
    for path in (inside / "q.npy", inside / "up" / "secret.npy", inside / ".." / "secret.npy", tmp_path / "secret.npy"):
        refused(path, "outside the folder", inside=inside)
    assert "secret" not in str(refused(inside / ".." / "secre.npy", "outside the folder", inside=inside).hint)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "q.npy"
    path.write_bytes(GOOD)

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)  # the tests may run as root, who may read everything
    refused(path, "cannot be read: Permission denied")


def test_a_file_that_becomes_shorter_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "q.npy"
    path.write_bytes(GOOD)
    real = os.fstat

    class Longer:
        def __init__(self, status):
            self.st_mode, self.st_size = status.st_mode, status.st_size + 50

    monkeypatch.setattr(os, "fstat", lambda fd: Longer(real(fd)))
    assert read_tensors(path)["q"].tolist() == [1, 1]
    monkeypatch.setattr("exactattn.tensors.source.MAPPED_FROM", 1)
    refused(path, "cannot be read")


@pytest.mark.parametrize("suffix", ["", ".txt", ".csv", ".npy.gz", ".bin"])
def test_other_suffixes(suffix, tmp_path):
    path = tmp_path / f"q{suffix}"
    path.write_bytes(GOOD)
    refused(path, r"wanted one of \.npy, \.npz, \.pt, \.pth, \.safetensors .*begins like \.npy: name it so")


def test_names_that_lie_about_the_format(tmp_path):
    for suffix in (".npz", ".safetensors", ".pt"):
        path = tmp_path / f"q{suffix}"
        path.write_bytes(GOOD)
        refused(path, f"the name ends with {suffix}, .*begins like .npy: name it so")
    (tmp_path / "q.NPY").write_bytes(GOOD)
    assert list(read_tensors(tmp_path / "q.NPY")) == ["q"]
    (tmp_path / "q.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    refused(tmp_path / "q.safetensors", "git lfs pull")


def test_memory_that_is_not_there(tmp_path, monkeypatch):
    (tmp_path / "q.npy").write_bytes(GOOD)

    def full(*_):
        raise MemoryError

    monkeypatch.setattr("exactattn.tensors.npy.array_over", full)
    refused(tmp_path / "q.npy", "not enough memory")


class Bad:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Bad(os.system, "true"), "wants to make 'posix system'"),
        (Bad(bytearray, 2**40), "wants to make '__builtin__ bytearray'"),
        (Bad(eval, "1"), "wants to make '__builtin__ eval'"),
        (np.ones(2), "wants to make"),
    ],
)
def test_files_of_torch_that_would_run_code(value, message, tmp_path):
    """Refused before PyTorch is imported."""
    zip_file(tmp_path / "x.pt", [("x/data.pkl", pickle.dumps({"q": value}, 2)), ("x/version", b"3\n")])
    refused(tmp_path / "x.pt", message)
    zip_file(tmp_path / "x.pt", [("x/data.pkl", pickle.dumps({"q": value}, 4)), ("x/version", b"3\n")])
    refused(tmp_path / "x.pt", "wants to make 'STACK_GLOBAL'")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("q.npy", GOOD)], "name it .npz"),
        ([("x/data.pkl", b""), ("y/data.pkl", b"")], "no file of torch.save"),
        ([("x/data.pkl", b"\x80\x02}q")], "list of tensors is damaged"),
        ([("x/data.pkl", b"\x80\x02X\xff\xff\xff\xff")], "list of tensors is damaged"),
    ],
)
def test_files_that_are_none_of_torch(members, message, tmp_path):
    zip_file(tmp_path / "x.pt", members)
    refused(tmp_path / "x.pt", message)
    zip_file(tmp_path / "x.pt", [("x/data.pkl", b"}."), ("x/data/0", b"0")], zipfile.ZIP_DEFLATED)
    refused(tmp_path / "x.pt", "is compressed")


DICT = b"ccollections\nOrderedDict\nq\1"
MANY = b"".join(b"M" + struct.pack("<H", i) + b"N" for i in range(20_000))


@pytest.mark.parametrize(
    ("pickled", "message"),
    [
        (b"}q\0(" + MANY + b"u" + DICT + b"h\1h\0\x85R" * 20_000, "wants to make 'collections OrderedDict'"),
        (b"}q\0(" + MANY + b"u" + DICT + b")R" + b"h\0b" * 20_000, "wants to make 'BUILD'"),
        (b"ctorch.storage\nUntypedStorage\nJ\0\0\0\x7f\x85R", "wants to make 'torch.storage UntypedStorage'"),
        (b"NJ\0\0\0\x7f\x85R", "wants to make 'REDUCE'"),
        (b"h\7", "damaged"),
        (b"u", "damaged"),
        (b"R", "damaged"),
    ],
)
def test_pickles_that_copy_or_allocate_without_end(pickled, message, tmp_path):
    """The first takes PyTorch 2.13.0 minutes; refused before PyTorch is imported."""
    zip_file(tmp_path / "x.pt", [("x/data.pkl", b"\x80\x02" + pickled + b"."), ("x/version", b"3\n")])
    refused(tmp_path / "x.pt", message)


def test_lies_are_found_before_memory_is_taken(tmp_path):
    zip_file(tmp_path / "x.npz", [("q.npy", GOOD)], zipfile.ZIP_DEFLATED)
    patch(tmp_path / "x.npz", LIST, 24, struct.pack("<I", 2**32 - 2))
    (tmp_path / "q.npy").write_bytes(NPY["huge"][0])
    (tmp_path / "x.safetensors").write_bytes(SAFETENSORS["64 bits of offsets"][0])
    for name in ("x.npz", "q.npy", "x.safetensors"):
        tracemalloc.start()
        try:
            refused(tmp_path / name, "declare|are there")
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
        finally:
            tracemalloc.stop()


def test_every_error_is_of_the_project():
    assert issubclass(TensorError, ExactattnError)
    error = TensorError("x.npz", "found that", "q", "do this")
    assert (error.path, error.message, error.tensor, error.hint) == ("x.npz", "found that", "q", "do this")
    assert str(error) == "x.npz: tensor 'q': found that (do this)"
