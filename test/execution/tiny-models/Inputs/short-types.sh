#!/usr/bin/env bash
# Compiles models of test/goldens with --dtype TYPE, or --tf32, and compares their logits with
# those that transformers computed in float64, in the full form and step by step.
#
# usage: [MODELS='NAME...'] short-types.sh TYPE GOLDENS TEMPORARY FLAG...

set -euo pipefail
type=$1 goldens=$2 temporary=$3
shift 3
dtype=(--dtype "$type")
case $type in
  # A chain of at most 19 products with weights and 6 of attention, whose factors
  # are both rounded, by some 2^-9 of their size: errors of chance add up to
  # sqrt(50) 2^-9 = 1.4 % of the largest logit (1.2 and 1.9 % measured). Three
  # times that for the worst one.
  bf16) within=0.042 beyond=0.001 cached=bf16 ;;
  # The same of 2^-12.
  f16) within=0.0053 beyond=0.000125 cached=f16 ;;
  # As many bits; what is stored is f32.
  tf32) within=0.0053 beyond=0.000125 cached=f32 dtype=(--dtype f32 --tf32) ;;
  # Factors are rounded to steps of max / 127, by 1 / sqrt(12) of one on average;
  # of vectors of 20 to 60 normal numbers the largest is about 2.4 deviations, so
  # that a factor is off by 2.4 / 127 / sqrt(12) = 0.55 %. That adds up to
  # sqrt(38) 0.55 % = 3.4 % of the largest logit, where errors are spread as logits
  # are (3.0 and 3.9 % measured). Three times that for the worst one.
  int8) within=0.102 beyond=0.001 cached=f32 ;;
esac
rm -rf "$temporary"
mkdir -p "$temporary"

# score NAME GOLDEN FORM BATCH [FLAG...]: writes the logits of all rows to
# NAME.npy.
score() {
  heddle-run "$temporary/model.heddle" --ids --form "$3" --batch "$4" \
    --teacher "$2/teacher.ids" --logits "$temporary/$1.npy" "${@:5}" \
    <"$2/inputs.ids"
}

for model in ${MODELS:-bart-pre-norm led-untied marian-opus}; do
  golden=$goldens/$model
  heddle-compile "$golden" -o "$temporary/model.heddle" "${dtype[@]}" "$@"
  # Caches hold what attention multiplies.
  grep -q "state.* $cached \[caches, " \
    <<<"$(heddle-run "$temporary/model.heddle" --info)"
  for form in full step; do
    score $form "$golden" $form 8
    compare-npy "$temporary/$form.npy" "$golden/logits.npy" --within $within
    # It is not f32, which would be hundreds of times closer.
    if compare-npy "$temporary/$form.npy" "$golden/logits.npy" --within $beyond; then
      exit 1
    fi
    # Bits depend neither on the neighbours in a batch nor on its padding, and
    # not on the threads that share it.
    for batch in 1 3; do
      score $form.$batch "$golden" $form $batch --threads $batch
      cmp "$temporary/$form.$batch.npy" "$temporary/$form.npy"
    done
  done
  # A prefill computes what the full form does.
  score prefill "$golden" prefill 3
  cmp "$temporary/prefill.npy" "$temporary/full.npy"
done
