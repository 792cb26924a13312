#!/usr/bin/env bash
# Explains models, each to TEMPORARY/NAME.txt and NAME.heddle, and expects that
# every fusion is in all totals and finds something in one of them at least.
#
# usage: every-fusion.sh TEMPORARY MODEL...

set -euo pipefail
cd "$1"
shift
for model in "$@"; do
  name=$(basename "$model")
  heddle-compile "$model" -o "$name.heddle" --target x86-64-v3 --explain \
    >"$name.txt"
  grep -E '^(fold|fuse)-[a-z-]+: [0-9]+ fused, [0-9]+ declined$' "$name.txt"
done >totals
for fusion in fold-scales fuse-positions fuse-candidates fuse-epilogues \
  fuse-quantize fuse-ffn fuse-shared-inputs fuse-add-norm fuse-short-rows \
  fuse-masks fuse-choice; do
  [ "$(grep -c "^$fusion: " totals)" = $# ]
  grep -qE "^$fusion: [1-9]" totals
done
