#!/usr/bin/env bash
# Packs what a GPU host without Java and Maven needs to run the gpu-tagged tests and the benchmarks:
# classes, jars, JUnit's console launcher, a jlinked runtime, the run script. pack.sh <output folder>
#   PACK_OPENBLAS=1   with OpenBLAS for the CPU side (20 MB more)
# The project must be compiled (./mvnw test-compile), which also brings all jars. About 50 MB.
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
out=${1:?output folder}
mkdir -p "$out/lib"
repository=${MAVEN_REPOSITORY:-$HOME/.m2/repository}

jar() { # group/artifact/version[-classifier]: the jar of the local repository
  local f
  f=$(find "$repository/$1" -name "$2" | sort | tail -n 1)
  [ -n "$f" ] || { echo "pack: $2 is not in the local repository" >&2; exit 1; }
  cp -u "$f" "$out/lib/"
}
jar org/jcuda/jcuda 'jcuda-1?.*.jar'
jar org/jcuda/jcuda-natives 'jcuda-natives-*linux-x86_64.jar'
jar dev/ludovic/netlib/blas 'blas-3.0.3.jar'
jar dev/ludovic/netlib/lapack 'lapack-3.0.3.jar'
jar net/sourceforge/f2j/arpack_combined_all 'arpack_combined_all-0.1.jar'
jar org/assertj/assertj-core 'assertj-core-3.27.7.jar'
jar net/bytebuddy/byte-buddy 'byte-buddy-1.*.jar'
jar org/junit/platform/junit-platform-console-standalone 'junit-platform-console-standalone-1.*.jar'
jar org/bytedeco/javacpp 'javacpp-1.5.13.jar'
if [ -n "${PACK_OPENBLAS:-}" ]; then
  jar org/bytedeco/javacpp 'javacpp-1.5.13-linux-x86_64.jar'
  jar org/bytedeco/openblas 'openblas-0.3.31-1.5.13.jar'
  jar org/bytedeco/openblas 'openblas-*-linux-x86_64.jar'
else
  jar org/bytedeco/openblas 'openblas-0.3.31-1.5.13.jar'
fi
# The natives jar carries a 24 MB PTX compiler that nothing here uses.
(cd "$out/lib" && zip -q -d jcuda-natives-*.jar 'lib/libJNvPTXCompiler*' 'lib/libJNvrtc*' \
  'lib/libJCudaRuntime*') 2>/dev/null || true

for m in partitioning gpu-core benchmarks; do
  for c in classes test-classes; do
    [ -d "$home/$m/target/$c" ] || continue
    mkdir -p "$out/$m/$c"
    cp -ru "$home/$m/target/$c/." "$out/$m/$c/"
  done
done
if [ ! -x "$out/jre/bin/java" ]; then
  jlink --add-modules java.base,java.logging,java.management,java.xml,java.compiler,java.instrument,jdk.management,jdk.unsupported,jdk.incubator.vector \
    --strip-debug --no-header-files --no-man-pages --compress=2 --output "$out/jre"
fi
cp "$home"/benchmarks/gpu/{run.sh,check.sh,evidence.sh,sanitize.sh,survey.sh,devices.sh,table.sh,cusolver.py,summary.py} "$out/"
mkdir -p "$out/papers"
cp "$home"/benchmarks/papers/* "$out/papers/"
# What evidence.sh says of the code at the head of its logs.
"$home/gpu-core/src/main/cuda/fingerprint.sh" >"$out/KERNELS"
"$home/gpu-core/src/main/cuda/fingerprint.sh" several >"$out/SEVERAL"
"$home/gpu-core/src/main/cuda/fingerprint.sh" dense >"$out/DENSE"
{ git -C "$home" describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown; } >"$out/COMMIT"
ls "$out/gpu-core/classes/io/sparqr/backend/cuda/" | grep -qE '^rounds\.(fatbin|sm_90\.cubin)$' ||
  { echo "pack: no kernels in gpu-core/target/classes: gpu-core/src/main/cuda/build.sh makes them there" >&2; exit 1; }
du -sh "$out" >&2
