#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The experiments of "QR decomposition on GPUs" (Kerr, Campbell, Richards):
#   wy.sh workload    table 1: flops of R and of the full Q by the usual counts; needs no device
#   wy.sh factor      table 2 and figures 3 to 5 without Q: the paper's twelve sizes, cuSOLVER's dgeqrf beside
#   wy.sh full SIZE...   both with the full Q, on this machine's cores: sparqr.qr(A, "complete") and NumPy's; 512 x 256 to 2048 x 1024 if no size is given
#   wy.sh device      table 2 and figures 3 to 5 with the full Q on a device, kernels alone; cuSOLVER's dgeqrf and dorgqr beside
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
sizes=(512x256 1024x512 1536x768 2048x1024 2560x1280 3072x1536 3584x1792 4096x2048 4608x2304 5120x2560 6656x3328 8192x4096)
case ${1:-} in
  workload)
    python3 - "${sizes[@]}" <<'PYTHON'
import sys

print("| size | R, Gflop | full Q, Gflop | both |\n|---|---|---|---|")
for size in sys.argv[1:]:
    m, n = map(int, size.split("x"))
    r = 2 * n * n * (m - n / 3)  # Golub and Van Loan, section 5.2
    q = 4 * (m * m * n - m * n * n + n**3 / 3)
    print(f"| {m} x {n} | {r * 1e-9:.4g} | {q * 1e-9:.4g} | {(r + q) * 1e-9:.4g} |")
PYTHON
    ;;
  factor)
    device
    dense "${sizes[@]}"
    ;;
  device)
    device
    "$packed/run.sh" java io.sparqr.backend.cuda.DenseQrSpeed 7 "${sizes[@]/%/+}"
    beside=()
    for size in "${sizes[@]}"; do beside+=("$size+${size%x*}"); done
    python3 "$packed/cusolver.py" "${beside[@]}" | grep -v '^{'
    ;;
  full)
    shift
    [ $# -gt 0 ] || set -- 512x256 1024x512 1536x768 2048x1024
    python3 "$here/full_q.py" "$@"
    ;;
  *)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
