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
WIDGET = "application/vnd.jupyter.widget-view+json"
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
        # of Spark's JVM: that it has no native libraries, and the like; and bars, which live in a kernel
        if cell.cell_type == "code":
            outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
            cell.outputs = [o for o in outputs if WIDGET not in o.get("data", {})]
        cell.metadata.pop("execution", None)  # times of day
    MADE.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, MADE / path.name)
    return []


# A solve in a notebook, by itself: it shows a bar without being asked to, here at once.
BAR = """
import sparqr
from sparqr import _progress
_progress._QUIET, _progress._LOOK = 0.0, 0.005
spark = sparqr.session("local[2]")
sparqr.factorize("gen:cells2d60").close()
"""


def bar(kernel: KernelManager) -> list[str]:
    """Solves in a notebook, and looks for the progress bar in what the cell shows; returns what is wrong."""
    cell = nbformat.v4.new_code_cell(BAR)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    client = NotebookClient(notebook, timeout=SECONDS, km=kernel, store_widget_state=True)
    try:
        client.execute()
    except CellExecutionError as e:
        return [re.sub(r"\x1b\[[\d;]*m", "", str(e))]
    shown = [o for o in cell.outputs if WIDGET in o.get("data", {})]
    states = notebook.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})
    models = [m["model_name"] for m in states.get("state", {}).values()]
    if len(shown) != 1 or "FloatProgressModel" not in models:
        return [f"no progress bar, but {[o.get('output_type') for o in cell.outputs]} of {models}"]
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
        wrong = bar(kernel)
        print(f"progress in a notebook: {'; '.join(wrong) or 'a bar'}", flush=True)
        failed = failed or bool(wrong)
    finally:
        kernel.shutdown_kernel()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
