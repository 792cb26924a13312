// Linformer in the encoder: keys are projected to four rows by a matrix that all
// heads share, values by one of each head.
// RUN: bash %S/Inputs/check.sh %s %t

!ids = tensor<?x?xi32>
!lengths = tensor<?xi32>
!sequence = tensor<?x?x16xf32>
!matrix = tensor<16x16xf32>
!vector = tensor<16xf32>

module attributes {
  transformer.family = "variant",
  transformer.tasks = {generate = {start = 1 : i32, eos = array<i32: 2>, vocabulary = 23 : i32}},
  transformer.source = {vocabulary = 23 : i32, positions = 16 : i32}
} {
  transformer.parameter @table : tensor<23x16xf32>
  transformer.parameter @query : !matrix
  transformer.parameter @key : !matrix
  transformer.parameter @value : !matrix
  transformer.parameter @output : !matrix
  transformer.parameter @project_keys : tensor<4x16xf32>
  transformer.parameter @project_values : tensor<2x4x16xf32>
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

    %query = transformer.weight @query : !matrix
    %key = transformer.weight @key : !matrix
    %value = transformer.weight @value : !matrix
    %output = transformer.weight @output : !matrix
    %q = transformer.linear %x, %query : (!sequence, !matrix) -> !sequence
    %k = transformer.linear %x, %key : (!sequence, !matrix) -> !sequence
    %v = transformer.linear %x, %value : (!sequence, !matrix) -> !sequence
    %for_keys = transformer.weight @project_keys : tensor<4x16xf32>
    %for_values = transformer.weight @project_values : tensor<2x4x16xf32>
    %pk = transformer.project_sequence %k, %for_keys lengths(%lengths)
      : (!sequence, tensor<4x16xf32>, !lengths) -> tensor<?x4x16xf32>
    %pv = transformer.project_sequence %v, %for_values lengths(%lengths)
      : (!sequence, tensor<2x4x16xf32>, !lengths) -> tensor<?x4x16xf32>
    %a = transformer.attention %q, %pk, %pv {heads = 2 : i64}
      : (!sequence, tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> !sequence
    %o = transformer.linear %a, %output : (!sequence, !matrix) -> !sequence
    %y = transformer.add %x, %o : (!sequence, !sequence) -> !sequence
    return %y : !sequence
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
