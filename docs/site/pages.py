# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Stages the site's pages in target/docs: the docs as they are, the notebooks as they ran, plots, Javadoc.

Links out of the docs go to copies of what they name, as text; one that names nothing is an error.
"""

from __future__ import annotations

import base64
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
HOME = HERE.parents[1]
STAGED = HOME / "target" / "docs"
RAN = HOME / "target" / "notebooks"

# Pages that are not under docs, or have another name there.
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "python/README.md": "python.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/RESULTS.md": "results.md",
    "docs/site/python.md": "api/python.md",
    "docs/site/java.md": "api/java.md",
}

# Javadoc is made after the pages, and mkdocs checks links to it.
MADE = ("../java/", "../python.md")

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"\s*([-*+]|\d+\.) ")


def staged_names() -> dict[str, str]:
    """Pages by their path in the repository: where they are in the site."""
    names = dict(ELSEWHERE)
    for path in sorted((HOME / "docs").rglob("*.md")):
        inside = path.relative_to(HOME / "docs")
        if inside.parts[0] != "site":
            names[f"docs/{inside.as_posix()}"] = inside.as_posix()
    return names


class Stager:
    """Copies pages and what they link to."""

    def __init__(self) -> None:
        self.names = staged_names()
        self.wrong: list[str] = []

    def page(self, source: str) -> None:
        """One page."""
        target = STAGED / self.names[source]
        target.parent.mkdir(parents=True, exist_ok=True)
        lines, code = [], False
        before = ""
        for line in (HOME / source).read_text().splitlines():
            if FENCE.match(line):
                code = not code
            elif not code:
                line = LINK.sub(lambda m: self.link(source, m), line)
                # as GitHub has it, a list needs no empty line above
                if ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith(" "):
                    lines.append("")
            lines.append(line)
            before = line
        target.write_text("\n".join(lines) + "\n")

    def link(self, source: str, match: re.Match[str]) -> str:
        """A link, as it leads from the staged page."""
        text, where = match.groups()
        path, hash_, anchor = where.partition("#")
        if not path or re.match(r"[a-z]+:", where) or (source.startswith("docs/site/") and where.startswith(MADE)):
            return match.group(0)
        named = os.path.normpath(pathlib.PurePosixPath(source).parent / path)
        folder = pathlib.PurePosixPath(self.names[source]).parent
        if named in self.names:
            return f"{text}({os.path.relpath(self.names[named], folder)}{hash_}{anchor})"
        file = HOME / named
        if file.is_dir():
            return text[1:-1]
        if not file.is_file() or named.startswith(".."):
            self.wrong.append(f"{source}: {where} leads nowhere")
            return match.group(0)
        # a browser shows text, and would store .java or .cuh
        copy = f"files/{named}" if named.endswith((".csv", ".txt")) else f"files/{named}.txt"
        (STAGED / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, STAGED / copy)
        return f"{text}({os.path.relpath(copy, folder)})"


def block(text: str, language: str) -> str:
    """Text that is shown as it is, whatever is in it."""
    longest = max((len(ticks) for ticks in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def shown(output: Any, name: str) -> str:
    """What a cell shows, as Markdown; name is that of its picture, if it is one."""
    if output.output_type == "stream":
        text = output.text
    elif "image/png" in output.data:
        (STAGED / "notebooks" / name).write_bytes(base64.b64decode(output.data["image/png"]))
        return f"![plot]({name})"
    elif "text/html" in output.data:
        # one line: Markdown would end the block at an empty one
        html = re.sub(r"<style.*?</style>", "", output.data["text/html"], flags=re.DOTALL)
        return f'<div class="dataframe">{" ".join(html.split())}</div>'
    else:
        text = output.data["text/plain"]
    return f'<div class="output" markdown>\n\n{block(text.rstrip(), "text")}\n\n</div>'


def joined(outputs: list[Any]) -> list[Any]:
    """Outputs, what was printed in pieces in one."""
    found: list[Any] = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream":
            found[-1].text += output.text
        elif output.output_type == "stream" or not str(output.data.get("text/plain")).startswith("<matplotlib."):
            found.append(output)
    return found


def notebook(path: pathlib.Path) -> None:
    """A notebook that was run, as a page with its pictures."""
    import nbformat

    folder = STAGED / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for k, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(block(cell.source, "python"))
        parts += [shown(o, f"{path.stem}-{k}-{i}.png") for i, o in enumerate(joined(cell.outputs))]
    name = f"{path.stem}.ipynb"
    shutil.copyfile(HOME / "notebooks" / name, folder / name)
    parts.append(f"[This notebook]({name}){{ download }}")
    (folder / f"{path.stem}.md").write_text("\n\n".join(parts) + "\n")


# What the page of speed draws, above the tables of results.
PLOTS = """
![Milliseconds in kernels by commit](kernels.svg){ .plain }

![Seconds by Gflop](survey.svg){ .plain }

What these two show, and a third: [speed over time](speed.md).
"""


def plots_first(page: pathlib.Path) -> None:
    """Puts the plots under a page's title."""
    title, rest = page.read_text().split("\n", 1)
    page.write_text(f"{title}\n{PLOTS}{rest}")


def main() -> int:
    """Everything; returns the exit code."""
    shutil.rmtree(STAGED, ignore_errors=True)
    STAGED.mkdir(parents=True)
    javadoc = subprocess.Popen([str(HERE / "java.sh"), str(STAGED / "java")])
    stager = Stager()
    for source in stager.names:
        stager.page(source)
    expected = {p.name for p in (HOME / "notebooks").glob("*.ipynb")}
    ran = sorted(p for p in RAN.glob("*.ipynb") if p.name in expected)
    if {p.name for p in ran} != expected:
        stager.wrong.append(f"not all notebooks were run: {', '.join(sorted(expected - {p.name for p in ran}))}")
    for path in ran:
        notebook(path)
    subprocess.run([sys.executable, str(HERE / "speed.py"), str(STAGED)], check=True)
    plots_first(STAGED / "results.md")
    shutil.copyfile(HERE / "site.css", STAGED / "site.css")
    if javadoc.wait():
        stager.wrong.append("no Javadoc")
    for line in stager.wrong:
        print(line, file=sys.stderr)
    return 1 if stager.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
