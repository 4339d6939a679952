#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# Tests the wheel as a user installs it: python/tests/wheel.sh 4.1.4
# builds it, checks its metadata, the package's types and that Python 3.10 can read it, and runs a program in another folder, in an
# environment of only the wheel, that PySpark and their requirements. The wheel stays in python/target/wheel. With
# --install it only makes the environments and checks the types.
set -euo pipefail
version=${1:?the version of PySpark}
cd "$(dirname "$0")/.."
constraints=(tests/requirements.txt "tests/pyspark-$version.txt")
[ -f "${constraints[1]}" ] || { echo "no python/${constraints[1]}" >&2; exit 2; }

tools=$PWD/target/tools
empty=$PWD/target/empty-$version
run() {
  env -u PYTHONPATH -u SPARK_HOME "$@"
}

# made FOLDER FILE...: true if the environment in FOLDER was made from the current contents of these files
made() {
  [ "$(cat "$1/made" 2>/dev/null)" = "$(cat "${@:2}" | sha256sum)" ]
}

if ! made "$tools" tests/tools.txt; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  run "$tools/bin/python" -m pip install -q --require-hashes -r tests/tools.txt
  sha256sum <tests/tools.txt >"$tools/made"
fi
if ! made "$empty" pyproject.toml "${constraints[@]}"; then
  rm -rf "$empty"
  python3 -m venv "$empty"
  # only the wheel's requirements: the wheel itself is not built yet
  sed -n 's/^\([a-z0-9-]*==[^ ]*\).*/\1/p' "${constraints[@]}" >"$empty/constraints.txt"
  mapfile -t wanted < <(sed -nE 's/^(dependencies|classic) = \["(.*)"\]$/\2/p' pyproject.toml)
  run "$empty/bin/python" -m pip install -q -c "$empty/constraints.txt" "${wanted[@]}"
  cat pyproject.toml "${constraints[@]}" | sha256sum >"$empty/made"
fi
run "$tools/bin/mypy" --python-executable "$empty/bin/python" --cache-dir "$tools/mypy"
# no syntax and no library newer than the oldest Python allowed by the metadata
run "$tools/bin/ruff" check -q --no-cache . ../notebooks ../benchmarks ../docs/site
run "$tools/bin/vermin" -q --no-tips --violations -t=3.10- sparqr tests setup.py ../notebooks ../docs/site
[ "${2:-}" != --install ] || exit 0

rm -rf target/wheel
run "$tools/bin/python" -m build --wheel --no-isolation --outdir target/wheel . >"$tools/build.log"
run "$tools/bin/twine" check --strict target/wheel/*.whl
# without an index: pip fails if the wheel has a requirement that is not installed
run "$empty/bin/python" -m pip uninstall -q -y sparqr 2>/dev/null
run "$empty/bin/python" -m pip install -q --no-index "$(ls target/wheel/*.whl)[classic]"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp tests/programs/installed.py "$folder"
cd "$folder"
run "$empty/bin/python" -I -W ignore installed.py "$version"
