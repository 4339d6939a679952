#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The Dockerfile by hadolint, the manifest by the schemas of Kubernetes: examples/kubernetes/lint.sh [BIN]
#   BIN   the folder of both programs; without it that of python/tests/tools.txt, which wheel.sh installs
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
bin=${1:-$here/../../python/target/tools/bin}
"$bin/hadolint" "$here/Dockerfile"
"$bin/kubernetes-validate" --strict --quiet "$here/solve.yaml"
