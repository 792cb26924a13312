#!/usr/bin/env bash
# Prints the variants that a test takes, each with its word in a column of sample.txt:
# with CELLS "all" every variant, otherwise those whose word is not "-". Fails if a
# variant has no row there, and if a row has no variant.
#
# usage: sampled.sh COLUMN CELLS

set -euo pipefail
inputs=$(dirname "$0")
table=$(grep -v '^#' "$inputs/sample.txt")
names=$(awk 'NR > 1 { print $1 }' <<<"$table" | sort)
variants=$(basename -s .mlir "$inputs"/../*.mlir | sort)
if [ "$names" != "$variants" ]; then
  {
    comm -13 <(echo "$names") <(echo "$variants") |
      sed 's/.*/&.mlir has no row in Inputs\/sample.txt, which says what samples take/'
    comm -23 <(echo "$names") <(echo "$variants") |
      sed "s/.*/Inputs\/sample.txt has a row for '&', but there is no &.mlir/"
    uniq -d <<<"$names" | sed "s/.*/Inputs\/sample.txt has two rows for '&'/"
  } >&2
  exit 1
fi
awk -v column="$1" -v cells="$2" '
  NR == 1 { for (i = 2; i <= NF; ++i) if ($i == column) at = i }
  NR == 1 && !at { print "sample.txt has no column " column >"/dev/stderr"; exit 1 }
  NR > 1 && NF != 4 { print "not four words in sample.txt: " $0 >"/dev/stderr"; exit 1 }
  NR > 1 && (cells == "all" || $at != "-") { print $1, $at }' <<<"$table"
