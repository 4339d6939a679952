# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Writes this folder's files with SciPy and NumPy: one matrix in every format, and its entries as text.

    python formats.py FOLDER        (made with SciPy 1.17.1, NumPy 2.4.6)
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
random = np.random.default_rng(43)

a = sp.random_array((7, 5), density=0.5, rng=random, format="csr")
a.data = np.round(1000 * (a.data - 0.5)) / 8
a[6, 4] = 1 / 3
a = sp.csr_array(a)
a.sort_indices()
s = a.T @ a
s = sp.csr_array((s + s.T) / 2)
b = np.column_stack([np.arange(7) / 3, -np.arange(7.0) ** 2])


def entries(name, m):
    """A line 'row column value' for each entry that is not zero, with all digits."""
    m = sp.coo_array(m)
    m.sum_duplicates()
    order = np.lexsort((m.col, m.row))
    lines = [f"{m.shape[0]} {m.shape[1]} {int((m.data != 0).sum())}"]
    lines += [f"{m.row[k]} {m.col[k]} {float(m.data[k])!r}" for k in order if m.data[k] != 0]
    (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


entries("a", a)
entries("s", s)
entries("b", b)
whole = sp.csr_array(np.round(a.toarray()))
entries("i", whole)

sp.save_npz(folder / "a.csr.npz", sp.csr_array(a))
sp.save_npz(folder / "a.csc.npz", sp.csc_matrix(a))
sp.save_npz(folder / "a.coo.npz", sp.coo_array(a), compressed=False)
sp.save_npz(folder / "i.int16.npz", sp.csr_array(whole.astype(np.int16)))
sp.save_npz(folder / "dia.npz", sp.dia_array(a))
np.save(folder / "a.npy", a.toarray())
np.save(folder / "a.fortran.npy", np.asfortranarray(a.toarray()))
np.save(folder / "a.big.npy", a.toarray().astype(">f8"))
np.save(folder / "i.int8.npy", whole.toarray().astype(np.int8))
np.save(folder / "i.float16.npy", whole.toarray().astype(np.float16))
np.savez(folder / "a.dense.npz", matrix=a.toarray())
np.save(folder / "b.npy", b)
np.save(folder / "complex.npy", a.toarray() * 1j)
np.save(folder / "objects.npy", np.array([{"a": 1}, 2], dtype=object), allow_pickle=True)

for name, packed in ("", False), (".packed", True):
    scipy.io.savemat(folder / f"a{name}.mat", {"A": sp.csc_array(a)}, do_compression=packed)
    scipy.io.savemat(folder / f"a.full{name}.mat", {"M": a.toarray()}, do_compression=packed)
scipy.io.savemat(folder / "i.int.mat", {"I": whole.toarray().astype(np.int16)})
problem = {"title": "of the SuiteSparse collection", "A": sp.csc_array(a), "Zeros": sp.csc_array((7, 5)), "b": b, "id": 7}
scipy.io.savemat(folder / "problem.mat", {"Problem": problem, "note": "text"}, do_compression=True)
scipy.io.savemat(folder / "several.mat", {"X": sp.csc_array(a), "Y": sp.csc_array(s), "z": 1j * a.toarray()})
scipy.io.savemat(folder / "old.mat", {"A": a.toarray()}, format="4")

scipy.io.hb_write(folder / "a.hb", sp.csc_matrix(a))

for name, m, symmetry in ("a", a, "general"), ("s", s, "symmetric"):
    scipy.io.mmwrite(folder / f"{name}.mtx", sp.coo_array(m), symmetry=symmetry, precision=17)
np.savetxt(folder / "b.dat", b, fmt="%.17g")
np.savetxt(folder / "b.csv", b, fmt="%.17g", delimiter=",", header="first,second", comments="")


def boeing(name, m, kind, per_line, width, digits):
    """Rutherford-Boeing: four lines, then pointers, rows and values in fixed fields without blanks between."""
    m = sp.csc_array(m)
    m.sort_indices()

    def lines(fields, count):
        return ["".join(fields[k : k + count]) for k in range(0, len(fields), count)]

    pointers = lines([f"{p + 1:4d}" for p in m.indptr], 20)
    rows = lines([f"{r + 1:3d}" for r in m.indices], 26)
    values = lines([f"{v:{width}.{digits}E}" for v in m.data], per_line) if kind[0] != "p" else []
    text = [
        f"{'made by formats.py':72s}{name:8s}",
        f"{len(pointers) + len(rows) + len(values):14d} {len(pointers):13d} {len(rows):13d} {len(values):13d}",
        f"{kind:3s}{'':11s} {m.shape[0]:13d} {m.shape[1]:13d} {m.nnz:13d} {0:13d}",
        f"{'(20I4)':16s}{'(26I3)':16s}{f'({per_line}E{width}.{digits})' if values else '':20s}",
    ]
    (folder / f"{name}.rb").write_text("\n".join(text + pointers + rows + values) + "\n")


# 23 characters hold a sign, 17 digits and the exponent: negative numbers touch their neighbours.
boeing("a", a, "rua" if a.shape[0] == a.shape[1] else "rra", 3, 23, 16)
boeing("s", sp.tril(s), "rsa", 3, 23, 16)
boeing("p", (a != 0).astype(float), "pra", 0, 0, 0)
entries("p", (a != 0).astype(float))
