#!/usr/bin/env bash
# Compiles a variant and compares its teacher-forced logits, by the full form
# and step by step, with the golden of its name.
#
# usage: check.sh COMPILE RUN MODULE TEMPORARY [FLAG...]     (flags of COMPILE)

set -euo pipefail
compile=$1 run=$2 module=$3 temporary=$4
shift 4
inputs=$(dirname "$0")
golden=$inputs/$(basename "$module" .mlir).npy

"$compile" "$module" --weights "$inputs/weights.safetensors" \
  -o "$temporary.heddle" "$@"
for form in full step; do
  for batch in 1 3; do
    "$run" "$temporary.heddle" --ids --batch $batch --form $form \
      --teacher "$inputs/targets.txt" --logits "$temporary.$form.$batch.npy" \
      <"$inputs/sources.txt" >/dev/null
  done
  # Bits do not depend on the batch and its padding.
  cmp "$temporary.$form.1.npy" "$temporary.$form.3.npy"
  # A dozen sums of at most 24 products in f32, against f64: 1e-5 leaves room
  # for a rounding error of 2^-24 in each of 100 operations, most in one
  # direction.
  python3 "$inputs/compare_logits.py" "$temporary.$form.3.npy" "$golden" 1e-5
done
