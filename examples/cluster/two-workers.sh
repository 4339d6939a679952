#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# spark-submit on a standalone cluster of two workers, all on this machine, with Maven's jars only:
#   examples/cluster/two-workers.sh [ARGUMENTS OF sparqr]     without arguments: a problem of 14,400 unknowns
# A Spark distribution does the same with sbin/start-master.sh and sbin/start-worker.sh.
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
jar=$(find "$home/distribution/target" -maxdepth 1 -name 'sparqr-spark-*-all.jar' 2>/dev/null | head -n 1)
if [ -z "$jar" ]; then
  (cd "$home" && ./mvnw -q -B -ntp -Pquick -DskipTests package)
  jar=$(find "$home/distribution/target" -maxdepth 1 -name 'sparqr-spark-*-all.jar' | head -n 1)
fi
[ $# -gt 0 ] || set -- solve --matrix gen:cells2d120 --check --report "$home/target/cluster/report.json" --overwrite

# A SPARK_HOME with the jars of a distribution and nothing of Sparqr's, which must come from the jar.
work=$home/target/cluster
rm -rf "$work"
mkdir -p "$work/spark/jars" "$work/logs"
tr : '\n' <"$home/distribution/target/cli.classpath" | grep -vE "^$home/|/org/bytedeco/|/org/jcuda/|/info/picocli/" |
  while read -r file; do ln -s "$file" "$work/spark/jars/"; done
export SPARK_HOME=$work/spark SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_IP=127.0.0.1
flags=$(sed -n 's:.*<spark.jvm.args>\(.*\)</spark.jvm.args>.*:\1:p' "$home/pom.xml")
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
spark() {
  # shellcheck disable=SC2086
  exec "$java" $flags -Xmx512m -cp "$SPARK_HOME/jars/*" "$@"
}
free() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
started=()
stop() {
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
}
trap stop EXIT

port=$(free)
master=spark://127.0.0.1:$port
(spark org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0) >"$work/logs/master" 2>&1 &
started+=($!)
for worker in 1 2; do
  (spark org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --webui-port 0 --cores 1 --memory 1g \
    --work-dir "$work/worker$worker" "$master") >"$work/logs/worker$worker" 2>&1 &
  started+=($!)
done
for ((tries = 0; $(grep -c 'Registering worker' "$work/logs/master" || true) < 2; tries++)); do
  [ $tries -lt 120 ] || { echo "two-workers: no cluster after a minute; see $work/logs" >&2; exit 1; }
  sleep 0.5
done
echo "two-workers: $master is up after $SECONDS s" >&2

# In client mode spark-submit runs in this JVM, so the flags and the heap are its own.
# shellcheck disable=SC2086
"$java" $flags -Xmx1g -cp "$SPARK_HOME/jars/*" org.apache.spark.deploy.SparkSubmit --master "$master" \
  --class io.sparqr.spark.cli.SparqrCli --conf spark.executor.cores=1 --conf spark.executor.memory=900m \
  --conf spark.cores.max=2 --conf spark.scheduler.minRegisteredResourcesRatio=1.0 --conf spark.driver.host=127.0.0.1 \
  "$jar" "$@"
echo "two-workers: done after $SECONDS s" >&2
