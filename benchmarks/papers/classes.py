# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Table V of the paper on sparse QR from lines of DeviceTable with -Dtable.choice=true, or from a table
of a history file that has its columns: speed-up of the device over the CPU by arithmetic intensity.

    classes.py FILE...        Lines: [choice] | problem | flops / byte | Gflop | CPU s | device s | ratio |
"""
import re
import statistics
import sys

# Low and high end of a class, and the paper's number of matrices, least, median and largest speed-up.
CLASSES = [
    (10, 30, 136, 0.5, 2.1, 8.1),
    (30, 100, 152, 0.7, 3.8, 10.6),
    (100, 300, 162, 1.3, 5.2, 10.6),
    (300, float("inf"), 64, 2.3, 5.1, 11.4),
]
LINE = re.compile(r"^(?:choice )?\|? ?([^|]+?) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) ?\|?$")


def comparisons(names):
    """Flops a byte, Gflop, and the CPU's and the device's seconds of each problem; of one that is there twice its last line."""
    found = {}
    for name in names:
        with open(name, encoding="utf-8") as lines:
            for line in lines:
                match = LINE.match(line.strip())
                if match:
                    intensity, gflop, cpu, device, _ = map(float, match.groups()[1:])
                    found[match.group(1)] = intensity, gflop, cpu, device
    return found


def main(names):
    """Prints the table."""
    found = {
        name: (intensity, cpu / device)
        for name, (intensity, _, cpu, device) in comparisons(names).items()
        if device > 0
    }
    if not found:
        sys.exit("classes.py: no line of a comparison in " + ", ".join(names))
    below = [s for i, s in found.values() if i < CLASSES[0][0]]
    print(f"{len(found)} problems, {len(below)} of them below {CLASSES[0][0]} flops a byte")
    print("| flops a byte | paper: matrices | least | median | largest | here: problems | least | median | largest |")
    print("|---|---|---|---|---|---|---|---|---|")
    for low, high, count, *paper in CLASSES:
        ours = [s for i, s in found.values() if low <= i < high]
        here = (
            f"{len(ours)} | {min(ours):.1f} | {statistics.median(ours):.1f} | {max(ours):.1f}"
            if ours
            else "0 | - | - | -"
        )
        name = f"{low} to {high}" if high < float("inf") else f"{low} and more"
        print(f"| {name} | {count} | " + " | ".join(f"{p:.1f}" for p in paper) + f" | {here} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
