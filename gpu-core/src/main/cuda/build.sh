#!/usr/bin/env bash
# Compiles the kernels: build.sh FOLDER. Machine code for sm_80, sm_90 and sm_100, PTX for later chips, for each file
# of kernels/: by nvcc (NVCC, CUDA_HOME or PATH) as one fat binary, FOLDER/rounds.fatbin and so on, or by NVRTC, if Maven
# put it into $SPARQR_NVRTC_FOLDER, as a file each, FOLDER/rounds.sm_80.cubin and so on. Does nothing where they
# are newer than the sources, and only says so where there is no compiler: the jar then has no CUDA backend.
#   build.sh --flags          prints Maven's flag that fetches NVRTC (380 MB, once), if this machine has a
#                             driver and no nvcc; SPARQR_NVRTC=no: never
#   build.sh --flags release  the same, driver or not: what is released has kernels
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

nvcc=${NVCC:-}
if [ -z "$nvcc" ]; then
  if [ -n "${CUDA_HOME:-}" ] && [ -x "$CUDA_HOME/bin/nvcc" ]; then
    nvcc=$CUDA_HOME/bin/nvcc
  elif command -v nvcc >/dev/null; then
    nvcc=$(command -v nvcc)
  elif [ -x /usr/local/cuda/bin/nvcc ]; then
    nvcc=/usr/local/cuda/bin/nvcc
  fi
fi

has_driver() {
  local folder folders=${LD_LIBRARY_PATH:-}
  [ ! -e /proc/driver/nvidia/version ] || return 0
  if command -v ldconfig >/dev/null && ldconfig -p 2>/dev/null | grep 'libcuda\.so\.1' >/dev/null; then
    return 0
  fi
  for folder in ${folders//:/ } /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/local/nvidia/lib64 /usr/lib/wsl/lib; do
    [ ! -e "$folder/libcuda.so.1" ] || return 0
  done
  return 1
}

if [ "$1" = --flags ]; then
  if [ -z "$nvcc" ] && [ "${SPARQR_NVRTC:-}" != no ] && [ "$(uname -sm)" = "Linux x86_64" ] &&
    { [ "${2:-}" = release ] || has_driver; }; then
    echo -Dcuda.nvrtc=true
  fi
  exit 0
fi

out=$1
parts=(rounds several sums solves dense)
fat=("${parts[@]/%/.fatbin}")
fat=("${fat[@]/#/$out/}")
single=()
# The gate compiles machine code for one chip by NVRTC: SPARQR_KERNELS=sm_90.
chips=${SPARQR_KERNELS:-sm_80 sm_90 sm_100}
for part in "${parts[@]}"; do
  for chip in $chips; do
    single+=("$out/$part.$chip.cubin")
  done
  single+=("$out/$part.compute_100.ptx")
done

# current FILE...: whether they are all there, and newer than what they are made of
current() {
  local file
  for file in "$@"; do
    [ -f "$file" ] && [ -z "$(find "$here" "$here/../../build" -newer "$file" -type f -print -quit)" ] || return 1
  done
}

if current "${fat[@]}" || { [ -z "$nvcc" ] && current "${single[@]}"; }; then
  exit 0
fi
rm -rf "${fat[@]}" "${single[@]}" "$out"/.kernels.*
if [ -z "$nvcc" ] && [ ! -f "${SPARQR_NVRTC_FOLDER:-}/jna.jar" ]; then
  echo "sparqr: no nvcc found, this build has no CUDA backend (-Dcuda.nvrtc=true fetches a compiler)" >&2
  exit 0
fi
[ -n "$nvcc" ] || [ -z "${SPARQR_KERNELS:-}" ] ||
  echo "sparqr: machine code for $chips alone, besides PTX (SPARQR_KERNELS)" >&2
mkdir -p "$out"
temporary=$(mktemp -d "$out/.kernels.XXXXXX")
trap 'rm -rf "$temporary"' EXIT
if [ -n "$nvcc" ]; then
  for part in "${parts[@]}"; do
    "$nvcc" -std=c++17 -O3 -I"$here/include" --threads 0 \
      -gencode arch=compute_80,code=sm_80 \
      -gencode arch=compute_90,code=sm_90 \
      -gencode arch=compute_100,code=sm_100 \
      -gencode arch=compute_100,code=compute_100 \
      ${SPARQR_NVCC_FLAGS:-} -fatbin -o "$temporary/$part.fatbin" "$here/kernels/$part.cu"
  done
else
  "${SPARQR_JAVA:-java}" -XX:+IgnoreUnrecognizedVMOptions --enable-native-access=ALL-UNNAMED \
    -cp "$SPARQR_NVRTC_FOLDER/jna.jar" "$here/../../build/java/CompileKernels.java" \
    "$SPARQR_NVRTC_FOLDER" "$here" "$temporary" "$chips" "${parts[@]}"
fi
mv "$temporary"/* "$out"
