#!/usr/bin/env bash
# Packs the whole product for a GPU host without Java and Maven: our classes, Spark's jars, OpenBLAS, a
# jlinked runtime, and optionally the collection of problems. The output is in parts of at most 48 MB, each a tgz of
# its own, for hosts that accept only small files.  pack-spark.sh <output folder> [data folder]
# On the host unpack all parts into one folder and run ./product.sh there.
# The project must be packaged (./mvnw -Pquick -DskipTests package).
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
out=${1:?output folder}
data=${2:-}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$out" "$stage/lib"
out=$(cd "$out" && pwd -P)
rm -f "$out"/part*.tgz

# Not needed there: other platforms' natives, the RocksDB shuffle store, Hive, Kubernetes, the web UI's files.
tr ':' '\n' <"$home/distribution/target/cli.classpath" |
  grep -vE 'rocksdbjni|/hive-|kubernetes|datanucleus|jcuda-natives|/sparqr-' |
  while read -r jar; do [ ! -f "$jar" ] || cp "$jar" "$stage/lib/"; done
natives=$(find "${MAVEN_REPOSITORY:-$HOME/.m2/repository}/org/jcuda/jcuda-natives" -name '*linux-x86_64.jar' | tail -n 1)
cp "$natives" "$stage/lib/"
(
  cd "$stage/lib"
  zip -q -d jcuda-natives-*.jar 'lib/libJNvPTXCompiler*' 'lib/libJNvrtc*' 'lib/libJCudaRuntime*' || true
  for jar in *.jar; do
    zip -q -d "$jar" 'darwin/*' 'win/*' 'aix/*' 'freebsd/*' 'linux/aarch64/*' 'linux/arm/*' 'linux/ppc64*/*' \
      'linux/s390x/*' 'linux/riscv64/*' 'linux/loongarch64/*' 'linux/mips64/*' 'linux/i386/*' 'linux/x86/*' \
      'org/xerial/snappy/native/[MWASF]*' 'org/xerial/snappy/native/Linux/[a-wy-z]*' >/dev/null 2>&1 || true
  done
)
for m in partitioning gpu-core spark-connector regression cli benchmarks; do
  mkdir -p "$stage/$m"
  cp -r "$home/$m/target/classes" "$stage/$m/"
done
for m in spark-connector regression cli; do
  cp -r "$home/$m/target/test-classes" "$stage/$m/"
done
cp "$home"/benchmarks/gpu/{product.sh,compare.py} "$stage/"
mkdir -p "$stage/papers"
cp "$home"/benchmarks/papers/* "$stage/papers/"
sed -n 's:.*<spark.jvm.args>\(.*\)</spark.jvm.args>.*:\1:p' "$home/pom.xml" >"$stage/jvm.args"
jlink --add-modules java.se,jdk.unsupported,jdk.incubator.vector,jdk.crypto.ec,jdk.management,jdk.security.auth,jdk.security.jgss,jdk.zipfs,jdk.charsets,jdk.localedata \
  --generate-cds-archive --include-locales=en --strip-debug --no-header-files --no-man-pages --compress=2 --output "$stage/jre"
# An archive for heaps with compressed pointers is enough.
rm -f "$stage/jre/lib/server/classes_nocoops.jsa"
[ -z "$data" ] || cp -r "$data" "$stage/data"

# Greedy parts of at most 48 MB (compressed jars hardly shrink further).
cd "$stage"
find . -type f -printf '%s %P\n' | sort -rn | awk -v limit=48000000 -v out="$out" '
  { for (k = 0; k < n && used[k] + $1 > limit; k++); if (k == n) n++; used[k] += $1; print $2 > (out "/part" k ".list") }'
for list in "$out"/part*.list; do
  tar czf "${list%.list}.tgz" -T "$list"
  rm "$list"
done
ls -la "$out" >&2
