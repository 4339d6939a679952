#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# Prints the path of a Python of a given minor version, for the tests: python/tests/interpreter.sh 3.13
# The system's own where it has that version; else the build for JavaCPP on Maven Central (CPython as it is, PSF licence),
# unpacked under python/target on the first call.
set -euo pipefail
minor=${1:?a version of Python: 3.10 to 3.14}
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
if command -v "python$minor" >/dev/null && "python$minor" -c 'import ensurepip, venv' 2>/dev/null; then
  command -v "python$minor"
  exit
fi
case $minor in
  3.10) artifact=3.10.8-1.5.8 ;;
  3.11) artifact=3.11.3-1.5.9 ;;
  3.12) artifact=3.12.1-1.5.10 ;;
  3.13) artifact=3.13.5-1.5.12 ;;
  3.14) artifact=3.14.3-1.5.13 ;;
  *)
    echo "no Python $minor here, nor known on Maven Central" >&2
    exit 2
    ;;
esac
folder=$home/python/target/python-$minor
python=$folder/org/bytedeco/cpython/linux-x86_64/bin/python$minor
if [ ! -x "$python" ]; then
  rm -rf "$folder"
  (cd "$home" && ./mvnw -q -B -ntp -N dependency:unpack "-Dartifact=org.bytedeco:cpython:$artifact:jar:linux-x86_64" \
    "-DoutputDirectory=$folder" -Dmdep.overWriteReleases=true) >&2
  chmod +x "$(dirname "$python")"/*
  # where ctypes looks for it
  cp "$(dirname "$python")"/../libffi.so.* "$(dirname "$python")/../lib/python$minor/lib-dynload"
  "$python" -c 'import bz2, ctypes, decimal, ssl, venv, zlib'
fi
echo "$python"
