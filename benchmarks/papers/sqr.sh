#!/usr/bin/env bash
# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
# The experiments of "Sparse QR factorization on the GPU" (Yeralan, Davis, Sid-Lakhdar, Ranka):
#   sqr.sh dense          tables I and II: short and fat, tall and skinny
#   sqr.sh table4 DATA    tables III and IV: what there is of their matrices, DATA a folder with lp_cre_d and circuit_1
#   sqr.sh table5 DATA    table V and figure 15: every matrix of DATA/INDEX.tsv, device and CPU, by arithmetic intensity
# The device's driver and the commit come first. Figures 1 to 8 are tests: PaperFiguresTest, PaperSchedulesTest.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case ${1:-} in
  dense)
    device
    dense 128x2048 256x4096 384x6144 2048x128 4096x256 6144x384
    ;;
  table4)
    device
    data=${2:?folder with lp_cre_d.mtx.gz and circuit_1.mtx.gz}
    # The linear programs tall way up, as in the paper; nug20 and ch7-8-b3 with the collection's values and with random ones.
    table "t:$data/lp_cre_d.mtx.gz@auto" "t:$data/lp_cre_d.mtx.gz@colamd" "$data/circuit_1.mtx.gz@auto" \
      nug20@nd nug20:rand@nd nug20:rand@colamd ch7-8-b3@nd ch7-8-b3:rand@nd ch7-8-b3:rand@colamd
    ;;
  table5)
    device
    data=${2:?folder with INDEX.tsv}
    lines=$(mktemp)
    trap 'rm -f "$lines"' EXIT
    # Wide matrices tall way up; right-hand sides and files that a reader must refuse are no matrices to factor.
    problems=$(awk -F '\t' -v d="$data" 'NR > 1 && $1 ~ /[.]mtx([.]gz)?$/ && $1 !~ /_[bc][.]mtx|nonstandard/ && $2 > 1 && $3 > 1 {
      print ($2 < $3 ? "t:" : "") d "/" $1 "@auto" }' "$data/INDEX.tsv")
    # shellcheck disable=SC2086
    SPARQR_JAVA_OPTS=-Dtable.choice=true table $problems nug8:rand@auto nug12:rand@auto nug15:rand@nd nug20:rand@nd ch7-8-b3:rand@nd \
      cells2d500@nd cells3d40@nd grad3d40@nd grad3d80@nd onehot1000000x5000x500x50@colamd | tee "$lines"
    echo
    python3 "$here/classes.py" "$lines"
    ;;
  *)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
