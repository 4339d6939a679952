#!/usr/bin/env bash
# Runs what pack.sh packed, on the GPU host: run.sh test [JUnit options] | java <class> [arguments]
#   SPARQR_HEAP   heap (default 8g)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
class_path=$(printf '%s:' "$here"/*/classes "$here"/*/test-classes "$here"/lib/*.jar)
[ "${1:-}" = test ] && touch= || touch=-XX:+AlwaysPreTouch
flags=(-XX:+UseParallelGC $touch -XX:+UseTransparentHugePages -XX:+IgnoreUnrecognizedVMOptions -Xmx"${SPARQR_HEAP:-8g}" --add-modules=jdk.incubator.vector
  --enable-native-access=ALL-UNNAMED -cp "$class_path")
command=${1:?test or java}
shift
case $command in
  test)
    # A run in which no gpu test was executed is a failure.
    exec "$here/jre/bin/java" "${flags[@]}" org.junit.platform.console.ConsoleLauncher execute \
      --include-tag gpu --scan-classpath "$here/gpu-core/test-classes" --fail-if-no-tests \
      --disable-banner "$@"
    ;;
  java)
    exec "$here/jre/bin/java" "${flags[@]}" ${SPARQR_JAVA_OPTS:-} "$@"
    ;;
  *)
    echo "usage: run.sh test|java ..." >&2
    exit 2
    ;;
esac
