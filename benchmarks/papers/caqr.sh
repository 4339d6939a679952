#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The experiments of "Communication-avoiding QR decomposition for GPUs" (Anderson, Ballard, Demmel, Keutzer), R alone, matrix on the device:
#   caqr.sh table1    192 columns, 1,000 to 1,000,000 rows
#   caqr.sh figure8   heights 1,024 to 65,536 by widths 64 to 8,192, as far as there are more rows than columns
#   caqr.sh tall      of these shapes, and taller ones, those of at least fifty times as many rows as columns; from the front on
#   caqr.sh figure9   8,192 rows, 64 to 8,192 columns
#   caqr.sh film      table 2 on a device: iterations a second, and a whole decomposition
#   caqr.sh table2    Robust PCA of a film of 288 x 384 x 100, iterations a second, on this machine's cores; needs no device
# cuSOLVER's dgeqrf beside ours. The paper is in single precision; all of this is in double precision.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case ${1:-} in
  table1)
    device
    dense 1000x192 10000x192 50000x192 100000x192 500000x192 1000000x192
    ;;
  figure8)
    device
    sizes=()
    for rows in 1024 2048 4096 8192 16384 32768 65536; do
      for columns in 64 128 256 512 1024 2048 4096 8192; do
        [ "$columns" -gt "$rows" ] || sizes+=("${rows}x$columns")
      done
    done
    dense "${sizes[@]}"
    ;;
  tall)
    device
    sizes=(4096x64 8192x64 8192x128 16384x64 16384x128 16384x256 32768x64 32768x128 32768x256 32768x512 65536x64 65536x128 65536x256
      65536x512 65536x1024 10000x192 50000x192 100000x64 100000x192 500000x192 1000000x64 1000000x128 1000000x192)
    SPARQR_HEAP=${SPARQR_HEAP:-30g} "$packed/run.sh" java io.sparqr.backend.cuda.DenseQrSpeed 7 "${sizes[@]/%/-}"
    python3 "$packed/cusolver.py" "${sizes[@]}" | grep -v '^{'
    ;;
  figure9)
    device
    dense 8192x64 8192x128 8192x192 8192x256 8192x512 8192x1024 8192x2048 8192x4096 8192x8192
    ;;
  film)
    device
    SPARQR_HEAP=${SPARQR_HEAP:-16g} "$packed/run.sh" java io.sparqr.backend.cuda.CudaPursuitSpeed 288 384 100 80 5
    ;;
  table2)
    home=$(cd "$here/../.." && pwd -P)
    [ -f "$home/benchmarks/target/test.classpath" ] || { echo "$0: compile the project first: ./mvnw test-compile" >&2; exit 2; }
    path=$(printf '%s:' "$home"/{partitioning,gpu-core,spark-connector,regression,cli,benchmarks}/target/classes)$(cat "$home/benchmarks/target/test.classpath")
    # shellcheck disable=SC2046
    java $(sed -n 's:.*<spark.jvm.args>\(.*\)</spark.jvm.args>.*:\1:p' "$home/pom.xml") -Xmx4g -cp "$path" io.sparqr.spark.tall.RobustPcaSpeed
    ;;
  *)
    sed -n '3,9s/^# //p' "$0" >&2
    exit 2
    ;;
esac
