# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# For the scripts beside this one: where things are, and what runs with a device or without.
# On a GPU host they are in the folder "papers" of what pack.sh packed; in a clone only the parts without a device run.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
packed=$(dirname "$here")

device() { # the packed runtime and a device, or one line that says what is missing
  [ -x "$packed/run.sh" ] || { echo "$0: needs what benchmarks/gpu/pack.sh packs, on a GPU host" >&2; exit 2; }
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
  cat "$packed/COMMIT"
  date -u +%Y-%m-%d
}

table() { # DeviceTable on problems; SPARQR_JAVA_OPTS as for run.sh
  SPARQR_HEAP=${SPARQR_HEAP:-40g} "$packed/run.sh" java io.sparqr.backend.cuda.DeviceTable "$@"
}

dense() { # SIZE...: ours, R alone, and cuSOLVER's dgeqrf on the device in the same run
  python3 "$packed/cusolver.py" "$@" || echo "no cuSOLVER: the Python package cupy is missing"
  local problems=()
  for size in "$@"; do problems+=("dense:$size@natural"); done
  SPARQR_JAVA_OPTS=-Dtable.detection=true table "${problems[@]}"
}

product() { # the packed product and a device
  [ -x "$packed/product.sh" ] || { echo "$0: needs what benchmarks/gpu/pack-spark.sh packs, on a GPU host" >&2; exit 2; }
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
  date -u +%Y-%m-%d
}

forecast() { # DeviceForecast: what was foretold and measured, and the bound
  local path
  path=$(printf '%s:' "$packed"/*/classes "$packed"/*/test-classes "$packed"/lib/*.jar)
  # shellcheck disable=SC2046
  SPARK_HOME=$packed/spark-home SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_IP=127.0.0.1 "$packed/jre/bin/java" $(cat "$packed/jvm.args") \
    -Xmx"${SPARQR_HEAP:-31g}" -XX:+UseParallelGC -cp "$path" io.sparqr.spark.cli.DeviceForecast "$@"
}
