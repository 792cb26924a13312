#!/usr/bin/env bash
# Checks the models of a family with the kernels of x86-64-v4: with CELLS "all" every
# one, otherwise every second one; each has a test of its own on the lowest level.
#
# usage: every-v4.sh GOLDENS TEMPORARY FAMILY CELLS

set -euo pipefail
turn=0
for golden in "$1/$3"-*; do
  [ -e "$golden/logits.npy" ] || continue # marian-search has no model
  turn=$((turn + 1))
  [ "$4" = all ] || [ $((turn % 2)) = 1 ] || continue
  bash "$(dirname "$0")/check.sh" "$golden" "$2/${golden##*/}" x86-64-v4
done
