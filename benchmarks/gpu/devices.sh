#!/usr/bin/env bash
# Several devices in one task, on a GPU host with at least two, from the folder that pack.sh made: the same bits as on one
# device, then the bars: seconds and how much faster than on one.  devices.sh [first|bars|timeline [PROBLEM]]
#   first      (default) the tests that compare bits: parts of a stage that take turns on one device, then on several; half
#              a minute. Begin with this.
#   bars       factorize on 1, 2, .. devices: grad3d112, ch7-9-b3, a dense front of 32768 x 32768, and problems that must
#              not lose: nug15, cells3d40, onehot 1M, nug20
#   timeline   what each device does and waits for, by cause and over time: a dense front of 32768 x 32768, or another problem
# Under the sanitizers: evidence.sh FOLDER devices (each tool sees one kernel's shared memory; what crosses devices has a
# written argument: include/several/peers.cuh).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
devices=$(nvidia-smi -L | wc -l)
nvidia-smi topo -m || true
echo "devices: $devices"
class=io.sparqr.backend.cuda.CudaDevicesTest
case ${1:-first} in
  first)
    # A task that waits in vain ends after five seconds instead of a minute.
    export JAVA_TOOL_OPTIONS=-Dsparqr.cuda.waitMillis=5000
    CUDA_VISIBLE_DEVICES=0 "$here/run.sh" test --details=tree --include-classname "$class"
    [ "$devices" -lt 2 ] || "$here/run.sh" test --details=tree --include-classname "$class"
    ;;
  bars)
    export SPARQR_HEAP=${SPARQR_HEAP:-60g}
    "$here/run.sh" java io.sparqr.backend.cuda.DevicesSpeed \
      grad3d112@nd ch7-9-b3:rand@nd dense:32768x32768@natural grad3d80@nd \
      nug15:rand@nd cells3d40@nd onehot1000000x5000x500x50@colamd nug20:rand@nd
    ;;
  timeline)
    export SPARQR_HEAP=${SPARQR_HEAP:-60g}
    export SPARQR_JAVA_OPTS="${SPARQR_JAVA_OPTS:-} -Dsparqr.benchmark.timeline=true"
    "$here/run.sh" java io.sparqr.backend.cuda.DevicesSpeed "${2:-dense:32768x32768@natural}"
    ;;
  *)
    echo "usage: devices.sh [first|bars|timeline [PROBLEM]]" >&2
    exit 2
    ;;
esac
