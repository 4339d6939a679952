#!/usr/bin/env bash
# The whole product on a GPU host, from the folder where pack-spark.sh's parts were unpacked:
# problems through Spark with both backends, answers compared.  product.sh local|cluster|gpus|cli|devices PROBLEM...
#   local     one JVM, all devices; one task a problem, or more with LEVELS=2
#   cluster   two executors that share a device
#   gpus      an executor for each device, which Spark assigns to it
#   cli       the command line, sparqr solve --backend cpu and cuda, in one JVM and in a cluster of two executors;
#             problems in the form that --matrix takes, or "A.mtx --rhs b.mtx", or data:FOLDER for all of the collection;
#             MASTERS="local[*]" for one of the two, PARALLEL=4 for four problems at a time, CPU_ONCE=1 to compute the
#             CPU's answers under the first master only and compare them with the device's under all
#   devices   whole solves in turn (SolveSpeed, with the plugin's warm-up): one device and all in one JVM, then executors
#             of one device each, one and as many as there are devices; problems as SPEC@ORDERING; REPEAT=8 ROUNDS=2
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
mode=${1:?local, cluster, gpus, cli or devices}
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
  gpus | devices)
    devices=$(nvidia-smi -L | wc -l)
    master="local-cluster[$devices,$((cores / devices)),16384]" levels=2
    # Every worker of this host asks once, and gets a device of its own.
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
  cli) export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0} ;;
  *) echo "usage: product.sh local|cluster|gpus|cli|devices PROBLEM..." >&2; exit 2 ;;
esac
echo "device before: $(nvidia-smi --query-gpu=name,memory.used --format=csv,noheader)"
code=0
visible=${CUDA_VISIBLE_DEVICES:+-Dspark.executorEnv.CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES}
# shellcheck disable=SC2206,SC2207
jvm=($(cat "$here/jvm.args") $visible -Xmx"${SPARQR_HEAP:-31g}" -XX:+UseParallelGC -Djava.io.tmpdir="$here/tmp" "${options[@]}")
if [ "$mode" = devices ]; then
  # speed NAME MASTER OPTION... -- PROBLEM...: a JVM of its own.
  speed() {
    local name=$1 master=$2 own=()
    shift 2
    while [ "$1" != -- ]; do own+=("$1") && shift; done
    shift
    rm -rf "$here"/tmp/gpu?
    # shellcheck disable=SC2086
    "$here/jre/bin/java" $(cat "$here/jvm.args") -Xmx"${SPARQR_HEAP:-31g}" -XX:+UseParallelGC -Djava.io.tmpdir="$here/tmp" \
      -Dspark.plugins=io.sparqr.spark.metrics.SparqrPlugin -Dspeed.master="$master" -Dexecutor.memory=14g "${own[@]}" \
      -cp "$class_path" io.sparqr.spark.cli.SolveSpeed require_cuda "${REPEAT:-8}" "$@" 2>&1 |
      grep -E '@|Exception' | sed "s/^/$name | /" || return 1
  }
  for round in $(seq "${ROUNDS:-2}"); do
    for visible in 0 all; do
      (
        [ "$visible" = all ] || export CUDA_VISIBLE_DEVICES=$visible
        speed "round $round, one JVM, devices $visible" "local[*]" -- "$@"
      ) || code=1
    done
    for executors in 1 "$devices"; do
      speed "round $round, $executors executors of a device each" \
        "local-cluster[$executors,$((cores / devices)),16384]" "${options[@]}" -- "$@" || code=1
    done
  done
elif [ "$mode" = cli ]; then
  jvm+=(-Dspark.executor.extraClassPath="$class_path" -Dspark.executor.memory="${SPARQR_EXECUTOR_HEAP:-12g}" -Dspark.ui.enabled=false
    -Dspark.driver.host=127.0.0.1 -Dspark.driver.bindAddress=127.0.0.1)
  export here class_path jvm_line="${jvm[*]}" REPEAT=${REPEAT:-1} device=${DEVICE_BACKEND:-cuda}
  answers=$(mktemp -d "$here/tmp/cli.XXXXXX")
  export answers CPU_ONCE=${CPU_ONCE:-}
  # solve_with BACKEND NAME MASTER PROBLEM: a JVM of its own.
  solve_with() {
    # Applications that start in the same second have the same id, and would share a folder for their executors.
    export SPARK_HOME=$answers/$2.spark
    mkdir -p "$SPARK_HOME/jars"
    # shellcheck disable=SC2086
    "$here/jre/bin/java" $jvm_line -cp "$class_path" io.sparqr.spark.cli.SparqrCli solve --matrix $4 --master "$3" \
      --backend "$1" --check --repeat "$REPEAT" --overwrite --out "$answers/$2.x" --report "$answers/$2.report" \
      >"$answers/$2.log" 2>&1 || { echo "$4 | $1 FAILED"; cat "$answers/$2.log"; return 1; }
  }
  # solve_both MASTER PROBLEM: both backends, then the answers side by side.
  solve_both() {
    local name
    name=$(tr -c 'A-Za-z0-9_.\n-' '_' <<<"$2")
    if [ -z "$CPU_ONCE" ] || [ ! -e "$answers/$name.cpu.x" ]; then
      solve_with cpu "$name.cpu" "$1" "$2" || return 1
    fi
    solve_with "$device" "$name.$device" "$1" "$2" || return 1
    python3 "$here/compare.py" "$2" "$answers/$name".{cpu.x,cpu.report,"$device.x","$device.report"} || return 1
  }
  export -f solve_with solve_both
  # The matrices of known rank in this folder, transposed if wide, and the certified problems with their right-hand sides.
  collection() {
    awk -F'\t' -v d="$1" '$1 ~ /[.]mtx([.]gz)?$/ && $9 != "" { print d "/" $1 ($2 < $3 ? " --transpose" : "") }' "$1/INDEX.tsv"
    awk -F'\t' -v d="$1" 'NR > 1 { t = sub(/ \(A.\)/, "", $2)
      print d "/" $1 ($2 == "labels" ? "" : " --rhs " d "/" $2) (t ? " --transpose" : "") }' "$1/REFERENCE.tsv"
  }
  present() { while read -r file options; do [ ! -e "$file" ] || echo "$file${options:+ $options}"; done; }
  problems=$(for problem in "$@"; do
    case $problem in data:*) collection "${problem#data:}" | present ;; *) echo "$problem" ;; esac
  done)
  for master in ${MASTERS:-"local[*]" "local-cluster[2,$((cores / 2)),16384]"}; do
    echo "master $master, $(wc -l <<<"$problems") problems"
    xargs -d '\n' -P "${PARALLEL:-1}" -I{} bash -c 'solve_both "$0" "$1"' "$master" {} <<<"$problems" || code=1
  done
  [ "$code" != 0 ] || rm -rf "$answers"
else
  "$here/jre/bin/java" "${jvm[@]}" -cp "$class_path" io.sparqr.spark.cli.DeviceProduct "$master" "${REPEAT:-4}" "$levels" "$@" || code=$?
fi
sleep 1
echo "device after: $(nvidia-smi --query-gpu=name,memory.used --format=csv,noheader)"
exit $code
