#!/usr/bin/env bash
# The whole product on a GPU host, from the folder where pack-spark.sh's parts were unpacked:
# problems through Spark with both backends, answers compared.  product.sh local|cluster PROBLEM...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
mode=${1:?local or cluster}
shift
cores=$(nproc)
class_path=$(printf '%s:' "$here"/*/classes "$here"/*/test-classes "$here"/lib/*.jar)
export SPARK_HOME=$here/spark-home SPARK_SCALA_VERSION=2.13 JAVA_HOME=$here/jre SPARK_LOCAL_IP=127.0.0.1
mkdir -p "$SPARK_HOME/jars" "$here/tmp"
case $mode in
  local) master="local[*]" levels=1 ;;
  # Two executor JVMs that share the device.
  cluster)
    master="local-cluster[2,$((cores / 2)),16384]" levels=2
    export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}
    ;;
  *) echo "usage: product.sh local|cluster PROBLEM..." >&2; exit 2 ;;
esac
echo "device before: $(nvidia-smi --query-gpu=name,memory.used --format=csv,noheader)"
code=0
# shellcheck disable=SC2046
"$here/jre/bin/java" $(cat "$here/jvm.args") -Xmx"${SPARQR_HEAP:-32g}" -XX:+UseParallelGC -Djava.io.tmpdir="$here/tmp" \
  -cp "$class_path" io.sparqr.spark.cli.DeviceProduct "$master" "${REPEAT:-4}" "$levels" "$@" || code=$?
sleep 1
echo "device after: $(nvidia-smi --query-gpu=name,memory.used --format=csv,noheader)"
exit $code
