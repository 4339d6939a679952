#!/bin/bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# csv_fuzz.sh COUNT SEED: random CSV files read by Sparqr, Python's csv module and pandas.
# After ./mvnw -DskipTests verify; PYTHON names a Python that has pandas.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fuzz=src/test/python/csv_fuzz.py
"${PYTHON:-python3}" "$fuzz" write "$folder/files" "$1" "$2"
opens=()
for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util \
    java.util.concurrent java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
  opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
java -Xmx2g "${opens[@]}" -cp "target/test-classes:target/classes:$(cat ../distribution/target/cli.classpath)" \
  io.sparqr.spark.table.CsvFuzz "$folder/files" "$folder/read"
"${PYTHON:-python3}" "$fuzz" compare "$folder/files" "$folder/read"
