#!/usr/bin/env bash
# What shows that the CUDA backend works on a GPU host: build, all GPU tests, speed.
#   check.sh         in a clone (JDK 17, nvcc or the network): builds, packs into target/gpu, and goes on there;
#                    in a folder that pack.sh made elsewhere (no Java, no nvcc, no network): tests and speed
# Exit code 0: all tests passed, and the timed problems gave answers. Ten minutes, of which the tests take three.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
if [ ! -x "$here/run.sh" ] || [ ! -d "$here/jre" ]; then
  cd "$here/../.."
  # shellcheck disable=SC2046
  ./mvnw -q -B -ntp -Pquick $(gpu-core/src/main/cuda/build.sh --flags) -DskipTests -pl benchmarks -am test-compile
  benchmarks/gpu/pack.sh target/gpu
  exec target/gpu/check.sh
fi
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
echo "commit $(cat "$here/COMMIT"), kernels $(cat "$here/KERNELS")"
SPARQR_HEAP=${SPARQR_HEAP:-8g} "$here/run.sh" test --details=summary
SPARQR_HEAP=${SPARQR_HEAP:-20g} "$here/run.sh" java io.sparqr.backend.cuda.DeviceTable \
  dense:4096x4096@natural nug20:rand@nd cells3d40@nd
echo "check: passed"
