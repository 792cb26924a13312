// Every activation, one after the other, each around a residual.
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
  transformer.parameter @forget : !matrix
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
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
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

    %forget = transformer.weight @forget : !matrix
    %gamma = transformer.weight @gamma : !vector
    %beta = transformer.weight @beta : !vector
    %l0 = transformer.linear %g, %forget : (!sequence, !matrix) -> !sequence
    %a0 = transformer.activation relu %l0 : (!sequence) -> !sequence
    %x0 = transformer.add %g, %a0 : (!sequence, !sequence) -> !sequence
    %l1 = transformer.linear %x0, %forget : (!sequence, !matrix) -> !sequence
    %a1 = transformer.activation gelu %l1 : (!sequence) -> !sequence
    %x1 = transformer.add %x0, %a1 : (!sequence, !sequence) -> !sequence
    %l2 = transformer.linear %x1, %forget : (!sequence, !matrix) -> !sequence
    %a2 = transformer.activation gelu_tanh %l2 : (!sequence) -> !sequence
    %x2 = transformer.add %x1, %a2 : (!sequence, !sequence) -> !sequence
    %l3 = transformer.linear %x2, %forget : (!sequence, !matrix) -> !sequence
    %a3 = transformer.activation quick_gelu %l3 : (!sequence) -> !sequence
    %x3 = transformer.add %x2, %a3 : (!sequence, !sequence) -> !sequence
    %l4 = transformer.linear %x3, %forget : (!sequence, !matrix) -> !sequence
    %a4 = transformer.activation silu %l4 : (!sequence) -> !sequence
    %x4 = transformer.add %x3, %a4 : (!sequence, !sequence) -> !sequence
    %l5 = transformer.linear %x4, %forget : (!sequence, !matrix) -> !sequence
    %a5 = transformer.activation tanh %l5 : (!sequence) -> !sequence
    %x5 = transformer.add %x4, %a5 : (!sequence, !sequence) -> !sequence
    %l6 = transformer.linear %x5, %forget : (!sequence, !matrix) -> !sequence
    %a6 = transformer.activation sigmoid %l6 : (!sequence) -> !sequence
    %x6 = transformer.add %x5, %a6 : (!sequence, !sequence) -> !sequence
    %n = transformer.norm layer %x6, %gamma, %beta {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence
    %head = transformer.weight @head : tensor<16x23xf32>
    %head_bias = transformer.weight @head_bias : tensor<23xf32>
    %logits = transformer.linear %n, %head, %head_bias
      : (!sequence, tensor<16x23xf32>, tensor<23xf32>) -> tensor<?x?x23xf32>
    return %logits : tensor<?x?x23xf32>
  }
}
