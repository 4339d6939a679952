#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# Builds the site in target/site from the files of docs; a broken link is
# an error. It runs the notebooks on PySpark 4.1.4, with the jar that Maven has made; their assertions must hold.
#   docs/build.sh --install     only makes the environment (in python/target)
#   docs/build.sh --notebooks   runs the notebooks and makes no site
#   docs/build.sh --pages       makes the site from the last run of the notebooks
#   docs/build.sh --some NAME...  runs these notebooks; in the site the others have no outputs
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-}

beside=$PWD/python/target/pyspark-4.1.4
home=$PWD/python/target/docs
run() {
  env -u PYTHONPATH -u SPARK_HOME "$@"
}

python/tests/on_pyspark.sh 4.1.4 --install
sums=$(cat docs/requirements.txt "$beside/made" | sha256sum)
if [ "$(cat "$home/made" 2>/dev/null)" != "$sums" ]; then
  rm -rf "$home"
  python3 -m venv "$home"
  # PySpark and the packages of the tests are used from there
  packages=$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$beside/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$packages/pyspark.pth"
  run "$home/bin/python" -m pip install -q --require-hashes -r docs/requirements.txt
  echo "$sums" >"$home/made"
fi
[ "$what" != --install ] || exit 0

case $what in
  --pages) ;;
  --some)
    mkdir -p target/notebooks
    cp notebooks/*.ipynb target/notebooks
    run "$home/bin/python" notebooks/run.py "${@:2}"
    ;;
  *) run "$home/bin/python" notebooks/run.py ;;
esac
[ "$what" != --notebooks ] || exit 0

run "$home/bin/python" docs/site/pages.py
run NO_MKDOCS_2_WARNING=1 "$home/bin/python" -W ignore -m mkdocs build --strict -f docs/mkdocs.yml
echo "target/site/index.html"
