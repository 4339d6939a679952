#!/usr/bin/env bash
# Evidence about the kernels, on a GPU host, from the folder that pack.sh made: a log a call, with date, device, commit and
# the hash of the kernels' sources at its head, and its verdict at the end. EvidenceTest demands that the logs of
# docs/design/testing.md have today's hash. Each call takes less than nine minutes on the devices that it names.
#   evidence.sh FOLDER memcheck|initcheck|synccheck   all GPU tests under compute-sanitizer (one GPU: 3 minutes)
#   evidence.sh FOLDER racecheck [K/N]                the same; eight GPUs, or in N calls
#   evidence.sh FOLDER rest LOG...                    what of the sanitizers' jobs none of these logs shows to have passed with
#                                                     these kernels; nothing beside it, or jobs run out of their time (LIMIT);
#                                                     of one tool alone with TOOLS=memcheck, say
#   evidence.sh FOLDER faults [COUNT SEED]            the fault campaign (one GPU: 1000 take 10 s; default 20000 1)
#   evidence.sh FOLDER survey [SECONDS SEED]          the survey's list for SECONDS, then its sweep for a quarter of that
#                                                     (one GPU; default 330 1)
#   evidence.sh FOLDER devices                        the tests of several devices, and under memcheck, synccheck and racecheck
#                                                     (two GPUs; racecheck takes minutes)
#   evidence.sh FOLDER dense                          the tests of dense matrices, and under all four tools (one GPU)
#   EACH            processes a GPU of the sanitizers (default 4: a kernel stays until its list is done, so processes take
#                   turns, and more of them only run out of their time)
#   GPUS            so many GPUs alone (default all), from FIRST_GPU on (default 0), so that faults and survey have one for
#                   themselves: beside other processes on its GPU a kernel that waits costs them their time slices
#   SPARQR_SHARED   folder of the shared collection: tests on real matrices
# The log is FOLDER/DATE-DEVICE-WHAT.txt; its place in the repository is benchmarks/history.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
folder=${1:?folder for the log}
what=${2:?memcheck, initcheck, synccheck, racecheck, rest, faults, survey, devices or dense}
shift 2
mkdir -p "$folder"
devices=${GPUS:-$(nvidia-smi -L | wc -l)}
[ "$devices" -gt 0 ] || { echo "evidence: no GPU here" >&2; exit 2; }
chip=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
short=$(tr 'A-Z ' 'a-z\n' <<<"$chip" | grep -E '^[a-z]+[0-9]+[a-z]*$' | head -n 1)
start=$(date -u +%Y-%m-%dT%H:%M:%SZ)

case $what in
  memcheck | initcheck | synccheck | racecheck)
    each=${EACH:-4}
    part=${1:-1/1}
    name=sanitizer-$what
    [ "$part" = 1/1 ] || name+=-${part/\//of}
    commands=("TOOLS=$what PART=$part $here/sanitize.sh $folder/$name $each")
    ;;
  rest)
    each=${EACH:-4}
    name=sanitizer-rest
    passed=$(for log in "$@"; do ! grep -qx "kernels: $(cat "$here/KERNELS")" "$log" || sed -n 's/^\([a-z]*check:.*\) exit 0, .*/\1/p' "$log"; done)
    jobs=$("$here/sanitize.sh" list | grep -E "^(${TOOLS:-.*}):" | grep -vxFf <(echo "$passed") | sed "s/.*/'&'/" | paste -sd ' ')
    [ -n "$jobs" ] || { echo "evidence: no job is missing" >&2; exit 2; }
    commands=("$here/sanitize.sh $folder/$name $each $jobs")
    ;;
  faults)
    name=faults
    commands=("$here/run.sh java io.sparqr.backend.cuda.driver.DeviceFaults ${1:-20000} ${2:-1} 3")
    ;;
  survey)
    name=survey
    export SPARQR_HEAP=${SPARQR_HEAP:-60g}
    commands=("$here/survey.sh list --seconds ${1:-330} --cpu-limit 60" "$here/survey.sh sweep $((${1:-330} / 4)) ${2:-1}")
    ;;
  devices)
    name=devices
    jobs=$("$here/sanitize.sh" list devices | sed "s/.*/'&'/" | paste -sd ' ')
    commands=("$here/devices.sh first" "GPUS=1 $here/sanitize.sh $folder/$name 1 $jobs")
    ;;
  dense)
    name=dense
    jobs=$("$here/sanitize.sh" list dense | sed "s/.*/'&'/" | paste -sd ' ')
    commands=("$here/run.sh test --details=tree --include-classname 'io.sparqr.backend.cuda.Cuda(DenseQr|Pursuit)Test'"
      "GPUS=1 $here/sanitize.sh $folder/$name ${EACH:-4} $jobs")
    ;;
  *)
    echo "evidence: $what?" >&2
    exit 2
    ;;
esac

log=$folder/${start%T*}-${short:-gpu}-$name.txt
{
  echo "date: $start"
  echo "device: $devices x $chip, driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
  echo "commit: $(cat "$here/COMMIT")"
  echo "kernels: $(cat "$here/KERNELS")"
  [ "$what" != devices ] || echo "several: $(cat "$here/SEVERAL")"
  [ "$what" != dense ] || echo "dense: $(cat "$here/DENSE")"
  code=0
  for command in "${commands[@]}"; do
    echo
    echo "${command//"$here/"/}"
    bash -c "$command" 2>&1 || { code=$?; echo "exit code $code"; }
  done
  echo
  echo "seconds: $SECONDS"
  [ "$code" = 0 ] && echo "verdict: passed" || echo "verdict: FAILED"
} | tee "$log"
tail -n 1 "$log" | grep -q passed
