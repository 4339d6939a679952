# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""cuSOLVER's dgeqrf on the dense fronts of the table, device-resident, median of 7, in ms."""
import json
import statistics
import sys

import cupy
from cupy_backends.cuda.libs import cusolver
from cupy.cuda import device


def geqrf(m, n):
    handle = device.get_cusolver_handle()
    source = cupy.random.uniform(-1, 1, (n, m))  # column-major m x n
    tau = cupy.empty(min(m, n))
    info = cupy.empty(1, dtype="i")
    size = cusolver.dgeqrf_bufferSize(handle, m, n, source.data.ptr, m)
    work = cupy.empty(size)
    times = []
    for _ in range(8):
        a = source.copy()
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        cusolver.dgeqrf(handle, m, n, a.data.ptr, m, tau.data.ptr, work.data.ptr, size, info.data.ptr)
        stop.record()
        stop.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, stop))
    return statistics.median(times[1:])


for spec in sys.argv[1:]:
    m, n = map(int, spec.split("x"))
    millis = geqrf(m, n)
    print(f"cusolver dgeqrf {m} x {n}: {millis:.3f} ms", flush=True)
    print(json.dumps({"problem": f"dense:{m}x{n}", "cusolverMillis": millis}), flush=True)
