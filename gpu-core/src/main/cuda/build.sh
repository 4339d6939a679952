#!/usr/bin/env bash
# Compiles the kernels into a fat binary: build.sh <output file>. Machine code for sm_80, sm_90 and
# sm_100, PTX for later chips. Does nothing if the output is newer than the sources, and only says so
# if there is no nvcc (NVCC, CUDA_HOME or PATH): the jar then has no CUDA backend.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
out=$1

nvcc=${NVCC:-}
if [ -z "$nvcc" ]; then
  if [ -n "${CUDA_HOME:-}" ] && [ -x "$CUDA_HOME/bin/nvcc" ]; then
    nvcc=$CUDA_HOME/bin/nvcc
  elif command -v nvcc >/dev/null; then
    nvcc=$(command -v nvcc)
  elif [ -x /usr/local/cuda/bin/nvcc ]; then
    nvcc=/usr/local/cuda/bin/nvcc
  else
    echo "sparqr: no nvcc found, this build has no CUDA backend" >&2
    rm -f "$out"
    exit 0
  fi
fi

if [ -f "$out" ] && [ -z "$(find "$here" -newer "$out" -type f -print -quit)" ]; then
  exit 0
fi
mkdir -p "$(dirname "$out")"
temporary=$out.$$
trap 'rm -f "$temporary"' EXIT
"$nvcc" -std=c++17 -O3 -I"$here/include" --threads 2 \
  -gencode arch=compute_80,code=sm_80 \
  -gencode arch=compute_90,code=sm_90 \
  -gencode arch=compute_100,code=sm_100 \
  -gencode arch=compute_100,code=compute_100 \
  ${SPARQR_NVCC_FLAGS:-} -fatbin -o "$temporary" "$here/kernels/uberkernel.cu"
mv "$temporary" "$out"
