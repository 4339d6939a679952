#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# Javadoc of the packages that programs call: docs/site/java.sh FOLDER, after Maven has compiled.
set -euo pipefail
out=$(realpath -m "${1:?a folder}")
cd "$(dirname "$0")/../.."
classpath=distribution/target/cli.classpath
[ -s "$classpath" ] || { echo "no $classpath: run ./mvnw -DskipTests package" >&2; exit 1; }
tool=javadoc
[ -z "${JAVA_HOME:-}" ] || tool=$JAVA_HOME/bin/javadoc
# the one list of what is public API: packages, and single types
mapfile -t names < <(sed -n '/<parameter>/,/<\/parameter>/s:.*<include>\([a-z][^<]*\)</include>.*:\1:p' pom.xml)
[ ${#names[@]} -gt 10 ] || { echo "no list of the API in pom.xml" >&2; exit 1; }
present=()
for name in "${names[@]}"; do
  for module in partitioning gpu-core spark-connector regression; do
    path=$module/src/main/java/${name//.//}
    [ ! -f "$path.java" ] || present+=("$path.java")
    for file in "$path"/[A-Zp]*.java; do
      [ ! -f "$file" ] || present+=("$file")
    done
  done
done
# types of other packages that these mention are taken from classes
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$tool" -quiet -Xdoclint:none -notimestamp -nohelp -windowtitle Sparqr -doctitle "Sparqr for Java and Scala" \
  -encoding UTF-8 -docencoding UTF-8 -d "$out" \
  -classpath "partitioning/target/classes:gpu-core/target/classes:spark-connector/target/classes:regression/target/classes:$(cat "$classpath")" \
  --add-modules jdk.incubator.vector "${present[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
