#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# Digits of agreement of Sparqr, R's lm and MLlib: writes the problems, lets R fit them if it is
# installed (otherwise takes R's values from the committed r.csv), fits them, prints the table.
#   benchmarks/accuracy/table.sh NIST    NIST: folder of NIST's sets as NistReferenceTest has them
set -euo pipefail
nist=$(cd "${1:?folder of the data of NIST}" && pwd -P)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$home"
./mvnw -q -B -ntp -Pquick -DskipTests -Dshade.skip=true package >&2
flags=$(sed -n 's:.*<spark.jvm.args>\(.*\)</spark.jvm.args>.*:\1:p' pom.xml)
classes=benchmarks/target/classes:spark-connector/target/test-classes:regression/target/test-classes
run() {
  # shellcheck disable=SC2086
  java $flags -Xmx2g -cp "$classes:$(cat distribution/target/cli.classpath)" \
    io.sparqr.spark.ml.AccuracyTable "$@"
}
run write "$nist" "$work"
if command -v Rscript >/dev/null; then
  Rscript "$here/accuracy.R" "$work" "$here/r.csv"
fi
run table "$nist" "$here/r.csv"
