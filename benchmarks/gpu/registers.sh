#!/usr/bin/env bash
# Registers, bytes spilled and static shared memory of every kernel and of every kind of task alone, from ptxas: the
# table of docs/design/kernels.md, Resources. Needs nvcc (NVCC, CUDA_HOME or PATH) and no GPU; two minutes a chip on one
# core.
#   registers.sh [sm_80 sm_90 sm_100]
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
nvcc=${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/}nvcc}
cuda=$home/gpu-core/src/main/cuda
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- sm_90
for chip in "$@"; do
  for source in "$cuda"/kernels/*.cu "$home/benchmarks/src/main/cuda/task_registers.cu"; do
    "$nvcc" -std=c++17 -O3 -I"$cuda/include" -arch="$chip" -cubin -Xptxas -v -o "$work/cubin" "$source" 2>"$work/log" ||
      { cat "$work/log" >&2; exit 1; }
    # ptxas says of every function, entry points first of all: its name; its stack and spills; registers and memory.
    awk -v chip="$chip" '
      /Compiling entry function/ { split($0, q, "\x27"); name = q[2]; next }
      /bytes stack frame/ && !(name in spilled) && name != "" { spilled[name] = $5; next }
      /Used [0-9]+ registers/ && name != "" {
        shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART, RLENGTH - 11) : 0
        match($0, /Used [0-9]+/)
        printf "| %s | `%s` | %s | %s | %s |\n", chip, name, substr($0, RSTART + 5, RLENGTH - 5), spilled[name], shared
        name = ""
      }' "$work/log" | sort
  done
done | { echo "| chip | kernel, or task alone | registers | bytes spilled | static shared memory |"; echo "|---|---|---|---|---|"; cat; }
