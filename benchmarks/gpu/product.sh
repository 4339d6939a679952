#!/usr/bin/env bash
# The whole product on a GPU host, from the folder where pack-spark.sh's parts were unpacked:
# problems through Spark with both backends, answers compared.  product.sh local|cluster|gpus PROBLEM...
#   local     one JVM, all devices; one task a problem, or more with LEVELS=2
#   cluster   two executors that share a device
#   gpus      an executor a device, each granted its own by Spark
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
mode=${1:?local, cluster or gpus}
shift
cores=$(nproc)
class_path=$(printf '%s:' "$here"/*/classes "$here"/*/test-classes "$here"/lib/*.jar)
export SPARK_HOME=$here/spark-home SPARK_SCALA_VERSION=2.13 JAVA_HOME=$here/jre SPARK_LOCAL_IP=127.0.0.1
mkdir -p "$SPARK_HOME/jars" "$here/tmp"
options=()
case $mode in
  local) master="local[*]" levels=${LEVELS:-1} ;;
  # Two executor JVMs that share the device.
  cluster)
    master="local-cluster[2,$((cores / 2)),16384]" levels=2
    export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}
    ;;
  gpus)
    devices=$(nvidia-smi -L | wc -l)
    master="local-cluster[$devices,$((cores / devices)),16384]" levels=2
    # Every worker of this one host asks once, and is told of a device of its own.
    cat >"$here/tmp/gpus.sh" <<'SCRIPT'
#!/bin/sh
for k in 0 1 2 3 4 5 6 7; do
  if mkdir "$(dirname "$0")/gpu$k" 2>/dev/null; then
    echo "{\"name\":\"gpu\",\"addresses\":[\"$k\"]}"
    exit 0
  fi
done
exit 1
SCRIPT
    chmod +x "$here/tmp/gpus.sh"
    rm -rf "$here"/tmp/gpu?
    options=(-Dspark.worker.resource.gpu.amount=1 -Dspark.worker.resource.gpu.discoveryScript="$here/tmp/gpus.sh"
      -Dspark.executor.resource.gpu.amount=1 -Dspark.executor.resource.gpu.discoveryScript="$here/tmp/gpus.sh")
    ;;
  *) echo "usage: product.sh local|cluster|gpus PROBLEM..." >&2; exit 2 ;;
esac
echo "device before: $(nvidia-smi --query-gpu=name,memory.used --format=csv,noheader)"
code=0
# shellcheck disable=SC2046
"$here/jre/bin/java" $(cat "$here/jvm.args") -Xmx"${SPARQR_HEAP:-32g}" -XX:+UseParallelGC -Djava.io.tmpdir="$here/tmp" "${options[@]}" \
  -cp "$class_path" io.sparqr.spark.cli.DeviceProduct "$master" "${REPEAT:-4}" "$levels" "$@" || code=$?
sleep 1
echo "device after: $(nvidia-smi --query-gpu=name,memory.used --format=csv,noheader)"
exit $code
