// Two layers of an encoder whose positions see themselves alone: what becomes of a
// token does not depend on where it stands.

!ids = tensor<?x?xi32>
!lengths = tensor<?xi32>
!x = tensor<?x?x32xf32>
!hidden = tensor<?x?x96xf32>
!table = tensor<40x32xf32>
!square = tensor<32x32xf32>
!up = tensor<32x96xf32>
!down = tensor<96x32xf32>
!vector = tensor<32xf32>
!long = tensor<96xf32>

module @own_position attributes {
  transformer.family = "own-position",
  transformer.tasks = {generate = {start = 0 : i32, eos = array<i32: 2>, vocabulary = 8 : i32}},
  transformer.source = {vocabulary = 40 : i32, positions = 8192 : i32}
} {
  transformer.parameter @table : !table
  transformer.parameter @query : !square
  transformer.parameter @key : !square
  transformer.parameter @value : !square
  transformer.parameter @out : !square
  transformer.parameter @up : !up
  transformer.parameter @down : !down
  transformer.parameter @bias : !vector
  transformer.parameter @long : !long
  transformer.parameter @scale : !vector
  transformer.parameter @nothing : tensor<8x8xf32> zeros

  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!x {transformer.name = "memory"})
      attributes {transformer.forms = ["full"]} {
    %valid = transformer.mask.padding %lengths : !lengths
    %own = transformer.mask.window [left = 0, right = 0]
    %mask = transformer.mask.and %own, %valid
    %table = transformer.weight @table : !table
    %Wo = transformer.weight @out : !square
    %up = transformer.weight @up : !up
    %down = transformer.weight @down : !down
    %b = transformer.weight @bias : !vector
    %long = transformer.weight @long : !long
    %g = transformer.weight @scale : !vector
    %x0 = transformer.embedding %ids, %table : (!ids, !table) -> !x

    %Wq0 = transformer.weight @query : !square
    %q0 = transformer.linear %x0, %Wq0, %b : (!x, !square, !vector) -> !x
    %Wk0 = transformer.weight @key : !square
    %k0 = transformer.linear %x0, %Wk0, %b : (!x, !square, !vector) -> !x
    %Wv0 = transformer.weight @value : !square
    %v0 = transformer.linear %x0, %Wv0, %b : (!x, !square, !vector) -> !x
    %a0 = transformer.attention %q0, %k0, %v0 mask(%mask) {heads = 1 : i64}
      : (!x, !x, !x, !transformer.mask) -> !x
    %o0 = transformer.linear %a0, %Wo, %b : (!x, !square, !vector) -> !x
    %s0 = transformer.add %x0, %o0 : (!x, !x) -> !x
    %y0 = transformer.norm layer %s0, %g, %b {epsilon = 1.0e-5 : f32}
      : (!x, !vector, !vector) -> !x
    %u0 = transformer.linear %y0, %up, %long : (!x, !up, !long) -> !hidden
    %z0 = transformer.activation gelu %u0 : (!hidden) -> !hidden
    %d0 = transformer.linear %z0, %down, %b : (!hidden, !down, !vector) -> !x
    %r0 = transformer.add %y0, %d0 : (!x, !x) -> !x
    %x1 = transformer.norm layer %r0, %g, %b {epsilon = 1.0e-5 : f32}
      : (!x, !vector, !vector) -> !x

    %Wq1 = transformer.weight @query : !square
    %q1 = transformer.linear %x1, %Wq1, %b : (!x, !square, !vector) -> !x
    %Wk1 = transformer.weight @key : !square
    %k1 = transformer.linear %x1, %Wk1, %b : (!x, !square, !vector) -> !x
    %Wv1 = transformer.weight @value : !square
    %v1 = transformer.linear %x1, %Wv1, %b : (!x, !square, !vector) -> !x
    %a1 = transformer.attention %q1, %k1, %v1 mask(%mask) {heads = 1 : i64}
      : (!x, !x, !x, !transformer.mask) -> !x
    %o1 = transformer.linear %a1, %Wo, %b : (!x, !square, !vector) -> !x
    %s1 = transformer.add %x1, %o1 : (!x, !x) -> !x
    %y1 = transformer.norm layer %s1, %g, %b {epsilon = 1.0e-5 : f32}
      : (!x, !vector, !vector) -> !x
    %u1 = transformer.linear %y1, %up, %long : (!x, !up, !long) -> !hidden
    %z1 = transformer.activation gelu %u1 : (!hidden) -> !hidden
    %d1 = transformer.linear %z1, %down, %b : (!hidden, !down, !vector) -> !x
    %r1 = transformer.add %y1, %d1 : (!x, !x) -> !x
    %x2 = transformer.norm layer %r1, %g, %b {epsilon = 1.0e-5 : f32}
      : (!x, !vector, !vector) -> !x
    return %x2 : !x
  }

  // A module has a decoder, too; this one says nothing.
  func.func private @decode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "target"], transformer.target})
      -> (tensor<?x?x8xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["step"]} {
    %nothing = transformer.weight @nothing : tensor<8x8xf32>
    %logits = transformer.embedding %ids, %nothing
      : (!ids, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    return %logits : tensor<?x?x8xf32>
  }
}
