# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""cuSOLVER's dgeqrf on the dense fronts of the table, device-resident, median of 7, in ms; of MxN+K also the first K
columns of Q by dorgqr."""
import json
import statistics
import sys

import cupy
from cupy_backends.cuda.libs import cusolver
from cupy.cuda import device


def geqrf(m, n, q=0):
    handle = device.get_cusolver_handle()
    source = cupy.random.uniform(-1, 1, (max(n, q), m))  # column-major m x n, and room for Q
    tau = cupy.empty(min(m, n))
    info = cupy.empty(1, dtype="i")
    size = cusolver.dgeqrf_bufferSize(handle, m, n, source.data.ptr, m)
    if q:
        size = max(size, cusolver.dorgqr_bufferSize(handle, m, q, n, source.data.ptr, m, tau.data.ptr))
    work = cupy.empty(size)
    times, explicit = [], []
    for _ in range(8):
        a = source.copy()
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        cusolver.dgeqrf(handle, m, n, a.data.ptr, m, tau.data.ptr, work.data.ptr, size, info.data.ptr)
        stop.record()
        stop.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, stop))
        if q:
            start.record()
            cusolver.dorgqr(handle, m, q, n, a.data.ptr, m, tau.data.ptr, work.data.ptr, size, info.data.ptr)
            stop.record()
            stop.synchronize()
            explicit.append(cupy.cuda.get_elapsed_time(start, stop))
    return statistics.median(times[1:]), statistics.median(explicit[1:]) if q else 0


for spec in sys.argv[1:]:
    size, _, q = spec.partition("+")
    m, n = map(int, size.split("x"))
    millis, explicit = geqrf(m, n, int(q or 0))
    print(f"cusolver dgeqrf {m} x {n}: {millis:.3f} ms", flush=True)
    if q:
        print(f"cusolver dorgqr, {q} columns of {m} x {n}: {explicit:.3f} ms", flush=True)
    print(json.dumps({"problem": f"dense:{m}x{n}", "cusolverMillis": millis}), flush=True)
