#!/usr/bin/env bash
# Compiles a model of test/goldens and compares what it computes with what
# transformers computed in float64: the encoder's output, teacher-forced logits
# in the full form, step by step and as a prefill, then greedy output, and four
# beams if the golden has them; with the kernels of an ISA level, fused and
# unfused, and beside those of the lowest level with the reference lowering.
#
# usage: check.sh GOLDEN TEMPORARY [LEVEL | once]
#
# With `once` it compiles for x86-64-v3, fused, and with the reference lowering.

set -euo pipefail
golden=$1 temporary=$2 level=${3:-x86-64-v3}
rm -rf "$temporary"
mkdir -p "$temporary"
artifact=$temporary/model.heddle
limit=() global=()
if [ -e "$golden/max-length" ]; then
  limit=(--max-length "$(cat "$golden/max-length")")
fi
if [ -e "$golden/global" ]; then
  global=(--global "$(cat "$golden/global")")
fi

# score NAME FORM BATCH: writes the logits of all rows to NAME.npy.
score() {
  heddle-run "$artifact" --ids "${global[@]}" --form "$2" --batch "$3" \
    --teacher "$golden/teacher.ids" --logits "$temporary/$1.npy" \
    <"$golden/inputs.ids"
}

# encode NAME FLAG...: writes what the encoder makes of all rows to NAME.npy.
encode() {
  local name=$1
  shift
  heddle-run "$artifact" --ids "${global[@]}" \
    --hidden "$temporary/$name.npy" "$@" \
    <"$golden/inputs.ids"
}

# check FLAG...: compiles with these flags and compares.
check() {
  heddle-compile "$golden" -o "$artifact" "$@"
  for form in full step; do
    score $form $form 8
    # float32 against float64: sums of at most a few hundred products, each
    # rounded by 2^-24, leave a difference of up to 2e-6 (measured; transformers'
    # own float32 differs as much). A wrong epsilon or activation is above 1e-4.
    compare-npy "$temporary/$form.npy" "$golden/logits.npy" --within 1e-5
    # Bits depend neither on the neighbours in a batch nor on its padding.
    for batch in 1 3; do
      score $form.$batch $form $batch
      cmp "$temporary/$form.$batch.npy" "$temporary/$form.npy"
    done
  done
  # A prefill computes what the full form does.
  score prefill prefill 3
  cmp "$temporary/prefill.npy" "$temporary/full.npy"
  encode hidden
  # As of logits, above.
  compare-npy "$temporary/hidden.npy" "$golden/hidden.npy" --within 1e-5
  for flags in '--batch 1' '--batch 3 --workers 2 --threads 2'; do
    # shellcheck disable=SC2086
    encode again $flags
    cmp "$temporary/again.npy" "$temporary/hidden.npy"
  done
  for batch in 1 3 8; do
    heddle-run "$artifact" --ids --beam 1 --batch $batch "${limit[@]}" \
      "${global[@]}" \
      <"$golden/inputs.ids" | diff - "$golden/greedy.ids"
  done
  if [ -e "$golden/beams.jsonl" ]; then
    /usr/bin/python3 -B "$(dirname "$0")/check_beams.py" "$golden" "$artifact" \
      "${limit[@]}"
  fi
  if [ -e "$golden/alignments.json" ]; then
    /usr/bin/python3 -B "$(dirname "$0")/check_alignments.py" "$golden" "$artifact"
  fi
  # The first half as a prefix, which a prefill takes: steps go on as they did. The
  # last token may be that of the length limit, which a prefix moves.
  awk '{ NF = int(NF / 2) } 1' "$golden/greedy.ids" >"$temporary/prefixes"
  heddle-run "$artifact" --ids --beam 1 --batch 3 "${limit[@]}" "${global[@]}" \
    --prefix "$temporary/prefixes" <"$golden/inputs.ids" >"$temporary/found"
  awk 'NR == FNR { NF -= 1; wanted[FNR] = $0; next }
       wanted[FNR] != "" && index($0 " ", wanted[FNR] " ") != 1 { print wanted[FNR] " | " $0; bad = 1 }
       END { exit bad }' "$golden/greedy.ids" "$temporary/found"
}

if [ "$level" = once ]; then
  check --target x86-64-v3 --reference
  check --target x86-64-v3
  exit
fi
if [ "$level" = x86-64-v3 ]; then
  check --target x86-64-v3 --reference --no-fuse all
  check --target x86-64-v3 --reference
  # The reference lowering sums a row in one order, whatever the form.
  cmp "$temporary/full.npy" "$temporary/step.npy"
fi
check --target "$level"
check --target "$level" --no-fuse all
