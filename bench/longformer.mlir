// Longformer (Beltagy et al. 2020, arXiv:2004.05150) as transformers' LongformerModel
// has it without global tokens: two layers of width 768, where each position sees 256
// to both sides. Weights are the names and shapes of its checkpoint.

!ids = tensor<?x?xi32>
!lengths = tensor<?xi32>
!x = tensor<?x?x768xf32>
!hidden = tensor<?x?x3072xf32>
!words = tensor<1000x768xf32>
!positions = tensor<16386x768xf32>
!square = tensor<768x768xf32>
!up = tensor<768x3072xf32>
!down = tensor<3072x768xf32>
!vector = tensor<768xf32>
!long = tensor<3072xf32>

module @longformer attributes {
  transformer.family = "longformer",
  transformer.tasks = {generate = {start = 0 : i32, eos = array<i32: 2>, vocabulary = 8 : i32}},
  transformer.source = {vocabulary = 1000 : i32, positions = 16384 : i32}
} {
  transformer.parameter @embeddings.word_embeddings.weight : !words
  transformer.parameter @embeddings.position_embeddings.weight : !positions
  transformer.parameter @embeddings.LayerNorm.weight : !vector
  transformer.parameter @embeddings.LayerNorm.bias : !vector
  transformer.parameter @encoder.layer.0.attention.self.query.weight
    : !square transposed
  transformer.parameter @encoder.layer.0.attention.self.query.bias : !vector
  transformer.parameter @encoder.layer.0.attention.self.key.weight : !square transposed
  transformer.parameter @encoder.layer.0.attention.self.key.bias : !vector
  transformer.parameter @encoder.layer.0.attention.self.value.weight
    : !square transposed
  transformer.parameter @encoder.layer.0.attention.self.value.bias : !vector
  transformer.parameter @encoder.layer.0.attention.output.dense.weight
    : !square transposed
  transformer.parameter @encoder.layer.0.attention.output.dense.bias : !vector
  transformer.parameter @encoder.layer.0.attention.output.LayerNorm.weight : !vector
  transformer.parameter @encoder.layer.0.attention.output.LayerNorm.bias : !vector
  transformer.parameter @encoder.layer.0.intermediate.dense.weight : !up transposed
  transformer.parameter @encoder.layer.0.intermediate.dense.bias : !long
  transformer.parameter @encoder.layer.0.output.dense.weight : !down transposed
  transformer.parameter @encoder.layer.0.output.dense.bias : !vector
  transformer.parameter @encoder.layer.0.output.LayerNorm.weight : !vector
  transformer.parameter @encoder.layer.0.output.LayerNorm.bias : !vector
  transformer.parameter @encoder.layer.1.attention.self.query.weight
    : !square transposed
  transformer.parameter @encoder.layer.1.attention.self.query.bias : !vector
  transformer.parameter @encoder.layer.1.attention.self.key.weight : !square transposed
  transformer.parameter @encoder.layer.1.attention.self.key.bias : !vector
  transformer.parameter @encoder.layer.1.attention.self.value.weight
    : !square transposed
  transformer.parameter @encoder.layer.1.attention.self.value.bias : !vector
  transformer.parameter @encoder.layer.1.attention.output.dense.weight
    : !square transposed
  transformer.parameter @encoder.layer.1.attention.output.dense.bias : !vector
  transformer.parameter @encoder.layer.1.attention.output.LayerNorm.weight : !vector
  transformer.parameter @encoder.layer.1.attention.output.LayerNorm.bias : !vector
  transformer.parameter @encoder.layer.1.intermediate.dense.weight : !up transposed
  transformer.parameter @encoder.layer.1.intermediate.dense.bias : !long
  transformer.parameter @encoder.layer.1.output.dense.weight : !down transposed
  transformer.parameter @encoder.layer.1.output.dense.bias : !vector
  transformer.parameter @encoder.layer.1.output.LayerNorm.weight : !vector
  transformer.parameter @encoder.layer.1.output.LayerNorm.bias : !vector
  transformer.parameter @nothing : tensor<8x8xf32> zeros

  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!x {transformer.name = "memory"})
      attributes {transformer.forms = ["full"]} {
    %valid = transformer.mask.padding %lengths : !lengths
    %near = transformer.mask.window [left = 256, right = 256]
    %mask = transformer.mask.and %near, %valid
    %words = transformer.weight @embeddings.word_embeddings.weight : !words
    %table = transformer.weight @embeddings.position_embeddings.weight : !positions
    %g = transformer.weight @embeddings.LayerNorm.weight : !vector
    %b = transformer.weight @embeddings.LayerNorm.bias : !vector
    %word = transformer.embedding %ids, %words : (!ids, !words) -> !x
    %placed = transformer.positions.learned %word, %table {offset = 2 : i64}
      : (!x, !positions) -> !x
    %x0 = transformer.norm layer %placed, %g, %b {epsilon = 1.0e-12 : f32}
      : (!x, !vector, !vector) -> !x

    %Wq0 = transformer.weight @encoder.layer.0.attention.self.query.weight : !square
    %bq0 = transformer.weight @encoder.layer.0.attention.self.query.bias : !vector
    %q0 = transformer.linear %x0, %Wq0, %bq0
      : (!x, !square, !vector) -> !x
    %Wk0 = transformer.weight @encoder.layer.0.attention.self.key.weight : !square
    %bk0 = transformer.weight @encoder.layer.0.attention.self.key.bias : !vector
    %k0 = transformer.linear %x0, %Wk0, %bk0
      : (!x, !square, !vector) -> !x
    %Wv0 = transformer.weight @encoder.layer.0.attention.self.value.weight : !square
    %bv0 = transformer.weight @encoder.layer.0.attention.self.value.bias : !vector
    %v0 = transformer.linear %x0, %Wv0, %bv0
      : (!x, !square, !vector) -> !x
    %a0 = transformer.attention %q0, %k0, %v0 mask(%mask) {heads = 12 : i64}
      : (!x, !x, !x, !transformer.mask) -> !x
    %Wo0 = transformer.weight @encoder.layer.0.attention.output.dense.weight : !square
    %bo0 = transformer.weight @encoder.layer.0.attention.output.dense.bias : !vector
    %o0 = transformer.linear %a0, %Wo0, %bo0
      : (!x, !square, !vector) -> !x
    %s0 = transformer.add %x0, %o0 : (!x, !x) -> !x
    %g0 = transformer.weight @encoder.layer.0.attention.output.LayerNorm.weight
      : !vector
    %h0 = transformer.weight @encoder.layer.0.attention.output.LayerNorm.bias : !vector
    %y0 = transformer.norm layer %s0, %g0, %h0 {epsilon = 1.0e-12 : f32}
      : (!x, !vector, !vector) -> !x
    %Wu0 = transformer.weight @encoder.layer.0.intermediate.dense.weight : !up
    %bu0 = transformer.weight @encoder.layer.0.intermediate.dense.bias : !long
    %u0 = transformer.linear %y0, %Wu0, %bu0 : (!x, !up, !long) -> !hidden
    %z0 = transformer.activation gelu %u0 : (!hidden) -> !hidden
    %Wd0 = transformer.weight @encoder.layer.0.output.dense.weight : !down
    %bd0 = transformer.weight @encoder.layer.0.output.dense.bias : !vector
    %d0 = transformer.linear %z0, %Wd0, %bd0
      : (!hidden, !down, !vector) -> !x
    %r0 = transformer.add %y0, %d0 : (!x, !x) -> !x
    %i0 = transformer.weight @encoder.layer.0.output.LayerNorm.weight : !vector
    %j0 = transformer.weight @encoder.layer.0.output.LayerNorm.bias : !vector
    %x1 = transformer.norm layer %r0, %i0, %j0 {epsilon = 1.0e-12 : f32}
      : (!x, !vector, !vector) -> !x

    %Wq1 = transformer.weight @encoder.layer.1.attention.self.query.weight : !square
    %bq1 = transformer.weight @encoder.layer.1.attention.self.query.bias : !vector
    %q1 = transformer.linear %x1, %Wq1, %bq1
      : (!x, !square, !vector) -> !x
    %Wk1 = transformer.weight @encoder.layer.1.attention.self.key.weight : !square
    %bk1 = transformer.weight @encoder.layer.1.attention.self.key.bias : !vector
    %k1 = transformer.linear %x1, %Wk1, %bk1
      : (!x, !square, !vector) -> !x
    %Wv1 = transformer.weight @encoder.layer.1.attention.self.value.weight : !square
    %bv1 = transformer.weight @encoder.layer.1.attention.self.value.bias : !vector
    %v1 = transformer.linear %x1, %Wv1, %bv1
      : (!x, !square, !vector) -> !x
    %a1 = transformer.attention %q1, %k1, %v1 mask(%mask) {heads = 12 : i64}
      : (!x, !x, !x, !transformer.mask) -> !x
    %Wo1 = transformer.weight @encoder.layer.1.attention.output.dense.weight : !square
    %bo1 = transformer.weight @encoder.layer.1.attention.output.dense.bias : !vector
    %o1 = transformer.linear %a1, %Wo1, %bo1
      : (!x, !square, !vector) -> !x
    %s1 = transformer.add %x1, %o1 : (!x, !x) -> !x
    %g1 = transformer.weight @encoder.layer.1.attention.output.LayerNorm.weight
      : !vector
    %h1 = transformer.weight @encoder.layer.1.attention.output.LayerNorm.bias : !vector
    %y1 = transformer.norm layer %s1, %g1, %h1 {epsilon = 1.0e-12 : f32}
      : (!x, !vector, !vector) -> !x
    %Wu1 = transformer.weight @encoder.layer.1.intermediate.dense.weight : !up
    %bu1 = transformer.weight @encoder.layer.1.intermediate.dense.bias : !long
    %u1 = transformer.linear %y1, %Wu1, %bu1 : (!x, !up, !long) -> !hidden
    %z1 = transformer.activation gelu %u1 : (!hidden) -> !hidden
    %Wd1 = transformer.weight @encoder.layer.1.output.dense.weight : !down
    %bd1 = transformer.weight @encoder.layer.1.output.dense.bias : !vector
    %d1 = transformer.linear %z1, %Wd1, %bd1
      : (!hidden, !down, !vector) -> !x
    %r1 = transformer.add %y1, %d1 : (!x, !x) -> !x
    %i1 = transformer.weight @encoder.layer.1.output.LayerNorm.weight : !vector
    %j1 = transformer.weight @encoder.layer.1.output.LayerNorm.bias : !vector
    %x2 = transformer.norm layer %r1, %i1, %j1 {epsilon = 1.0e-12 : f32}
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
