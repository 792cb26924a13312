// A score region that rounds to f16 and bf16, and multiplies in bf16.
// RUN: bash %S/Inputs/check.sh %s %t

!ids = tensor<?x?xi32>
!lengths = tensor<?xi32>
!sequence = tensor<?x?x16xf32>
!matrix = tensor<16x16xf32>
!vector = tensor<16xf32>

module attributes {
  transformer.family = "variant",
  transformer.tasks = {generate = {start = 1 : i32, eos = array<i32: 2>, vocabulary = 23 : i32}},
  transformer.source = {vocabulary = 23 : i32}
} {
  transformer.parameter @table : tensor<23x16xf32>
  transformer.parameter @query : !matrix
  transformer.parameter @key : !matrix
  transformer.parameter @value : !matrix
  transformer.parameter @output : !matrix
  transformer.parameter @cross_query : !matrix
  transformer.parameter @cross_key : !matrix
  transformer.parameter @cross_value : !matrix
  transformer.parameter @gamma : !vector
  transformer.parameter @beta : !vector
  transformer.parameter @head : tensor<16x23xf32>
  transformer.parameter @head_bias : tensor<23xf32>

  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!sequence {transformer.name = "memory"})
      attributes {transformer.forms = ["full"]} {
    %table = transformer.weight @table : tensor<23x16xf32>
    %e = transformer.embedding %ids, %table {scale = 4.0 : f32}
      : (!ids, tensor<23x16xf32>) -> !sequence
    %x = transformer.positions.sinusoidal %e {timescales = 8 : i64}
      : (!sequence) -> !sequence
    return %x : !sequence
  }

  func.func private @decode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "target"], transformer.target},
      %memory: !sequence {transformer.name = "memory",
                          transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (tensor<?x?x23xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["full", "step", "extend"]} {
    %table = transformer.weight @table : tensor<23x16xf32>
    %e = transformer.embedding %ids, %table {scale = 4.0 : f32}
      : (!ids, tensor<23x16xf32>) -> !sequence
    %x = transformer.positions.sinusoidal %e {timescales = 8 : i64}
      : (!sequence) -> !sequence

    %query = transformer.weight @query : !matrix
    %key = transformer.weight @key : !matrix
    %value = transformer.weight @value : !matrix
    %output = transformer.weight @output : !matrix
    %q = transformer.linear %x, %query : (!sequence, !matrix) -> !sequence
    %k = transformer.linear %x, %key : (!sequence, !matrix) -> !sequence
    %v = transformer.linear %x, %value : (!sequence, !matrix) -> !sequence
    %causal = transformer.mask.causal
    %a = transformer.attention %q, %k, %v mask(%causal) {heads = 2 : i64}
      score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %part = arith.constant 0.05 : f32
      %two = arith.constant 2.0 : f32
      %halved = arith.divf %s, %two : f32
      %f16 = arith.truncf %halved : f32 to f16
      %half = arith.extf %f16 : f16 to f32
      %bf16 = arith.truncf %halved : f32 to bf16
      %square = arith.mulf %bf16, %bf16 : bf16
      %brain = arith.extf %square : bf16 to f32
      %first = arith.mulf %half, %part : f32
      %second = arith.mulf %brain, %part : f32
      %sum = arith.addf %s, %first : f32
      %biased = arith.addf %sum, %second : f32
      transformer.yield %biased : f32
    } : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
    %o = transformer.linear %a, %output : (!sequence, !matrix) -> !sequence
    %y = transformer.add %x, %o : (!sequence, !sequence) -> !sequence

    %cross_query = transformer.weight @cross_query : !matrix
    %cross_key = transformer.weight @cross_key : !matrix
    %cross_value = transformer.weight @cross_value : !matrix
    %cq = transformer.linear %y, %cross_query
      : (!sequence, !matrix) -> !sequence
    %ck = transformer.linear %memory, %cross_key
      : (!sequence, !matrix) -> !sequence
    %cv = transformer.linear %memory, %cross_value
      : (!sequence, !matrix) -> !sequence
    %valid = transformer.mask.padding %lengths : !lengths
    %c = transformer.attention %cq, %ck, %cv mask(%valid) {heads = 2 : i64}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
    %g = transformer.add %y, %c : (!sequence, !sequence) -> !sequence

    %gamma = transformer.weight @gamma : !vector
    %beta = transformer.weight @beta : !vector
    %n = transformer.norm layer %g, %gamma, %beta {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence
    %head = transformer.weight @head : tensor<16x23xf32>
    %head_bias = transformer.weight @head_bias : tensor<23xf32>
    %logits = transformer.linear %n, %head, %head_bias
      : (!sequence, tensor<16x23xf32>, tensor<23xf32>) -> tensor<?x?x23xf32>
    return %logits : tensor<?x?x23xf32>
  }
}
