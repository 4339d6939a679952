# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""How often AUTO's choice between CPU and device is right, by lines of DeviceTable with -Dtable.choice=true.

    choice_regret.py FILE...       Lines: [choice] | problem | flops / byte | Gflop | CPU s | device s | ratio |

A choice is right if it takes less than 1.2 times what the better one does, or less than 1 ms more. For a device that
stays open, and for one that has to be opened first; the time of opening is not in the lines. CrossoverTest compares
the numbers below with those of Crossover.java.
"""
import sys

from classes import comparisons

INTENSITY = 5.0
FLOPS = 1e9
OPEN_FLOPS = 1e7
REGRET = 0.2
SECONDS = 1e-3


def regret(problem, least):
    """Seconds lost by the rule with this threshold of flops, and those of the better side."""
    intensity, gflop, cpu, device = problem
    chosen = device if intensity >= INTENSITY and 1e9 * gflop >= least else cpu
    better = min(cpu, device)
    return chosen - better, better


def main(names):
    """Prints a line for each kind of device, and the problems on which the rule is wrong."""
    found = comparisons(names)
    if not found:
        sys.exit("choice_regret.py: no line of a comparison in " + ", ".join(names))
    for kind, least in (("stays open", OPEN_FLOPS), ("has to be opened", FLOPS)):
        lost = {name: regret(problem, least) for name, problem in found.items()}
        wrong = [name for name, (s, better) in lost.items() if s > REGRET * better]
        far = [name for name in wrong if lost[name][0] >= SECONDS]
        n = len(found)
        print(
            f"device {kind}, from {INTENSITY:.0f} flops a byte and {least:.0e} flops on: right on {n - len(wrong)} of {n}"
            f" ({(n - len(wrong)) / n:.1%}), or within {1e3 * SECONDS:.0f} ms on {n - len(far)} ({(n - len(far)) / n:.1%})"
        )
        for name in sorted(wrong, key=lambda name: -lost[name][0]):
            intensity, gflop, cpu, device = found[name]
            print(
                f"  {name}: {intensity} flops a byte, {gflop:.3f} Gflop, CPU {1e3 * cpu:.1f} ms,"
                f" device {1e3 * device:.1f} ms, lost {1e3 * lost[name][0]:.1f} ms"
            )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
