#!/usr/bin/env bash
# The table of device timings on a GPU host, from the folder that pack.sh made: dense fronts with
# cuSOLVER beside them, then the sparse problems. All of it as lines, then as one table of text;
# as one JSON document to TABLE_JSON (default table.json).  table.sh [dense|sparse|all]
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
which=${1:-all}
export SPARQR_HEAP=${SPARQR_HEAP:-40g}
lines() {
  if [ "$which" != sparse ]; then
    python3 "$here/cusolver.py" 1024x1024 2048x2048 4096x4096 8192x8192 100000x192
    "$here/run.sh" java io.sparqr.backend.cuda.DeviceTable \
      dense:1024x1024@natural dense:2048x2048@natural dense:4096x4096@natural dense:8192x8192@natural \
      dense:100000x192@natural batch:500x300x150@natural
  fi
  if [ "$which" != dense ]; then
    "$here/run.sh" java io.sparqr.backend.cuda.DeviceTable \
      ch7-8-b3:rand@nd ch7-8-b3:rand@colamd nug20:rand@nd nug20:rand@colamd nug15:rand@nd \
      nug15:rand@colamd cells3d40@nd cells2d500@nd onehot1000000x5000x500x50@colamd
  fi
}
date -u +%Y-%m-%d
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
all=$(mktemp)
trap 'rm -f "$all"' EXIT
lines | tee "$all"
echo
python3 "$here/summary.py" "${TABLE_JSON:-table.json}" <"$all"
