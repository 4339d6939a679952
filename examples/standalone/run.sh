#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# A Maven project of its own, on Sparqr's jars from a folder: examples/standalone/run.sh [FOLDER]
#   FOLDER   a repository that Sparqr was deployed to; without it one is made, in target/repository
# Nothing of Sparqr's goes into your local repository: what the project resolves goes to a folder in
# target, and your local repository is only read.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
repository=${1:-$home/target/repository}

if [ $# -eq 0 ]; then
  (cd "$home" && ./mvnw -q -B -ntp -Pquick -DskipTests -Dshade.skip=true -Dmaven.install.skip=true \
    "-DaltDeploymentRepository=folder::file://$repository" deploy)
fi

# two layers: a folder to write to, and yours to read Spark from
mine=$home/target/standalone
layers=("-Dmaven.repo.local=$mine" "-Dmaven.repo.local.tail=${SPARQR_MAVEN_REPOSITORY:-$HOME/.m2/repository}")
rm -rf "$mine"
printed=$("$home/mvnw" -q -B -ntp -f "$here/pom.xml" "${layers[@]}" "-Dsparqr.repository=file://$repository" \
  compile exec:exec)
echo "$printed"
grep -qx 'y = 0.800 + 2.100 t' <<<"$printed" || { echo "standalone: not the line of those points" >&2; exit 1; }
