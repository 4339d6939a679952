#!/usr/bin/env bash
# The gpu-tagged tests under NVIDIA's compute-sanitizer, where pack.sh was unpacked: many processes
# at the same time, on all devices. sanitize.sh <output folder> <processes a device> [<job> ...]
# sanitize.sh list [devices|dense]   prints all jobs, or those of several devices, which see all devices, or of dense matrices;
# needs no GPU
#   job            tool:class[:part], part a slice k/n of its matrices or a regular expression of
#                  test methods (! before it: all others); without jobs: all jobs that the tests need
#   SPARQR_SHARED  folder of the shared collection; without it the tests on real matrices skip
#   TOOLS          regular expression of the tools to run all jobs of (default all four)
#   PART           k/n: every n-th of these jobs, from the k-th (1 to n) on
#   LIMIT          seconds a job may take (default 500)
#   GPUS           so many GPUs alone (default all)
#   FIRST_GPU      the number of the first of them (default 0)
# One line a job: seconds, tests passed, failed and skipped, and the sanitizer's counts; its output
# is in the output folder. Fails if a test failed or the sanitizer found something.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

# CudaTuningTest has no job: it measures times, of lists that the plain executor runs as well and kernels that the others run.
contract='CudaSubtreeFactorizerTest CudaSmallBundlesTest CudaPoisonedBuffersTest CudaReflectorsTest'
# racecheck is 50 times slower than the others: the contract in parts, and of its sweeps the cases that the gate takes
# (Sampling); of the matrices with many dead columns the two smaller ones, nug8 and ch5-5-b3, in both orders.
parts='dense|rightHand|staircases columnsFrom|subnormal|products sparse|incidence farMore|farther keptReflectors'
parts+=' blocksOfMany sameBits independentOf laterSolves'
others='CudaResourcesTest CudaUnknownTaskTest CudaExecutorSumsTest'
devices='randomMaps keptQ theNextTask aDenseFront theMapping aFactorizer'
resident='outlivesIts|isFreed|theLeast|tooMany severalRight theStored|theNext repeated rowsThatStayed rowsThatAreClaimed claimedRows'
all_jobs() {
  local tool class part k
  for k in {0..2}; do echo "racecheck:CudaKeptQTest:$k/3"; done
  for k in {0..23}; do echo "racecheck:CudaRealMatricesTest:$k/24"; done
  for k in {0..5}; do echo "racecheck:CudaReferenceDataTest:$k/6"; done
  for k in 0 4 5 9; do echo "racecheck:CudaDeadColumnsTest:$k/10"; done
  for class in $others; do echo "racecheck:$class"; done
  for part in $resident; do echo "racecheck:CudaResidentTest:$part"; done
  echo "racecheck:CudaResidentTest:!${resident// /|}"
  for class in $contract; do
    for part in ${parts/laterSolves/laterSolves$ laterSolvesInTasks}; do echo "racecheck:$class:$part"; done
    echo "racecheck:$class:!${parts// /|}"
  done
  for tool in memcheck initcheck synccheck; do
    for class in $contract $others CudaDeadColumnsTest CudaKeptQTest CudaResidentTest CudaReferenceDataTest; do echo "$tool:$class"; done
    for k in {0..3}; do echo "$tool:CudaRealMatricesTest:$k/4"; done
  done
}
# What several devices run is an image of its own. Tall matrices run the kernels of all_jobs, and are here until a log has them.
device_jobs() {
  local tool part
  for tool in memcheck initcheck synccheck racecheck; do echo "$tool:CudaTallFrontTest"; done
  for tool in memcheck initcheck synccheck; do echo "$tool:CudaDevicesTest"; done
  for part in $devices; do echo "racecheck:CudaDevicesTest:$part"; done
}
# What dense matrices alone have is a third one. Under racecheck an SVD of Robust PCA takes minutes.
dense_jobs() {
  local tool class part
  for tool in memcheck initcheck synccheck; do
    for class in CudaDenseQrTest CudaPursuitTest; do echo "$tool:$class"; done
  done
  echo racecheck:CudaDenseQrTest
  for part in theResult iterations theHostEnds singularValues unitsDoNot; do echo "racecheck:CudaPursuitTest:$part"; done
}
if [ "${1:-}" = list ]; then
  case ${2:-} in
    devices) device_jobs ;;
    dense) dense_jobs ;;
    *) all_jobs ;;
  esac
  exit
fi
out=${1:?output folder}
each=${2:?processes a device}
shift 2
mkdir -p "$out"

one() { # job: runs it, keeps what it printed, prints its line
  local tool class part slice=0/1 begin log code=0 select=() sample=()
  IFS=: read -r tool class part <<<"$1"
  case $part in
    '') ;;
    */*) slice=$part ;;
    '!'*) select=(--exclude-methodname ".*#(${part#!}).*") ;;
    *) select=(--include-methodname ".*#($part).*") ;;
  esac
  [ "$tool" != racecheck ] || sample=(-Dsparqr.whole=false -Dsparqr.sample=racecheck)
  # The class in whichever package it is.
  class=$(find "$here/gpu-core/test-classes" -name "$class.class" -printf '%P\n' | sed 's/\.class$//;s:/:.:g')
  log=$out/${1//[^A-Za-z0-9!]/-}.txt
  begin=$SECONDS
  local visible=$((FIRST_GPU + SLOT % DEVICES))
  [ "$class" != io.sparqr.backend.cuda.CudaDevicesTest ] || visible=${CUDA_VISIBLE_DEVICES:-0,1}
  CUDA_VISIBLE_DEVICES=$visible timeout "${LIMIT:-500}" compute-sanitizer \
    --tool "$tool" --error-exitcode 9 --print-limit 20 \
    "$here/jre/bin/java" -Xmx6g -XX:+UseParallelGC --add-modules=jdk.incubator.vector \
    --enable-native-access=ALL-UNNAMED -Dsparqr.shared="${SPARQR_SHARED:-none}" \
    -Dsparqr.test.slice="$slice" "${sample[@]}" -cp "$CLASS_PATH" org.junit.platform.console.ConsoleLauncher \
    execute --include-tag gpu --disable-banner --disable-ansi-colors --fail-if-no-tests \
    --details=tree --select-class "$class" "${select[@]}" \
    >"$log" 2>&1 || code=$?
  tests() { sed -n "s/^\[ *\([0-9]*\) tests $1 *\]$/\1/p" "$log"; }
  printf '%s exit %s, %s s, %s passed, %s failed, %s skipped: %s\n' "$1" "$code" \
    $((SECONDS - begin)) "$(tests successful)" "$(tests failed)" "$(tests aborted)" \
    "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | sed 's/=* //' | sort | uniq -c | paste -sd ';')"
  [ "$code" = 0 ]
}

PART=${PART:-1/1}
CLASS_PATH=$(printf '%s:' "$here"/*/classes "$here"/*/test-classes "$here"/lib/*.jar)
DEVICES=${GPUS:-$(nvidia-smi -L | wc -l)}
FIRST_GPU=${FIRST_GPU:-0}
export here out CLASS_PATH DEVICES FIRST_GPU
export -f one
{ [ $# -gt 0 ] && printf '%s\n' "$@" || all_jobs | grep -E "^(${TOOLS:-.*}):" |
  awk -v k="${PART%/*}" -v n="${PART#*/}" 'NR % n == k % n'; } |
  xargs -d '\n' -P $((each * DEVICES)) --process-slot-var=SLOT -I{} bash -c 'one "$1"' _ {}
