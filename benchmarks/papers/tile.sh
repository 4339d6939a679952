#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The experiments of "QR factorization on a multicore node enhanced with multiple GPU accelerators" (Agullo, Augonnet, Dongarra, Faverge, Ltaief,
# Thibault, Tomov):
#   tile.sh figure6     more devices: one and all that are visible, with what is foretold; needs what pack-spark.sh packs
#   tile.sh figure10    the same by executors with a device each, beside the CPU's time; needs what pack-spark.sh packs
#   tile.sh figure12    the bound of a machine: sparqr analyze of gen:SPEC...; needs no device
#   tile.sh figure13    two block columns, many rows
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case ${1:-} in
  figure6)
    product
    for devices in 0 "$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -sd, -)"; do
      echo "CUDA_VISIBLE_DEVICES=$devices"
      export CUDA_VISIBLE_DEVICES=$devices
      forecast 5 grad3d80@nd grad3d112@nd nug20:rand@nd ch7-9-b3:rand@nd
    done
    ;;
  figure10)
    product
    for spec in cells2d500 onehot1000000x5000x500x50 nug20:rand grad3d80; do
      REPEAT=4 "$packed/product.sh" gpus "gen:$spec"
    done
    ;;
  figure12)
    shift
    home=$(cd "$here/../.." && pwd -P)
    [ $# -gt 0 ] || set -- cells2d500 cells3d40 nug15:rand grad3d40
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    printf '| %s | %s | %s | %s | %s |\n' problem machine estimated bound share --- --- --- --- ---
    for spec in "$@"; do
      "$home/bin/sparqr" analyze --matrix "gen:$spec" --report "$work/report.json" >/dev/null
      python3 "$here/bounds.py" "$spec" "$work/report.json"
    done
    ;;
  figure13)
    device
    # Two block columns of 960, the paper's tile size in single precision, and of 32, ours.
    dense 9600x1920 19200x1920 38400x1920 76800x1920 10000x64 100000x64 1000000x64
    ;;
  *)
    sed -n '3,8s/^# //p' "$0" >&2
    exit 2
    ;;
esac
