#!/usr/bin/env bash
# Draws the masks of the gallery, of 64 queries and keys, as the README shows them.
#
# usage: draw_masks.sh FOLDER       (heddle-opt in PATH; the pictures go to FOLDER)

set -euo pipefail
here=$(dirname "$0") folder=$1
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# draw FUNCTION VARIANT [VALUES [NAME]]: of what masks read, as --mask-values takes
# it; NAME is the picture's where it is not the variant's.
draw() {
  heddle-opt "$here/gallery/$2.mlir" --draw-masks="$work/$2" --mask-length 64 \
    --mask-values "${3:-}" -o /dev/null
  mv "$work/$2/$1.$1.self.1.svg" "$folder/${4:-$2}.svg"
}

# numbers COUNT EXPRESSION: the values of an expression of n = 0, 1, 2, ...
numbers() {
  for ((n = 0; n < $1; ++n)); do printf '%d,' $(($2)); done | sed 's/,$//'
}

documents="ids=$(numbers 64 'n < 11 ? 0 : n < 35 ? 1 : n < 52 ? 2 : 3')"
for variant in full window window-per-head dilated prefix global-count longformer \
  random-blocks random-tokens bigbird where where-within; do
  draw encoder $variant
done
draw decoder full '' causal
draw encoder global-tokens 'tokens=0,23,41'
# Without the rows of tokens, which another attention gives.
draw encoder longformer-own-rows 'tokens=0,23,41'
draw encoder segments "$documents"
# Blocks of 8: each sees the first one, its own and one more.
draw encoder blocks \
  "offsets=$(numbers 9 '3 * n'); listed=$(numbers 24 'n % 3 == 0 ? 0 : n % 3 == 1 ? n / 3 : n / 3 * 5 % 8')"
draw encoder pairs \
  "offsets=$(numbers 65 '4 * n'); listed=$(numbers 256 '(n / 4 + (n % 4) * (n % 4) * 7) % 64')"
draw encoder dense "table=$(numbers 4096 '(n / 64) % 9 < 4 && n % 7 < 5')"
