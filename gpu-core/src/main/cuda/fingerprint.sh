#!/usr/bin/env bash
# A hash of the kernels' sources without comments and layout: what a log of the sanitizers, of the fault campaign or of the
# survey speaks of (benchmarks/gpu/evidence.sh; EvidenceTest compares it with today's).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export LC_ALL=C
for file in $(printf '%s\n' kernels/*.cu include/*.cuh | sort); do
  echo "$file"
  # No string or character of the sources has // or /* in it.
  sed 's://.*::' "$file" | tr -s '[:space:]' ' ' | sed -E 's:/\*([^*]|\*+[^*/])*\*+/: :g' | tr -d '[:space:]'
  echo
done | sha256sum | cut -c1-16
