// Masks that nobody can draw, with the reason.
// RUN: heddle-opt %s --draw-masks=%t -verify-diagnostics -split-input-file

!x = tensor<?x?x8xf32>

func.func @computed_operand(%x: !x) -> !x {
  %c2 = arith.constant 2 : index
  %lengths = tensor.empty(%c2) : tensor<?xi32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  // expected-error @below {{'transformer.attention' op has a mask that cannot be drawn: it reads a result of 'tensor.empty', which has no known value}}
  %y = transformer.attention %x, %x, %x mask(%valid) {heads = 2 : i64} : (!x, !x, !x, !transformer.mask) -> !x
  return %y : !x
}

// -----

!x = tensor<?x?x8xf32>

func.func @computed_from_an_argument(%x: !x, %count: index {transformer.name = "count"}) -> !x {
  %lengths = tensor.empty(%count) : tensor<?xi32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  // expected-error @below {{'transformer.attention' op has a mask that cannot be drawn: it reads the argument 'count', which has no known value}}
  %y = transformer.attention %x, %x, %x mask(%valid) {heads = 2 : i64} : (!x, !x, !x, !transformer.mask) -> !x
  return %y : !x
}
