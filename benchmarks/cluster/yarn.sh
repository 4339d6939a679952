#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The recipes of docs/guide/yarn.md, as they stand there but smaller, on a real YARN with HDFS and S3, all on this machine:
#   benchmarks/cluster/yarn.sh [PYSPARK'S VERSION [losses]]     losses: then also kills an executor, a machine, a node manager
# Hadoop's own daemons (from hadoop-client-minicluster): a resource manager and HDFS on one host, node managers with the
# external shuffle service (ShuffleAuxiliary.java) on two; moto as S3. The hosts are network namespaces inside one of our own, so nothing of it is
# seen from outside, nothing outside is reached, and a host can be killed with all its processes. Needs Linux, 6 GiB, and
# root or a kernel that gives namespaces to everyone. Ends with exit code 1 at the first step that is not as it must be.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
version=${1:-4.0.5}
losses=${2:-}
work=$home/target/yarn
fetched=$home/target/yarn-fetched
guide=$home/docs/guide/yarn.md
pyspark=$home/python/target/pyspark-$version
flags=$(sed -n 's:.*<spark.jvm.args>\(.*\)</spark.jvm.args>.*:\1:p' "$home/pom.xml")

# The version of Hadoop in PySpark's jars.
hadoop() {
  basename "$(compgen -G "$pyspark/lib/python3*/site-packages/pyspark/jars/hadoop-client-api-*.jar")" .jar | sed 's/.*-//'
}
# copied PROFILE FOLDER [FLAG]: the profile's jars, in a folder
copied() {
  [ ! -e "$fetched/$2.made" ] || [ "$here/pom.xml" -nt "$fetched/$2.made" ] || return 0
  rm -rf "${fetched:?}/$2"
  (cd "$home" && ./mvnw -q -B -ntp -f "$here/pom.xml" "-P$1" dependency:copy-dependencies "-Dto=$fetched/$2" "${@:3}")
  touch "$fetched/$2.made"
}
fetch() {
  [ -d "$pyspark" ] || "$home/python/tests/on_pyspark.sh" "$version" --install
  copied hadoop hadoop
  copied s3 "s3-$(hadoop)" "-Dhadoop=$(hadoop)"
  if [ ! -e "$fetched/moto.made" ] || [ "$here/requirements.txt" -nt "$fetched/moto.made" ]; then
    rm -rf "$fetched/moto"
    python3 -m venv "$fetched/moto"
    "$fetched/moto/bin/python" -m pip install -q --require-hashes -r "$here/requirements.txt"
    touch "$fetched/moto.made"
  fi
}

if [ "${SPARQR_YARN_INSIDE:-}" != yes ]; then
  find "$home/distribution/target" -maxdepth 1 -name 'sparqr-spark-*-all.jar' 2>/dev/null | grep -q . ||
    (cd "$home" && ./mvnw -q -B -ntp -Pquick -DskipTests package)
  mkdir -p "$fetched"
  fetch
  own=()
  [ "$(id -u)" = 0 ] || own=(--user --map-root-user)
  export SPARQR_YARN_INSIDE=yes
  exec unshare "${own[@]}" --net --mount --uts --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" "$version" "$losses"
fi

# From here on in a network of our own. When this process ends, so does all that it started.
jar=$(find "$home/distribution/target" -maxdepth 1 -name 'sparqr-spark-*-all.jar' | head -n 1)
s3=$(find "$fetched/s3-$(hadoop)" -name '*.jar' | sed 's/^/local:/' | paste -sd ,)
SPARK_HOME=$(compgen -G "$pyspark/lib/python3*/site-packages/pyspark" | head -n 1)
JAVA_HOME=$(dirname "$(dirname "$(readlink -f "${JAVA_HOME:+$JAVA_HOME/bin/}$(command -v java)")")")
export SPARK_HOME JAVA_HOME PYSPARK_PYTHON=$pyspark/bin/python
export HADOOP_CONF_DIR=$work/conf SPARK_CONF_DIR=$work/conf SPARK_SCALA_VERSION=2.13
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY
export AWS_ACCESS_KEY_ID=trial AWS_SECRET_ACCESS_KEY=trial AWS_DEFAULT_REGION=us-east-1
rm -rf "$work"
mkdir -p "$work"/{conf,logs,shared,data,run}

# The documentation's network (RFC 5737).
printf '127.0.0.1 localhost\n192.0.2.1 head\n192.0.2.11 node1\n192.0.2.12 node2\n' >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts
hostname head
ip link set lo up
ip link add bridge type bridge
ip address add 192.0.2.1/24 dev bridge
ip link set bridge up

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fail() {
  say "FAILED: $*"
  exit 1
}
# await SECONDS WHAT COMMAND...: until the command succeeds
await() {
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $limit ] || fail "$what did not happen"
    sleep 0.3
  done
}

# configuration FILE: names and values, a pair a line, as Hadoop's XML
configuration() {
  {
    echo '<configuration>'
    while read -r name value; do
      [ -z "$name" ] || echo "<property><name>$name</name><value>$value</value></property>"
    done
    echo '</configuration>'
  } >"$work/conf/$1"
}
configuration core-site.xml <<PAIRS
fs.defaultFS hdfs://head:8020
hadoop.tmp.dir $work/run/tmp
PAIRS
# blocks of 1 MiB, so that even these files have several
configuration hdfs-site.xml <<PAIRS
dfs.replication 1
dfs.blocksize 1048576
dfs.namenode.name.dir $work/run/names
dfs.datanode.data.dir $work/run/blocks
PAIRS
configuration capacity-scheduler.xml <<PAIRS
yarn.scheduler.capacity.root.queues default
yarn.scheduler.capacity.root.default.capacity 100
yarn.scheduler.capacity.maximum-am-resource-percent 0.5
yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments 1
PAIRS
# A container that takes more memory than it asked for is killed, as elsewhere. A lost
# node is noticed after 15 seconds, not 10 minutes.
configuration yarn-site.xml <<PAIRS
yarn.resourcemanager.hostname head
yarn.nodemanager.resource.memory-mb 3072
yarn.nodemanager.resource.cpu-vcores 4
yarn.scheduler.minimum-allocation-mb 128
yarn.nodemanager.pmem-check-enabled true
yarn.nodemanager.vmem-check-enabled false
yarn.nodemanager.local-dirs $work/run/\${sparqr.host}/local
yarn.nodemanager.log-dirs $work/logs/\${sparqr.host}
yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage 99
yarn.nodemanager.delete.debug-delay-sec 3600
yarn.nodemanager.env-whitelist JAVA_HOME
yarn.nodemanager.aux-services spark_shuffle
yarn.nodemanager.aux-services.spark_shuffle.class ShuffleAuxiliary
yarn.nm.liveness-monitor.expiry-interval-ms 15000
PAIRS
# What an administrator sets. The jars of Spark are on every node, as on most clusters.
cat >"$work/conf/spark-defaults.conf" <<PAIRS
spark.yarn.jars local:$SPARK_HOME/jars/*
spark.yarn.am.memory 384m
spark.driver.memory 600m
spark.ui.showConsoleProgress false
spark.hadoop.fs.s3a.endpoint http://head:9000
spark.hadoop.fs.s3a.endpoint.region us-east-1
spark.hadoop.fs.s3a.path.style.access true
spark.hadoop.fs.s3a.access.key trial
spark.hadoop.fs.s3a.secret.key trial
PAIRS
cat >"$work/conf/log4j2.properties" <<'PAIRS'
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
PAIRS
mkdir "$work/classes"
"$JAVA_HOME/bin/javac" -d "$work/classes" -cp "$fetched/hadoop/*:$SPARK_HOME/jars/*" "$here/ShuffleAuxiliary.java"
export servers="$work/conf:$work/classes:$fetched/hadoop/*:$SPARK_HOME/jars/*"
# daemon HOST CLASS [ARGUMENTS]: the command line of one of Hadoop's servers
daemon() {
  local host=$1
  shift
  # shellcheck disable=SC2086
  exec "$JAVA_HOME/bin/java" $flags -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dsparqr.host="$host" \
    -cp "$servers" "$@"
}
hdfs() {
  (daemon head org.apache.hadoop.fs.FsShell "$@") 2>>"$work/logs/hdfs"
}
open() { timeout 1 bash -c "</dev/tcp/$1/$2"; }

say "Hadoop $(basename "$fetched"/hadoop/hadoop-client-minicluster-*.jar .jar | sed 's/.*-//'), PySpark $version," \
  "$("$JAVA_HOME/bin/java" -version 2>&1 | head -n 1), $(nproc) cores"
hadoop=org.apache.hadoop
(daemon head $hadoop.hdfs.server.namenode.NameNode -format -force) >"$work/logs/format" 2>&1 || fail "no HDFS: $work/logs/format"
(daemon head $hadoop.hdfs.server.namenode.NameNode) >"$work/logs/namenode" 2>&1 &
(daemon head $hadoop.hdfs.server.datanode.DataNode) >"$work/logs/datanode" 2>&1 &
(daemon head $hadoop.yarn.server.resourcemanager.ResourceManager) >"$work/logs/resourcemanager" 2>&1 &
"$fetched/moto/bin/moto_server" -H 0.0.0.0 -p 9000 >"$work/logs/s3" 2>&1 &

declare -A init
export -f daemon
export flags
# node NAME ADDRESS: a host of its own, the processes of which end with its first one
node() {
  # shellcheck disable=SC2016
  unshare --net --uts --pid --fork --kill-child --mount --mount-proc bash -c '
    hostname "$0"
    until ip link show eth0 >/dev/null 2>&1; do sleep 0.1; done
    ip link set lo up
    ip address add "$1/24" dev eth0
    ip link set eth0 up
    (daemon "$0" org.apache.hadoop.yarn.server.nodemanager.NodeManager) || true
    sleep infinity' "$1" "$2" >"$work/logs/$1.manager" 2>&1 &
  local outer=$!
  await 5 "the first process of $1" pgrep -P "$outer"
  init[$1]=$(pgrep -P "$outer")
  ip link add "$1" type veth peer name eth0 netns "${init[$1]}"
  ip link set "$1" master bridge up
}
node node1 192.0.2.11
node node2 192.0.2.12
await 90 "HDFS on port 8020" open head 8020
await 90 "the resource manager on port 8088" open head 8088
await 60 "S3 on port 9000" open head 9000
# ask QUESTION: of the resource manager's web service
ask() {
  "$PYSPARK_PYTHON" -c 'import sys, urllib.request as web
web.install_opener(web.build_opener(web.ProxyHandler({})))
asked = web.Request("http://head:8088/ws/v1/cluster/" + sys.argv[1], headers={"Accept": "application/json"})
print(web.urlopen(asked, timeout=5).read().decode())' "$1"
}
nodes() { [ "$(ask 'nodes?states=RUNNING' | grep -o '"nodeHTTPAddress":"node[12]:' | sort -u | wc -l)" -eq "$1" ]; }
await 90 "two node managers" nodes 2
say "HDFS, a resource manager, two node managers and S3 are up"

# recipe HEADING [LANGUAGE]: the fence of the guide under that heading
recipe() {
  awk -v heading="## $1" -v fence="\`\`\`${2:-bash}" '
    $0 == heading { under = 1; next }
    /^## / { under = 0 }
    under && $0 == fence { inside = 1; next }
    inside && /^```$/ { exit }
    inside { print }' "$guide"
}
# scaled PROGRAM ARGUMENTS...: what a recipe calls, its sizes and paths those of this machine
scaled() {
  local program=$1 word words=()
  shift
  for word in "$@"; do
    case $word in
      org.apache.hadoop:hadoop-aws:*)
        # the guide's recipes are for Spark 4.0
        [ "${version%.*}" != 4.0 ] || [ "${word##*:}" = "$(hadoop)" ] || fail "$word is not the Hadoop of PySpark $version"
        word=$s3 ;;
      --packages) word=--jars ;;
      sparqr.jar) word=$jar ;;
      spark.driver.memory=*) word=spark.driver.memory=600m ;;
      spark.executor.memory=*) word=spark.executor.memory=600m ;;
      spark.executor.memoryOverhead=*) word=spark.executor.memoryOverhead=384m ;;
      spark.executor.cores=*) word=spark.executor.cores=1 ;;
      spark.executor.instances=* | spark.dynamicAllocation.maxExecutors=*) word=${word%=*}=2 ;;
      8) word=2 ;;
      x.mtx | report.json) word=$work/shared/$name.$word ;;
      /mnt/shared/*) word=$work/shared/$name.${word##*/} ;;
      hdfs:///data/A.mtx | hdfs:///data/A.parquet) word=${matrix:-$word} ;;
    esac
    words+=("$word")
  done
  # two options --jars are one
  if [ "$program" = spark-shell ]; then
    mapfile -t words < <(printf '%s\n' "${words[@]}" | awk -v all="$s3,$jar" '
      $0 == "--jars" { getline; if (!given++) { print "--jars"; print all } next } { print }')
  fi
  "$SPARK_HOME/bin/$program" "${words[@]}" ${more[@]+"${more[@]}"}
}
spark-submit() { scaled spark-submit "$@"; }
spark-shell() { scaled spark-shell "$@"; }
# run NAME HEADING: the recipe under that heading; its output goes to logs/NAME
run() {
  name=$1
  local begin=$SECONDS commands
  commands=$(recipe "$2")
  [ -n "$commands" ] || fail "the guide has no recipe '$2'"
  (eval "$commands") >"$work/logs/$name" 2>&1 || fail "recipe '$2' ended with exit code $?: $work/logs/$name"
  say "$name: done in $((SECONDS - begin)) s"
}
# same NAME NAME: x of both runs has the same bits
same() { cmp -s "$work/shared/$1.x.mtx" "$work/shared/$2.x.mtx" || fail "$1 and $2 have not the same x"; }
# reported NAME KEY VALUE
reported() {
  "$PYSPARK_PYTHON" -c 'import json, sys
found = json.load(open(sys.argv[1]))[sys.argv[2]]
sys.exit(None if str(found) == sys.argv[3] else f"{sys.argv[2]} is {found}, not {sys.argv[3]}")' \
    "$work/shared/$1.report.json" "$2" "$3" || fail "$1: the report"
}
# said NAME PATTERN: the run's log has such a line
said() { grep -Eq -- "$2" "$work/logs/$1" || fail "$1 said nothing like '$2': $work/logs/$1"; }
more=()
matrix=

# Data: A as coordinates and as a table, a larger B, b; on HDFS and in a bucket.
sparqr() {
  # shellcheck disable=SC2086
  "$JAVA_HOME/bin/java" $flags -Xmx1g -cp "$jar:$SPARK_HOME/jars/*" io.sparqr.spark.cli.SparqrCli "$@"
}
data=$work/data
sparqr generate gen:cells3d14:rand --out "$data/A.mtx" >"$work/logs/generate" 2>&1
sparqr generate gen:cells3d30:rand --out "$data/B.mtx" >>"$work/logs/generate" 2>&1
"$PYSPARK_PYTHON" - "$data" <<'PYTHON'
import sys
import numpy, pandas, scipy.io
folder = sys.argv[1]
a = scipy.io.mmread(folder + "/A.mtx").tocoo()
pandas.DataFrame({"row": a.row, "column": a.col, "value": a.data}).to_parquet(folder + "/A.parquet")
scipy.io.mmwrite(folder + "/b.mtx", numpy.random.default_rng(49).normal(size=(a.shape[0], 1)), precision=17)
PYTHON
hdfs -mkdir -p /data /models || fail "HDFS: $work/logs/hdfs"
hdfs -put "$data"/{A.mtx,B.mtx,A.parquet,b.mtx} /data/ || fail "HDFS: $work/logs/hdfs"
"$fetched/moto/bin/python" - "$data" <<'PYTHON'
import sys
import boto3
client = boto3.client("s3", endpoint_url="http://head:9000")
client.create_bucket(Bucket="bucket")
client.upload_file(sys.argv[1] + "/A.mtx", "bucket", "A.mtx")
PYTHON
say "data: $(hdfs -ls /data | awk 'NF > 6 { printf "%s%s %s bytes", between, $8, $5; between = ", " }')"

# What one machine makes of the same files, its tree cut for as many executors.
alone() {
  name=$1
  "$SPARK_HOME/bin/spark-submit" --master 'local[2]' --class io.sparqr.spark.cli.SparqrCli "$jar" \
    solve --matrix "$2" --executors 2 --out "$work/shared/$1.x.mtx" >"$work/logs/$1" 2>&1 || fail "$1: $work/logs/$1"
}
alone alone hdfs:///data/A.mtx
alone alone-table hdfs:///data/A.parquet

run client 'Client mode'
same client alone-table
reported client executors 2

run cluster 'Cluster mode'
same cluster alone
reported cluster executors 2

# a failure in cluster mode: the line is in the driver's log
matrix=hdfs:///data/missing.mtx
name=failing
(eval "$(recipe 'Cluster mode')") >"$work/logs/$name" 2>&1 && fail "a missing file in cluster mode: exit code 0" || code=$?
matrix=
grep -qsrF 'sparqr: hdfs:///data/missing.mtx' "$work"/logs/node?/*/*/stderr || fail "no line about the missing file in the driver's log"
say "failing: a missing file in cluster mode, spark-submit ended with exit code $code"

run dynamic 'Dynamic allocation and the external shuffle service'
same dynamic alone
reported dynamic executors 2
grep -qs 'ExternalShuffleBlockResolver: Registered executor' "$work"/logs/node?.manager || fail "no executor registered with a shuffle service"

run s3 'S3'
same s3 alone
reported s3 executors 2

name=shell
begin=$SECONDS
(eval "$(recipe 'A factorization, saved and loaded')" < <(recipe 'A factorization, saved and loaded' scala)) \
  >"$work/logs/shell" 2>&1 || fail "spark-shell: $work/logs/shell"
said shell '(^|scala> )hdfs:///models/monday: the same x true'
said shell '(^|scala> )s3a://bucket/models/monday: the same x true'
say "shell: saved to HDFS and S3, loaded from both, the same x, in $((SECONDS - begin)) s"
hdfs -ls -R /models >"$work/logs/models"

[ "$losses" = losses ] || { say "passed" && exit; }

# The larger problem, first without a loss. (One machine would cut its tree otherwise, by its heap.) Then solved several
# times in one application; what is lost is lost during the second.
matrix=hdfs:///data/B.mtx
more=(--executors 2)
run larger 'Client mode'
reported larger columns 27000
more=(--executors 2 --repeat 5)
begun() {
  name=$1
  (eval "$(recipe "$2")") >"$work/logs/$1" 2>&1 &
  running=$!
  await 180 "the first solve of $1" grep -q 'run 1 of' "$work/logs/$1"
}
ended() {
  wait "$running" || fail "$name ended with exit code $?: $work/logs/$name"
  said "$name" 'Lost executor'
  same "$name" larger
  say "$name: $1; the same x, $(grep -c 'run [0-9]* of' "$work/logs/$name") solves in $((SECONDS - begin)) s"
}
# A host with an executor, if possible not that of the application master, whose loss is another story.
victim() {
  local master host
  master=$(ask 'apps?states=RUNNING' | grep -o '"amHostHttpAddress":"node[12]' | sed 's/.*"//' | head -n 1)
  for host in node1 node2; do
    [ "$host" = "$master" ] || ! pgrep -f "^[^ ]*java .*CoarseGrainedExecutorBackend.*--hostname $host" >/dev/null || { echo "$host" && return; }
  done
  echo "$master"
}
begin=$SECONDS
begun executor 'Dynamic allocation and the external shuffle service'
kill -9 "$(pgrep -f "^[^ ]*java .*CoarseGrainedExecutorBackend.*--hostname $(victim)" | tail -n 1)"
ended "an executor killed, with the shuffle service"

begin=$SECONDS
begun machine 'Client mode'
host=$(victim)
kill -9 "${init[$host]}"
ended "$host killed with all that ran on it"
await 60 "the loss of $host" nodes 1
node "$host" "$(sed -n "s/ $host$//p" "$work/hosts")"
await 90 "two node managers" nodes 2

# The resource manager notices after 15 s: on a fast machine five solves are over by then.
each=$(sed -n 's/^run . of 5: \([0-9]*\).*/\1/p' "$work/logs/executor" "$work/logs/machine" | sort -n | head -n 1)
more=(--executors 2 --repeat $((5 + 30 / (each + 1))))
begin=$SECONDS
begun manager 'Client mode'
host=$(victim)
kill -9 "$(pgrep -f "^[^ ]*java .*sparqr.host=$host .*NodeManager")"
ended "the node manager of $host killed, its containers not"
await 60 "the loss of $host" nodes 1

say "passed"
