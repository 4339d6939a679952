#!/usr/bin/env bash
# Whole solves on this machine's CPU beside SuiteSparseQR: whole.sh [SPEC...], a line a problem. Both sides get all cores and the
# same OPENBLAS_CORETYPE; for SuiteSparseQR the best of COLAMD and METIS, one BLAS thread and one a core, of RUNS runs each,
# order to solution; ours pattern to solution, median of the RUNS runs after the first WARM ones, and the first run.
#   RUNS=8 WARM=6   OPTIONS="--engine spark"   further options of bin/sparqr solve
# Needs libsuitesparse-dev and libopenblas-dev.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
runs=${RUNS:-8} warm=${WARM:-6}
# a core type that the processor does not have ends both sides with an illegal instruction
grep -qw avx512f /proc/cpuinfo && kind=SKYLAKEX || kind=HASWELL
export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-$kind}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -o "$work/spqr_peer" "$here/spqr_peer.c" -I/usr/include/suitesparse -lspqr -lcholmod -lm
[ $# -gt 0 ] || set -- nug15:rand cells3d30 cells3d40 grad3d40 cells2d500 onehot200000x2000x300x50
printf '%-28s %9s %9s %6s %9s  %s\n' problem theirs ours ratio first "their best way"
for spec in "$@"; do
  "$here/../../bin/sparqr" generate "gen:$spec" --out "$work/a.mtx" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  for order in colamd metis; do
    for threads in 1 "$(nproc)"; do
      OPENBLAS_NUM_THREADS=$threads "$work/spqr_peer" "$work/a.mtx" $order none "$runs" |
        sed -n "s/.* total \([0-9.]*\) s.*/\1 $order, $threads thread(s)/p"
    done
  done | sort -n | head -n 1 >"$work/theirs"
  # shellcheck disable=SC2086
  "$here/../../bin/sparqr" solve --matrix "$work/a.mtx" --rank-tolerance -1 --repeat $((warm + runs)) ${OPTIONS:-} >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
  sed -n 's/^run [0-9]* of [0-9]*: \([0-9.]*\) s.*/\1/p' "$work/log" >"$work/times"
  ours=$(tail -n "$runs" "$work/times" | sort -n | sed -n "$(((runs + 1) / 2))p")
  read -r theirs way <"$work/theirs"
  awk -v s="$spec" -v t="$theirs" -v o="$ours" -v f="$(head -n 1 "$work/times")" -v w="$way" \
    'BEGIN { printf "%-28s %9.3f %9.3f %6.2f %9.3f  %s\n", s, t, o, o / t, f, w }'
  rm "$work/a.mtx"
done
