# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Runs the notebooks: python notebooks/run.py [NAME...], by docs/build.sh.

One kernel runs them all, one after the other, so that Spark starts once; each begins without the names of
the one before. They must be committed without outputs, and every assertion in them must hold. What they show goes to
target/notebooks, from where the site takes it.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
import time

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = pathlib.Path(__file__).resolve().parent
MADE = HERE.parent / "target" / "notebooks"
SECONDS = 300


def outputs_of(notebook: nbformat.NotebookNode) -> list[str]:
    """What a committed notebook must not have."""
    return [
        f"cell {k + 1} has outputs: clear them before a commit"
        for k, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None)
    ]


def run(path: pathlib.Path, kernel: KernelManager) -> list[str]:
    """Runs one; returns what is wrong."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    wrong = outputs_of(notebook)
    if not any("assert " in cell.source for cell in notebook.cells if cell.cell_type == "code"):
        wrong.append("asserts nothing")
    if wrong:
        return wrong
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    try:
        NotebookClient(notebook, timeout=SECONDS, km=kernel).execute()
    except CellExecutionError as e:
        return [re.sub(r"\x1b\[[\d;]*m", "", str(e))]
    del notebook.cells[0]
    for cell in notebook.cells:
        # of Spark's JVM: that it has no native libraries, and the like
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
        cell.metadata.pop("execution", None)  # times of day
    MADE.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, MADE / path.name)
    return []


def main(names: list[str]) -> int:
    """All, or those with these names; returns the exit code."""
    source = str(HERE.parent / "python")
    os.environ["PYTHONPATH"] = source
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # short runs: compiled quickly, not well
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    paths = [HERE / f"{name}.ipynb" for name in names] or sorted(HERE.glob("*.ipynb"))
    failed = not paths
    kernel = KernelManager(kernel_name="python3")
    # the files that they read are beside them
    kernel.start_kernel(cwd=str(HERE))
    try:
        for path in paths:
            began = time.monotonic()
            wrong = run(path, kernel)
            print(f"{path.name}: {'; '.join(wrong) or 'right'} ({time.monotonic() - began:.0f} s)", flush=True)
            failed = failed or bool(wrong)
    finally:
        kernel.shutdown_kernel()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
