#!/usr/bin/env bash
# Compiles a variant for the ISA level LEVEL of the environment, the lowest
# unless it is set, or for the GPU behind it, and compares its teacher-forced
# logits, by the full form and step by step, with the golden of its name.
#
# usage: check.sh MODULE TEMPORARY [FLAG...]       (flags of heddle-compile)

set -euo pipefail
module=$1 temporary=$2 level=${LEVEL:-x86-64-v3}
shift 2
inputs=$(dirname "$0")
golden=$inputs/$(basename "$module" .mlir).npy
device=cpu
[[ $level != *sm_* ]] || device=cuda

heddle-compile "$module" --weights "$inputs/weights.safetensors" \
  -o "$temporary.heddle" --target "$level" "$@"
# score FORM BATCH: writes the logits of all rows.
score() {
  heddle-run "$temporary.heddle" --ids --form "$1" --batch "$2" \
    --device $device \
    --teacher "$inputs/targets.txt" --logits "$temporary.$1.$2.npy" \
    <"$inputs/sources.txt"
}
for form in full step prefill; do
  score $form 3
  # Bits do not depend on the batch and its padding; on a GPU the gallery's, as
  # an emulator takes its time.
  if [ $device = cpu ]; then
    score $form 1
    cmp "$temporary.$form.1.npy" "$temporary.$form.3.npy"
  fi
  # float32 against float64: a dozen layers of sums of at most 24 products. A
  # wrong epsilon, slope or slot is above 1e-4.
  compare-npy "$temporary.$form.3.npy" "$golden" --within 1e-5
done
[ "$level" = x86-64-v3 ] || exit 0
# The reference lowering sums a row in one order, whatever the form.
heddle-compile "$module" --weights "$inputs/weights.safetensors" \
  -o "$temporary.heddle" --reference --target x86-64-v3 "$@"
score full 3
score step 3
compare-npy "$temporary.full.3.npy" "$golden" --within 1e-5
cmp "$temporary.full.3.npy" "$temporary.step.3.npy"
