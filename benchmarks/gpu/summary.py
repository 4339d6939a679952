# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The table of device timings from what DeviceTable and cusolver.py print (JSON lines among others,
standard input): as text to standard output, as one JSON document to the file that is the argument.
Beside ours: SuiteSparseQR's GPU engine and cuSOLVER (this run's), the bar and the goal."""
import json
import sys

# problem, ordering, SuiteSparseQR's GPU engine, first bar, goal; seconds.
SPARSE = [
    ("ch7-8-b3:rand", "nd", 1.63, 0.60, 0.20),
    ("ch7-8-b3:rand", "colamd", 2.01, 0.60, 0.20),
    ("nug20:rand", "nd", 1.84, 0.65, 0.22),
    ("nug20:rand", "colamd", 2.24, 0.65, 0.22),
    ("nug15:rand", "nd", 0.46, 0.12, 0.04),
    ("nug15:rand", "colamd", 0.46, 0.12, 0.04),
    ("cells3d40", "nd", 0.56, 0.12, 0.04),
    ("cells2d500", "nd", 0.67, 0.15, 0.05),
    ("onehot1000000x5000x500x50", "colamd", 0.54, 0.15, 0.05),
]
# problem, first bar, goal; milliseconds of the rounds on the device.
DENSE = [
    ("dense:1024x1024", 1.3, 0.55),
    ("dense:2048x2048", 3.2, 1.5),
    ("dense:4096x4096", 10.0, 5.5),
    ("dense:8192x8192", 55.0, 34.0),
    ("dense:100000x192", 1.5, 0.6),
    ("batch:500x300x150", 1.6, 0.55),
]


def judged(value, bar, goal):
    return "goal" if value <= goal else "bar" if value <= bar else "MISSED"


def number(value, form):
    return "-" if value is None else form % value


measured, cusolver = {}, {}
for line in sys.stdin:
    if not line.startswith("{"):
        continue
    record = json.loads(line)
    if "cusolverMillis" in record:
        cusolver[record["problem"]] = record["cusolverMillis"]
    else:
        key = record["problem"], record["ordering"], record["rankDetection"]
        measured[key] = record

rows = []
head = "%-27s %-7s %9s %7s %6s %9s %9s %8s %8s %6s %6s %8s"
print(head % ("sparse problem", "order", "SPQR s", "bar", "goal", "ours s", "no rank",
              "rounds", "Gflop", "TF/s", "useful", ""))
for problem, ordering, spqr, bar, goal in SPARSE:
    on = measured.get((problem, ordering, True))
    off = measured.get((problem, ordering, False))
    if on is None:
        continue
    seconds = on["factorSeconds"]
    print("%-27s %-7s %9.2f %7.2f %6.2f %9.4f %9s %6.1fms %8.1f %6.1f %5.0f%% %8s" % (
        problem, ordering, spqr, bar, goal, seconds,
        number(off and off["factorSeconds"], "%.4f"), on["kernelMillis"], on["gflop"],
        on["gflopDone"] / on["kernelMillis"], 100 * on["gflop"] / on["gflopDone"],
        judged(seconds, bar, goal)))
    rows.append(dict(on, spqrGpuSeconds=spqr, barSeconds=bar, goalSeconds=goal,
                     factorSecondsNoRankDetection=off and off["factorSeconds"]))
head = "%-27s %12s %7s %6s %9s %9s %8s %6s %6s %8s"
print()
print(head % ("dense fronts", "cuSOLVER ms", "bar", "goal", "ours ms", "no rank", "Gflop", "TF/s",
              "useful", ""))
for problem, bar, goal in DENSE:
    on = measured.get((problem, "natural", True))
    off = measured.get((problem, "natural", False))
    if on is None:
        continue
    millis = on["kernelMillis"]
    print("%-27s %12s %7.2f %6.2f %9.3f %9s %8.2f %6.1f %5.0f%% %8s" % (
        problem, number(cusolver.get(problem), "%.2f"), bar, goal, millis,
        number(off and off["kernelMillis"], "%.3f"), on["gflop"], on["gflopDone"] / millis,
        100 * on["gflop"] / on["gflopDone"], judged(millis, bar, goal)))
    rows.append(dict(on, cusolverMillis=cusolver.get(problem), barMillis=bar, goalMillis=goal))
with open(sys.argv[1], "w", encoding="utf-8") as out:
    json.dump(rows, out, indent=1)
