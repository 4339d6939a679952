#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# All Python tests on one PySpark, none skipped:
#   python/tests/on_pyspark.sh 4.0.1
# in a separate environment under python/target, made on the first call;
#   python/tests/on_pyspark.sh 4.0.1 --install
# only makes the environment. The package comes from the source tree, the jar from Maven's build;
#   python/tests/on_pyspark.sh 4.0.1 sparqr-*.whl
# tests the package and the jar in that wheel. With --short at the end it runs fewer tests, enough for a
# second version of PySpark; with --sample SEED those of --short and one in ten of the others, chosen by the seed.
set -euo pipefail
version=${1:?the version of PySpark}
wheel=${2:-}
[ ! -f "$wheel" ] || wheel=$(realpath "$wheel")
cd "$(dirname "$0")/.."
pinned=(tests/requirements.txt "tests/pyspark-$version.txt")
[ -f "${pinned[1]}" ] || { echo "no python/${pinned[1]}" >&2; exit 2; }

home=$PWD/target/pyspark-$version
run() {
  env -u PYTHONPATH -u SPARK_HOME "$@"
}

sums=$(cat "${pinned[@]}" | sha256sum)
if [ "$(cat "$home/made" 2>/dev/null)" != "$sums" ]; then
  rm -rf "$home"
  python3 -m venv "$home"
  run "$home/bin/python" -m pip install -q --require-hashes -r "${pinned[0]}"
  run "$home/bin/python" -m pip install -q --require-hashes --no-build-isolation -r "${pinned[1]}"
  run "$home/bin/python" -W ignore -m tests.programs.archive "$home/classes.jsa" >"$home/archive.log" 2>&1
  echo "$sums" >"$home/made"
fi
case $wheel in
  '') top=$PWD ;;
  --install) exit 0 ;;
  *)
    top=$home/top
    rm -rf "$top"
    run "$home/bin/python" -m pip install -q --no-index --no-deps --target "$top" "$wheel"
    ln -s "$PWD/tests" "$top/tests"
    ;;
esac

cd "$top"
# A Spark Connect server starts slowly, so each run has only one: started without the jar in one run, with it in the other.
short=()
tests=(tests.test_connect.ArtifactTest)
if [ "${3:-}" = --short ]; then
  # leaves out long tests of parts that do not depend on PySpark's version or that other tests cover
  short=(test_compare test_feols test_interrupt test_lstsq)
  tests=(tests.test_connect.ServersJarTest)
fi
for test in tests/test_*.py; do
  name=$(basename "$test" .py)
  case " test_connect ${short[*]} " in
    *" $name "*) ;;
    *) tests+=("tests.$name") ;;
  esac
done
log=$home/tests.log
run SPARQR_TEST_PYSPARK="$version" SPARQR_TEST_ARCHIVE="$home/classes.jsa" \
  "$home/bin/python" -W ignore -m unittest "${tests[@]}" -v 2>&1 | tee "$log"
if grep -q "^OK (.*skipped=" "$log" || ! grep -q "^Ran [1-9]" "$log"; then
  echo "tests were skipped on PySpark $version" >&2
  exit 1
fi
