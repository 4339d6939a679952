#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# A newcomer's way from an empty folder to a table of coefficients, as the guides say it, on one version of Spark:
#   python/tests/newcomer.sh 4.1.4 [PYTHON]
# pip with PySpark; pip with the client of Spark Connect alone, and a server; spark-submit; spark-shell. What pip may choose
# it chooses, but for Spark. PYTHON is a version that interpreter.sh knows (default: python3). Needs the wheel
# (python/tests/wheel.sh) and a network; 0.5 GB from PyPI. The same on YARN: benchmarks/cluster/yarn.sh 4.1.4
set -euo pipefail
version=${1:?the version of PySpark}
minor=${2:-}
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
wheel=$(compgen -G "$home/python/target/wheel/sparqr-*.whl") || { echo "no wheel: python/tests/wheel.sh $version" >&2; exit 2; }
python=python3
[ -z "$minor" ] || python=$("$home/python/tests/interpreter.sh" "$minor")
on="Spark $version${minor:+, Python $minor}"
wages=$home/docs/guide/wages.csv
formula='log_wage ~ age + tenure | worker + firm'
folder=$(mktemp -d)
server=
# shellcheck disable=SC2317
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT
cd "$folder"
unset PYTHONPATH SPARK_HOME
export SPARK_LOCAL_IP=127.0.0.1

# table WAY FILE: fails unless the file has the coefficient of the guide's regression, which all ways have to the last digit shown
table() {
  grep -qF -- "$(cat "$folder/age")" "$2" || { echo "$1 on $on: no table" >&2; tail -n 30 "$2" >&2; exit 1; }
  echo "$1 on $on: a table after $SECONDS s"
  SECONDS=0
}

# By the command line of this checkout: what all others must show.
"$home/bin/sparqr" regress "$wages" --formula "$formula" --cluster worker >own 2>&1
sed -nE 's/^ *age +(-?[0-9]+\.[0-9]{4}).*/\1/p' own | head -n 1 >age
[ -s age ] || { cat own >&2; exit 1; }
SECONDS=0

"$python" -m venv classic
classic/bin/pip install -q "$wheel[classic,feols]" "pyspark==$version"
cat >first.py <<PYTHON
import sparqr

fit = sparqr.feols("$formula", "$wages", vcov={"CRV1": "worker"})
fit.summary()
PYTHON
classic/bin/python first.py >classic.log 2>&1 || true
table "pip with PySpark" classic.log

export SPARK_HOME
SPARK_HOME=$(compgen -G "$folder/classic/lib/python3*/site-packages/pyspark")
jar=$(classic/bin/python -c 'import sparqr; print(sparqr.jar())')
"$SPARK_HOME/bin/spark-submit" --master 'local[2]' --class io.sparqr.spark.cli.SparqrCli "$jar" \
  regress "$wages" --formula "$formula" --cluster worker >submit.log 2>&1 || true
table spark-submit submit.log

cat >first.scala <<SCALA
import io.sparqr.spark.ml._
val df = spark.read.option("header", true).option("inferSchema", true).csv("$wages")
val m = new SparseQRRegression().setFormula("$formula").fit(df)
println(m.summary)
SCALA
"$SPARK_HOME/bin/spark-shell" --master 'local[2]' --jars "$jar" <first.scala >shell.log 2>&1 || true
table spark-shell shell.log

"$SPARK_HOME/bin/spark-submit" --master 'local[2]' --jars "$jar" --class org.apache.spark.sql.connect.service.SparkConnectServer \
  --conf spark.connect.grpc.binding.port=15049 --conf spark.connect.grpc.binding.address=127.0.0.1 spark-internal >server.log 2>&1 &
server=$!
unset SPARK_HOME
"$python" -m venv client
# there is no client of each version: the newest that is not newer
client/bin/pip install -q "$wheel[connect,feols]" "pyspark-client<=$version"
for _ in $(seq 60); do
  (exec 3<>/dev/tcp/127.0.0.1/15049) 2>/dev/null && break
  sleep 1
done
cat >client.py <<PYTHON
import pandas
import sparqr
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("sc://127.0.0.1:15049").getOrCreate()
fit = sparqr.feols("$formula", spark.createDataFrame(pandas.read_csv("$wages")), vcov={"CRV1": "worker"})
fit.summary()
PYTHON
client/bin/python client.py >client.log 2>&1 || true
table "pip with the client of Spark Connect" client.log
