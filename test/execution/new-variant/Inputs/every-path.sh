#!/usr/bin/env bash
# A new mask, as an op of a plugin (test/masks/Chunks.td) and as a region, beside
# a table of its pairs: equal under --reference, where all three are the same
# loops, and on each LEVEL within a tolerance, in f32 and bf16, over whole
# sequences and step by step, in any batch. Attention does the work of its pairs.
#
# usage: every-path.sh PLUGIN TEMPORARY LEVEL...

set -euo pipefail
inputs=$(cd "$(dirname "$0")" && pwd) plugin=$1
rm -rf "$2"
mkdir "$2"
cd "$2"
shift 2
/usr/bin/python3 "$inputs/make_inputs.py" .

cp "$inputs/chunked.mlir" op.mlir
for way in where table; do
  lines=$inputs/where.mlir
  [ $way = where ] || lines=marks.mlir
  sed -e "/chunks.same/{r $lines" -e 'd;}' op.mlir >$way.mlir
  if grep -q 'chunks.same' $way.mlir; then exit 1; fi
done

# build WAY FLAG...
build() {
  heddle-compile "$1.mlir" --load-dialect-plugin="$plugin" \
    --weights weights.safetensors -o model.heddle "${@:2}"
}
# score NAME FLAG...: writes what the encoder and both forms of the decoder make.
score() {
  heddle-run model.heddle --ids --hidden "$1.hidden.npy" "${@:2}" <sources
  for form in full step; do
    heddle-run model.heddle --ids --teacher targets --form $form \
      --logits "$1.$form.npy" "${@:2}" <sources
  done
}
# compare NAME OTHER TOLERANCE
compare() {
  for result in hidden full step; do
    compare-npy "$1.$result.npy" "$2.$result.npy" --within "$3"
  done
}

for dtype in f32 bf16; do
  build table --reference --target x86-64-v3 --dtype $dtype
  score reference
  cmp reference.full.npy reference.step.npy
  for way in op where; do
    build $way --reference --target x86-64-v3 --dtype $dtype
    score $way
    for result in hidden full step; do
      cmp $way.$result.npy reference.$result.npy
    done
    # f32: sums of 64 products in another order. bf16: and what is rounded to
    # 2^-8 of its size is rarely rounded to its neighbour.
    tolerance=1e-5
    [ $dtype = f32 ] || tolerance=0.01
    for level in "$@"; do
      build $way --target "$level" --dtype $dtype
      score together
      compare together reference $tolerance
      score alone --batch 1 --threads 3
      for result in hidden full step; do
        cmp together.$result.npy alone.$result.npy
      done
    done
  done
done

# work WAY: the multiplications and additions of the encoder's attention to a
# sentence of 64 positions, as a profile counts them from the mask's key ranges.
work() {
  build "$1" --target x86-64-v3 --dtype f32
  sed -n 4p sources | heddle-run model.heddle --ids --hidden hidden.npy \
    --profile=profile.json 2>/dev/null
  /usr/bin/python3 - <<'END'
import json
kernels = json.load(open("profile.json"))["kernels"]
print(sum(k["flops"] for k in kernels if k["name"].startswith("attention")))
END
}
# Two a multiply-add, of a query's and a key's 64 elements and of a value's 64:
# 8 keys a query by the op, its window of 15 by the region less what lies
# outside, and all 64 by the table.
pair=$((2 * (64 + 64)))
[ "$(work op)" = $((64 * 8 * pair)) ]
[ "$(work where)" = $(((64 * 15 - 7 * 8) * pair)) ]
[ "$(work table)" = $((64 * 64 * pair)) ]

# draw WAY: what a picture of the encoder's mask says, of 64 queries.
draw() {
  rm -rf pictures
  heddle-opt "$1.mlir" --load-dialect-plugin="$plugin" --draw-masks=pictures \
    -o drawn.mlir
  cat pictures/encode.*.svg
}
# Two blocks of 32 queries, which touch 4 of 8 tiles of 8 keys, and one more on
# the side where a window goes beyond.
picture=$(draw op)
grep -q '>512 pairs, 12.5 % of the dense<' <<<"$picture"
grep -q '>8 of 16 tiles of 32 x 8, 50.0 %<' <<<"$picture"
picture=$(draw where)
grep -q '>512 pairs, 12.5 % of the dense<' <<<"$picture"
grep -q '>10 of 16 tiles of 32 x 8, 62.5 %<' <<<"$picture"
