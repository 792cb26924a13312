#!/usr/bin/env bash
# A sentence's logits have the same bits beside neighbours whose embeddings are
# 1e4, NaN or infinite: with the kernels of an ISA level, beside the lowest with
# the reference lowering, fused and unfused, on one thread and two. Rows that a
# mask closes are in variants/strict-past. Unfused, and with the reference lowering,
# one model of three, unless CELLS is "all".
#
# usage: hostile-neighbours.sh GOLDENS TEMPORARY CELLS LEVEL [FLAG...]

set -euo pipefail
goldens=$1 cells=$3 level=$4 flags=("${@:5}")
rm -rf "$2"
mkdir -p "$2"
cd "$2"

# poison MODEL: copies a model, with extreme embeddings for the ids 20 to 22.
poison() {
  rm -rf model
  mkdir model
  cp "$goldens/$1/config.json" model
  python3 - "$goldens/$1/model.safetensors" model/model.safetensors <<'END'
import array, json, struct, sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
(length,) = struct.unpack_from("<Q", data)
tables = 0
for name, tensor in json.loads(data[8:8 + length]).items():
    if name.endswith((".embed_tokens.weight", ".shared.weight")):
        tables += 1
        width = tensor["shape"][1]
        begin = 8 + length + tensor["data_offsets"][0]
        # Values of both signs, which a norm leaves different.
        for id, value in [(20, 1e4), (21, float("nan")), (22, float("inf"))]:
            row = array.array("f", [value, -value] * (width // 2))
            start = begin + id * width * 4
            data[start:start + width * 4] = row.tobytes()
assert tables
with open(sys.argv[2], "wb") as file:
    file.write(data)
END
}

# score NAME FORM BATCH THREADS: writes the logits of sources and targets.
score() {
  heddle-run model.heddle --ids --form "$2" --batch "$3" --threads "$4" \
    --teacher targets --logits "$1.npy" <sources
}

check() {
  heddle-compile model -o model.heddle "${flags[@]}" "$@"
  for form in full step; do
    printf '%s\n' '30 31 32 33 34 35 36 2' '40 2' >sources
    printf '%s\n' '50 51 52 2' '41 42 43 44 45 46 47 48 49 2' >targets
    score expected $form 1 1
    printf '%s\n' '20 20 20 20 20 20 20 20 20 20 20 2' \
      '30 31 32 33 34 35 36 2' '21 21 21 2' '40 2' '22 2' >sources
    printf '%s\n' '20 20 20 20 2' '50 51 52 2' '21 21 21 21 21 21 21 2' \
      '41 42 43 44 45 46 47 48 49 2' '22 22 22 22 22 22' >targets
    for threads in 1 2; do
      score hostile $form 5 $threads
      compare-npy expected.npy hostile.npy --rows 1,3
      if compare-npy expected.npy hostile.npy --rows 0,4 2>differences; then
        exit 1
      fi
    done
  done
}

# Their heads are no transposed embeddings: no poison in the logits of others.
for name in bart-untied led-untied marian-untied-head; do
  poison $name
  check --target "$level"
  [ "$cells" = all ] || [ $name = bart-untied ] || continue
  if [ "$level" = x86-64-v3 ]; then
    check --target x86-64-v3 --reference
  fi
  check --target "$level" --no-fuse all
done
