"""Files of tensors as other libraries write them, and by hand: for the tests of readers."""

from __future__ import annotations

import json
import zipfile

import ml_dtypes
import numpy as np

SHORT = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
DTYPES = [
    *("float64", "float32", "float16", *SHORT, "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
]
SHAPES = [(), (1,), (5,), (0,), (3, 4), (2, 0, 3), (2, 3, 4, 5), (1,) * 32]


def dtype(name):
    return np.dtype(SHORT.get(name, name))


def bits(name, shape, seed=0):
    """An array of a type with random bits: NaN, infinities and subnormals among them."""
    rng = np.random.default_rng(seed)
    if name == "bool":
        return rng.random(shape) < 0.5
    size = dtype(name).itemsize
    raw = np.frombuffer(rng.bytes(size * int(np.prod(shape))), dtype(name))
    return raw.reshape(shape)


def same(found, wanted):
    """Type, shape and every bit."""
    return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def npy(path, tensors):
    (array,) = tensors.values()
    np.save(path, array)


def npz(path, tensors):
    np.savez(path, **tensors)


def safetensors(path, tensors):
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(x).reshape(x.shape) for name, x in tensors.items()}, path)


def torch(path, tensors):
    """By PyTorch, from the bits."""
    import torch as library

    def tensor(x):
        raw = np.ascontiguousarray(x).view(f"int{8 * x.dtype.itemsize}").reshape(x.shape).copy()
        return library.from_numpy(raw).view(getattr(library, x.dtype.name))

    library.save({name: tensor(x) for name, x in tensors.items()}, path)


WRITERS = {"npy": npy, "npz": npz, "safetensors": safetensors, "torch": torch}


def npy_bytes(descr="'<f8'", shape="(2,)", data=b"\0" * 16, fortran="False", header=None, version=1, length=None):
    """A file of numpy.save by hand."""
    text = (header or f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}").encode("latin-1")
    size = (length if length is not None else len(text)).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes((version, 0)) + size + text + data


def safetensors_bytes(header, data=b"", length=None):
    """A file of safetensors by hand; the header as JSON text or as what json makes of it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(start, end, kind="F32", shape=None):
    return {"dtype": kind, "shape": [(end - start) // 4] if shape is None else shape, "data_offsets": [start, end]}


def zip_file(path, members, compression=zipfile.ZIP_STORED, comment=b""):
    """An archive of (name, bytes), names as given and repeated where they repeat."""
    import warnings

    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", compression) as archive:
        warnings.simplefilter("ignore")
        for name, data in members:
            archive.writestr(name, data)
        archive.comment = comment
