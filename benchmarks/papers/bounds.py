# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Lines of estimated seconds and their bound from a report of sparqr analyze.    bounds.py NAME REPORT.json"""
import json
import sys


def main(name, report):
    """A line a machine: executors without a device, and with one each."""
    with open(report, encoding="utf-8") as file:
        found = json.load(file)
    for key, kind in (("onProcessors", "CPU executors"), ("onDevices", "H200")):
        for line in found[key]:
            print(
                f"| {name} | {line['executors']} {kind} | {line['estimatedSeconds']:.4g} s | {line['boundSeconds']:.4g} s"
                f" | {line['boundShare']:.2f} |"
            )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
