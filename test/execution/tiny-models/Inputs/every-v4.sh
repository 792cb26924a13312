#!/usr/bin/env bash
# Checks the models of a family with the kernels of x86-64-v4: with CELLS "all" every
# one, otherwise those that are sampled below; each has a test of its own on the lowest
# level.
#
# usage: every-v4.sh GOLDENS TEMPORARY FAMILY CELLS

set -euo pipefail
for golden in "$1/$3"-*; do
  name=${golden##*/}
  case $name in
  marian-search) continue ;; # It has no model.
  bart-float16 | bart-one-layer | bart-untied | led-generation-config | led-untied | \
    marian-learned | marian-npz-pre-norm | marian-npz-two-vocabularies | \
    marian-separate-embeddings | marian-untied-head) ;;
  bart-generation-config | bart-pre-norm | led-one-layer | led-windows | \
    marian-npz-old-pre-norm | marian-npz-recurrent | marian-opus | \
    marian-two-vocabularies)
    [ "$4" = all ] || continue
    ;;
  *)
    echo "every-v4.sh does not say whether a sample takes $name" >&2
    exit 1
    ;;
  esac
  bash "$(dirname "$0")/check.sh" "$golden" "$2/$name" x86-64-v4
done
