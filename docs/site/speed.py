# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The page of speed, with plots, from benchmarks/history: python docs/site/speed.py FOLDER.

Three series of comparable figures, which the page describes. A history file that no longer has them is an
error.
"""

from __future__ import annotations

import pathlib
import re
import sys
from typing import NamedTuple

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

HISTORY = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "history"
KERNELS = ("2026-11-22-h200-integrity.txt", "2026-11-23-h200-nvrtc.txt")
SURVEY = "2026-11-22-h200-survey.txt"
DRIVER = "2026-11-22-driver-memory.txt"

TABLE = re.compile(
    r"(?P<problem>\S+)\s+(?P<order>nd|colamd|amd|natural)\s+tol on\s*\|\s*(?P<gflop>[\d.]+) Gflop.*"
    r"\| factor\s+(?P<factor>[\d.]+) s.*kernels\s+(?P<kernels>[\d.]+) ms"
)
COMMIT = re.compile(r"^(?:== .*?commit |-- )(?P<commit>[0-9a-f]{7})\b(?: and (?P<now>[0-9a-f]{7}))?")
NVRTC = re.compile(r"^\d{4}-\d\d-\d\d,.* commit (?P<commit>[0-9a-f]{7}):")
SURVEYED = re.compile(
    r"^(?P<spec>\S+)@(?P<order>\w+) \| (?P<rows>\d+) x (?P<columns>\d+) \| (?P<gflop>[\d.]+) Gflop "
    r"\| rank (?P<rank>\d+).*factor (?P<factor>[\d.]+) s"
)
PANEL = re.compile(r"^(?P<size>\S+ x \S+)\s+(?P<columns>[\d,]{7,})\s+[\d.]+M\s+\|.*\|.*\| (?P<kept>[\d.]+)\s*\|")

GREY = "#808080"
COLOURS = ("#0b7a75", "#d1495b", "#b88700", "#5b6ee1", "#8f5aa8")


class Run(NamedTuple):
    """One line of a table of the device."""

    commit: str
    problem: str
    kernels: float


def kernel_runs() -> list[Run]:
    """Milliseconds in kernels by commit and problem, in the order of the files."""
    runs: list[Run] = []
    commit = now = ""
    for name in KERNELS:
        for line in (HISTORY / name).read_text().splitlines():
            head = COMMIT.match(line) or NVRTC.match(line)
            if head:
                commit = head["commit"]
                now = head.groupdict().get("now") or now
            elif line == "-- now":
                commit = now
            elif line.startswith("== "):
                commit = ""
            found = TABLE.match(line)
            if found and commit:
                runs.append(Run(commit, f"{found['problem']} @ {found['order']}", float(found["kernels"])))
    return runs


def series(runs: list[Run], least: int) -> tuple[list[str], dict[str, dict[str, float]]]:
    """Commits in order, and the least time of each by problem, of problems with that many commits."""
    commits = list(dict.fromkeys(run.commit for run in runs))
    by: dict[str, dict[str, float]] = {}
    for run in runs:
        times = by.setdefault(run.problem, {})
        times[run.commit] = min(run.kernels, times.get(run.commit, run.kernels))
    chosen = {problem: times for problem, times in by.items() if len(times) >= least}
    used = [c for c in commits if any(c in times for times in chosen.values())]
    return used, chosen


def axes(width: float, height: float) -> tuple[plt.Figure, plt.Axes]:
    """Lines that are seen on a light page and a dark one."""
    figure, ax = plt.subplots(figsize=(width, height))
    figure.patch.set_alpha(0)
    ax.patch.set_alpha(0)
    for spine in ax.spines.values():
        spine.set_color(GREY)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=GREY, which="both")
    ax.xaxis.label.set_color(GREY)
    ax.yaxis.label.set_color(GREY)
    return figure, ax


def save(figure: plt.Figure, path: pathlib.Path) -> None:
    """As a picture of shapes, the same in every build."""
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def legend(ax: plt.Axes) -> None:
    """Below the plot, so that a phone shows it."""
    ax.legend(labelcolor=GREY, frameon=False, fontsize=9, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.24))


def plot_kernels(path: pathlib.Path) -> str:
    """Time in kernels over commits; returns the table."""
    commits, by = series(kernel_runs(), least=5)
    if len(by) < 3:
        raise SystemExit(f"{' and '.join(KERNELS)}: fewer than three problems at five commits")
    figure, ax = axes(6, 3.6)
    for colour, (problem, times) in zip(COLOURS, by.items()):
        at = [k for k, c in enumerate(commits) if c in times]
        ax.plot(at, [times[commits[k]] for k in at], marker="o", markersize=4, color=colour, label=problem)
    ax.set(yscale="log", ylabel="ms in kernels")
    ax.set_xticks(range(len(commits)), commits, rotation=30)
    legend(ax)
    save(figure, path)
    head = "| problem | " + " | ".join(commits) + " |\n|---|" + "---:|" * len(commits)
    rows = [
        f"| {problem} | " + " | ".join(f"{times[c]:.2f}" if c in times else "" for c in commits) + " |"
        for problem, times in by.items()
    ]
    return "\n".join([head, *rows])


def plot_survey(path: pathlib.Path) -> tuple[int, float]:
    """Seconds against flops, problems of full rank; returns how many, and the best rate in Tflop/s."""
    points: dict[str, list[tuple[float, float]]] = {}
    for line in (HISTORY / SURVEY).read_text().splitlines():
        found = SURVEYED.match(line)
        # less work than this is all overhead
        if found and found["rank"] == found["columns"] and float(found["gflop"]) >= 1:
            family = re.sub(r"[\d:x].*|-.*", "", found["spec"])
            points.setdefault(family, []).append((float(found["gflop"]), float(found["factor"])))
    known = sorted(points, key=lambda f: -len(points[f]))[: len(COLOURS)]
    if len(known) < 3:
        raise SystemExit(f"{SURVEY}: too few problems")
    figure, ax = axes(6, 4)
    for colour, family in zip(COLOURS, known):
        ax.scatter(*zip(*points[family]), s=14, color=colour, label=family)
    others = [p for f in points if f not in known for p in points[f]]
    if others:
        ax.scatter(*zip(*others), s=14, color=GREY, label="others")
    every = [p for some in points.values() for p in some]
    low, high = min(p[0] for p in every), max(p[0] for p in every)
    for rate in (0.1, 1, 10):
        ax.plot([low, high], [low / rate / 1e3, high / rate / 1e3], color=GREY, linewidth=0.6)
        ax.annotate(f"{rate:g} Tflop/s", (low, low / rate / 1e3), color=GREY, fontsize=8, va="bottom")
    ax.set(xscale="log", yscale="log", xlabel="Gflop", ylabel="seconds")
    legend(ax)
    save(figure, path)
    return len(every), max(g / s / 1e3 for g, s in every)


def plot_driver(path: pathlib.Path) -> None:
    """Bytes a column that the driver keeps, before and after."""
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    into = None
    for line in (HISTORY / DRIVER).read_text().splitlines():
        if line.startswith("before"):
            into = before
        elif line == "after":
            into = after
        found = PANEL.match(line)
        if found and into is not None:
            into[found["columns"]] = float(found["kept"])
    both = [c for c in before if c in after]
    if len(both) < 3:
        raise SystemExit(f"{DRIVER}: fewer than three panels before and after")
    figure, ax = axes(6, 3)
    for k, (colour, times, label) in enumerate(
        ((COLOURS[1], before, "ce7a838"), (COLOURS[0], after, "9ef7263"))
    ):
        bars = ax.bar([x + 0.4 * k for x in range(len(both))], [times[c] for c in both], 0.38, color=colour, label=label)
        ax.bar_label(bars, fmt="%.0f", color=GREY, fontsize=8)
    ax.set_xticks([x + 0.2 for x in range(len(both))], both)
    ax.set(xlabel="columns", ylabel="bytes a column")
    legend(ax)
    save(figure, path)


PAGE = """# Speed over time

Drawn from [benchmarks/history](benchmarks.md) when the site is built. Measurements are added there by hand, with
commit, machine and command, and never changed. This page compares only figures that are comparable; most seconds in
these files are not, because machines were shared.

## Kernels on one H200

Milliseconds that a factorization spends in kernels, the smallest value of each commit in the files. This is time of the device alone;
the host was not always the same one, but the problems and the kind of device were. The commits add checks of every result, and
the last one a second way of building the kernels.

![Milliseconds in kernels by commit](kernels.svg){{ .plain }}

{kernels}

Files: {kernel_files}.

## Work and time on one H200

{count} factorizations of one survey, by one commit on one device: the problems of full rank with at least 1 Gflop, by kind. Flops are
those that the analysis counts; the lines are rates. The best problem reaches {rate:.1f} Tflop/s; small ones are far from that.

![Seconds by Gflop](survey.svg){{ .plain }}

File: {survey_file}. The device had 16 cores beside it, which two other programs shared.

## The driver's heap

Bytes for each column that Spark's driver keeps after a panel of workers and firms has been solved, counted after a full collection,
so that the load of the machine does not matter. Two commits, the same panels.

![Bytes a column](driver.svg){{ .plain }}

File: {driver_file}.

How to measure: [benchmarks](benchmarks.md).
"""


def main(folder: pathlib.Path) -> None:
    """The page, its plots and its files."""
    files = {}
    for name in (*KERNELS, SURVEY, DRIVER):
        copy = pathlib.PurePosixPath("files/benchmarks/history") / name
        (folder / copy).parent.mkdir(parents=True, exist_ok=True)
        (folder / copy).write_text((HISTORY / name).read_text())
        files[name] = f"[{name}]({copy})"
    plt.rcParams["svg.hashsalt"] = "sparqr"
    kernels = plot_kernels(folder / "kernels.svg")
    count, rate = plot_survey(folder / "survey.svg")
    plot_driver(folder / "driver.svg")
    page = PAGE.format(
        kernels=kernels,
        kernel_files=", ".join(files[name] for name in KERNELS),
        count=count,
        rate=rate,
        survey_file=files[SURVEY],
        driver_file=files[DRIVER],
    )
    (folder / "speed.md").write_text(page)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
