#!/usr/bin/env bash
# A hash of the kernels' sources without comments and layout: what a log of the sanitizers, of the fault campaign or of the
# survey speaks of (benchmarks/gpu/evidence.sh; EvidenceTest compares it with today's).
#   fingerprint.sh           of what one device runs: without kernels/several.cu, kernels/dense.cu, include/several,
#                            include/dense, and what other files have for SPARQR_SEVERAL alone (#ifdef; #else and
#                            #endif in lines of their own, nothing within)
#   fingerprint.sh several   of that, too
#   fingerprint.sh dense     of what one device runs, and of what dense matrices alone have: kernels/dense.cu, include/dense
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export LC_ALL=C
files=(kernels/*.cu include/*.cuh)
[ "${1:-}" = dense ] && files+=(include/dense/*.cuh) || files=("${files[@]/kernels\/dense.cu/}")
if [ "${1:-}" = several ]; then
  files+=(include/several/*.cuh)
  seen() { cat "$1"; }
else
  files=("${files[@]/kernels\/several.cu/}")
  seen() {
    awk '/^#ifdef SPARQR_SEVERAL$/ { within = 1; left = 1; next }
      within && /^#else$/ { left = 0; next }
      within && /^#endif$/ { within = left = 0; next }
      !left' "$1"
  }
fi
for file in $(printf '%s\n' "${files[@]}" | sort); do
  echo "$file"
  # No string or character of the sources has // or /* in it.
  seen "$file" | sed 's://.*::' | tr -s '[:space:]' ' ' | sed -E 's:/\*([^*]|\*+[^*/])*\*+/: :g' | tr -d '[:space:]'
  echo
done | sha256sum | cut -c1-16
