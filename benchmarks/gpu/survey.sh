#!/usr/bin/env bash
# A survey of answers at size on a GPU host, from the folder that pack.sh made: every problem is factored through
# the product's checks, solved, and compared with bounds (residuals, backward errors, R against A, rank, the CPU).
#   survey.sh list [options] [NAME...]      a list: the default one (113 problems, up to 5 million rows), or
#                                           names of generators, dense:MxN, files .mtx[.gz] and .svm[.gz]
#   survey.sh sweep SECONDS SEED [options]  random problems, half of them above 100 Gflop; stops at the first that
#                                           is wrong and prints the command that repeats it
#   --backend cuda|cpu|reference  --seeds 1,2,3  --orders nd,colamd  --values true,rand  --only REGEX
#   --seconds S  --cpu-limit GFLOP  --large GFLOP  --most GFLOP  --problems N
#                                           what they mean: io.sparqr.survey.Survey
#   SPARQR_HEAP                             heap (default 90g)
# Exit code 1 if an answer is wrong. Comparisons with the CPU are quicker with OpenBLAS (PACK_OPENBLAS=1 pack.sh).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export SPARQR_HEAP=${SPARQR_HEAP:-90g}
# Do not touch memory at the start that no problem needs.
export SPARQR_JAVA_OPTS="-XX:-AlwaysPreTouch ${SPARQR_JAVA_OPTS:-}"
exec "$here/run.sh" java io.sparqr.survey.Survey "$@"
