#!/usr/bin/env bash
# Compiles a model that several tests run and prints the artifact's path. Tests
# run in parallel: the first one compiles, the others wait for it. A newer
# compiler compiles again.
#
# usage: compile-once.sh MODEL ARTIFACT
#        (an ARTIFACT that ends in .f32.heddle multiplies f32, one that ends in
#        .exe is an executable)

set -euo pipefail
model=$1 artifact=$2
mkdir -p "$(dirname "$artifact")"
exec {lock}>"$artifact.lock"
flock $lock
mapfile -t compilers < <(type -ap heddle-compile)
for input in "${compilers[@]}" "$model"/*; do
  [ "$artifact" -nt "$input" ] || rm -f "$artifact"
done
flags=()
[[ $artifact != *.f32.heddle ]] || flags=(--dtype f32)
[[ $artifact != *.exe ]] || flags=(--emit exe)
[ -e "$artifact" ] || heddle-compile "$model" -o "$artifact" "${flags[@]}"
echo "$artifact"
