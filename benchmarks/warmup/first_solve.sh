#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The cost of a first solve in a JVM, and the part of compilation in it.
#   first_solve.sh [MATRIX [REPEATS]]   MATRIX as for sparqr solve --matrix, default gen:cells3d20
# bin/sparqr must be built. Prints: starts with and without the archive of classes, on Spark and
# without; classes loaded; compile seconds of C1 and C2 (-XX:+CITime, all threads together) of one
# solve and of many; seconds of the first and later solves of one JVM, with and without C2.
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
matrix=${1:-gen:cells3d20}
repeats=${2:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%R s wall, %U s user, %S s system'

solve() { "$home/bin/sparqr" solve --matrix "$matrix" "$@" >"$work/out" 2>"$work/err"; }

solve # builds, and makes the archive, where they are missing
for words in "--engine auto" "--engine spark"; do
  for sharing in yes no; do
    echo "start and solve, $words, SPARQR_SHARING=$sharing:"
    # shellcheck disable=SC2086
    for _ in 1 2 3; do time SPARQR_SHARING=$sharing solve $words; done 2>&1 | sed 's/^/  /'
  done
  # shellcheck disable=SC2086
  SPARQR_JAVA_OPTS="-Xlog:class+load:file=$work/classes" solve $words
  echo "classes loaded, $words: $(wc -l <"$work/classes"), of the archive $(grep -c 'shared objects' "$work/classes")"
done

for k in 1 "$repeats"; do
  SPARQR_JAVA_OPTS=-XX:+CITime solve --repeat "$k"
  echo "compilation, $k solve(s) in one JVM:"
  grep -E '^ *(C[12] {|Total compiled methods|Standard compilation|On stack replacement|Total compilation time|C1 Compile Time|C2 Compile Time)' \
    "$work/out" | sed 's/^ */  /'
done
for tier in 4 1; do
  SPARQR_JAVA_OPTS=-XX:TieredStopAtLevel=$tier solve --repeat "$repeats"
  echo "one solve after the other, TieredStopAtLevel=$tier:"
  grep '^run ' "$work/err" | sed 's/^/  /'
done
