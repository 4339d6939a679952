#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# Deploys Sparqr to a folder as a release would, then builds and runs a Maven project of its own on it:
#   examples/standalone/run.sh              after a build of your own with or without checks
# In target: release (the repository), standalone (what the project's Maven fetched from it). Your own
# local repository is only read; SPARQR_MAVEN_REPOSITORY names it where it is not ~/.m2/repository.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
repository=$home/target/release
mine=$home/target/standalone
rm -rf "$repository" "$mine"

# Two layers: a folder to write to, and yours to read from.
yours=${SPARQR_MAVEN_REPOSITORY:-$HOME/.m2/repository}
maven() {
  "$home/mvnw" -q -B -ntp "-Dmaven.repo.local=$mine" "-Dmaven.repo.local.tail=$yours" \
    "-Ddownload.cache.directory=$yours/.cache/download-maven-plugin" "$@"
}

# The profile errorprone compiles nothing here that a build with checks has compiled; the jar for
# spark-submit is there if such a build made it, and is not made again.
(cd "$home" && maven -Perrorprone,release -DskipTests -Dspotless.check.skip=true -Dcheckstyle.skip=true \
  -Denforcer.skip=true -Dshade.skip=true -Dmaven.install.skip=true \
  "-DaltDeploymentRepository=folder::file://$repository" -pl distribution -am deploy)

missing=0
for module in partitioning gpu-core spark-connector regression cli; do
  for file in .jar -sources.jar -javadoc.jar .pom -cyclonedx.json -cyclonedx.xml; do
    compgen -G "$repository/io/sparqr/sparqr-$module/*/sparqr-$module-*[0-9]$file" >/dev/null ||
      { echo "release: no sparqr-$module$file" >&2; missing=1; }
  done
done
# the artifact of all modules has no sources of its own
for file in .jar .pom -cyclonedx.json; do
  compgen -G "$repository/io/sparqr/sparqr-spark/*/sparqr-spark-*[0-9]$file" >/dev/null ||
    { echo "release: no sparqr-spark$file" >&2; missing=1; }
done
[ "$missing" = 0 ]
for element in name description url licenses developers scm; do
  grep -q "<$element" "$repository"/io/sparqr/sparqr-parent/*/*.pom || { echo "release: no $element in the POM" >&2; exit 1; }
done
jar=$(find "$home/distribution/target" -maxdepth 1 -name 'sparqr-spark-*-all.jar' | head -n 1)
if [ -n "$jar" ]; then
  listed=$(python3 -m zipfile -l "$jar" 2>/dev/null || "${JAVA_HOME:+$JAVA_HOME/bin/}jar" tf "$jar")
  for file in LICENSE THIRD-PARTY.md licenses/OpenBLAS.txt licenses/JCuda.txt; do
    grep -q "META-INF/$file" <<<"$listed" || { echo "release: no META-INF/$file in $jar" >&2; exit 1; }
  done
fi

printed=$(maven -f "$here/pom.xml" "-Dsparqr.repository=file://$repository" compile exec:exec 2>"$home/target/standalone.log") ||
  { cat "$home/target/standalone.log" >&2; exit 1; }
echo "$printed"
grep -qx 'y = 0.800 + 2.100 t' <<<"$printed" || { echo "standalone: not the line of those points" >&2; exit 1; }
