#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# All Python tests on one PySpark, none skipped:
#   python/tests/on_pyspark.sh 4.1.4
# in a separate environment under python/target, made on the first call;
#   python/tests/on_pyspark.sh 4.1.4 --install
# only makes the environment. The package comes from the source tree, the jar from Maven's build;
#   python/tests/on_pyspark.sh 4.1.4 sparqr-*.whl
# tests the package and the jar in that wheel. At the end may follow
#   --short SEED     leaves out nine in ten tests of the long modules, chosen by the seed, half of those of Spark Connect, and
#                    five in six pages of the docs
#   --sample SEED    leaves out nine in ten tests of all modules: enough for a second version of PySpark
# With SPARQR_TEST_PYTHON=3.13, say, on that Python (interpreter.sh), with what pip chooses for it but for PySpark: the pinned
# requirements are those of one Python.
# Where tests/client-*.txt pins a client of Spark Connect (pyspark-client) of the same minor version, the tests of Spark
# Connect reach their server by it, in a process that has no other PySpark and no Py4J.
set -euo pipefail
version=${1:?the version of PySpark}
wheel=${2:-}
[ ! -f "$wheel" ] || wheel=$(realpath "$wheel")
cd "$(dirname "$0")/.."
pinned=(tests/requirements.txt "tests/pyspark-$version.txt")
[ -f "${pinned[1]}" ] || { echo "no python/${pinned[1]}" >&2; exit 2; }
client=$(compgen -G "tests/client-${version%.*}.*.txt" || true)
[ -z "$client" ] || pinned+=("$client")

minor=${SPARQR_TEST_PYTHON:-}
home=$PWD/target/pyspark-$version${minor:+-python-$minor}
# like an environment that was activated: workers take its Python, too
run() {
  env -u PYTHONPATH -u SPARK_HOME PATH="$home/bin:$PATH" "$@"
}

sums=$(cat "${pinned[@]}" tests/requirements.in | sha256sum)
if [ "$(cat "$home/made" 2>/dev/null)" != "$sums" ]; then
  rm -rf "$home"
  if [ -z "$minor" ]; then
    python3 -m venv "$home"
    hashes=(--require-hashes)
    requirements=(-r "${pinned[0]}")
    of_spark=(-r "${pinned[1]}")
    of_client=(-r "$client")
  else
    "$(tests/interpreter.sh "$minor")" -m venv "$home"
    hashes=()
    # what holds a package back holds it back for the oldest Python; pandas 2 is what these versions of Spark know
    mapfile -t requirements < <(sed -E '/^#/d; /^(numpy|scipy)/s/<.*//' tests/requirements.in)
    of_spark=("pyspark==$version")
    of_client=("pyspark-client==$(sed -n 's/^pyspark-client==\([^ ]*\).*/\1/p' "${client:-/dev/null}")")
  fi
  run "$home/bin/python" -m pip install -q "${hashes[@]}" "${requirements[@]}"
  run "$home/bin/python" -m pip install -q "${hashes[@]}" --no-build-isolation "${of_spark[@]}"
  if [ -n "$client" ]; then
    run "$home/bin/python" -m pip install -q "${hashes[@]}" --no-deps --no-build-isolation --target "$home/client" "${of_client[@]}"
    echo 'raise ImportError("a client of Spark Connect has no Py4J")' >"$home/client/py4j.py"
  fi
  run "$home/bin/python" -W ignore -m tests.programs.archive "$home/classes.jsa" >"$home/archive.log" 2>&1
  echo "$sums" >"$home/made"
fi
[ -z "$minor" ] || { "$home/bin/python" -VV; "$home/bin/python" -m pip list --format freeze | xargs; }
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
# some SEED NUMBER MODULE...: names of their tests, one of so many
some() {
  local seed=$1 of=$2 test
  shift 2
  run "$home/bin/python" -W ignore - "$@" <<'PYTHON' | while read -r test; do
import sys, unittest

def names(suite):
    for test in suite:
        yield from names(test) if isinstance(test, unittest.TestSuite) else [test.id()]

sys.path.insert(0, "")
print(*sorted(names(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:]))), sep="\n")
PYTHON
    [ $(($(cksum <<<"$seed $test" | cut -d ' ' -f 1) % of)) -ne 0 ] || echo "$test"
  done
}

# A Spark Connect server starts slowly, so each run has only one: started without the jar in one run, with it in the other.
case $version in
  4.0.*) tests=(tests.test_connect.ServersJarTest) ;;
  *) tests=(tests.test_connect.ArtifactTest) ;;
esac
# and takes most of a minute: in a sample under one seed in six
if [ "${3:-}" = --sample ] && [ $(($(cksum <<<"$4 connect" | cut -d ' ' -f 1) % 6)) -ne 0 ]; then
  tests=()
elif [ "${3:-}" = --short ]; then
  mapfile -t tests < <(some "${4:?a seed}" 2 "${tests[@]}")
fi
# they do not depend on PySpark's version, other tests meet the same of it, or they start many JVMs
long=(test_compare test_ends test_feols test_interrupt test_load test_lstsq test_regressions test_report test_robust)
modules=()
sampled=()
for test in tests/test_*.py; do
  name=$(basename "$test" .py)
  case "${3:-} $name" in
    *" test_connect") ;;
    --sample*) sampled+=("tests.$name") ;;
    --short*) [[ " ${long[*]} " == *" $name "* ]] && sampled+=("tests.$name") || modules+=("tests.$name") ;;
    *) modules+=("tests.$name") ;;
  esac
done
tests+=("${modules[@]}")
if [ "${#sampled[@]}" -gt 0 ]; then
  mapfile -t chosen < <(some "${4:?a seed}" 10 "${sampled[@]}")
  echo "${#chosen[@]} tests of $(IFS=' '; echo "${sampled[*]}"), by the seed $4"
  tests+=("${chosen[@]}")
fi
log=$home/tests.log
[ -z "${4:-}" ] || export SPARQR_TEST_SEED=$4
run SPARQR_TEST_PYSPARK="$version" SPARQR_TEST_CLIENT="${client:+$home/client}" SPARQR_TEST_ARCHIVE="$home/classes.jsa" \
  "$home/bin/python" -W ignore -m unittest "${tests[@]}" -v 2>&1 | tee "$log" |
  while IFS= read -r line; do printf '%4d s %s\n' "$SECONDS" "$line"; done
if grep -q "^OK (.*skipped=" "$log" || ! grep -q "^Ran [1-9]" "$log"; then
  echo "tests were skipped on PySpark $version" >&2
  exit 1
fi
