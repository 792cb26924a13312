// Pooling by any function of a query and a key, over its own sum; keys and
// values differ in width.
//
// Nadaraya 1964, Watson 1964; Wang et al. 2018, "Non-local Neural Networks"
// (arXiv:1711.07971), section 3.1, equation 1
//
//     y_i = 1 / C_i sum_j f(q_i, k_j) v_j,   C_i = sum_j f(q_i, k_j)
//     f(q, k) = 1 / (1 + |q - k|^2),   d_k = 16, d_v = 32
//
// In one line:
//     %f = arith.divf %one, %sum : f32

!sequence = tensor<?x?x64xf32>
!queries = tensor<?x?x32xf32>
!keys = tensor<?x?x32xf32>
!values = tensor<?x?x64xf32>
!query_weights = tensor<64x32xf32>
!key_weights = tensor<64x32xf32>
!value_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>

transformer.parameter @W_q : !query_weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !value_weights

func.func @encoder(
    %x: !sequence {transformer.name = "x",
                   transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"}) {
  %W_q = transformer.weight @W_q : !query_weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !value_weights
  %q = transformer.linear %x, %W_q : (!sequence, !query_weights) -> !queries
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !value_weights) -> !values
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      similarity {
    ^bb0(%q_i: vector<16xf32>, %k_j: vector<16xf32>):
      %difference = arith.subf %q_i, %k_j : vector<16xf32>
      %square = arith.mulf %difference, %difference : vector<16xf32>
      %distance = vector.reduction <add>, %square : vector<16xf32> into f32
      transformer.yield %distance : f32
    } normalizer {
    ^bb0(%distance: f32):
      %one = arith.constant 1.0 : f32
      %sum = arith.addf %distance, %one : f32
      %f = arith.divf %one, %sum : f32
      transformer.yield %f : f32
    }
      : (!queries, !keys, !values, !transformer.mask) -> !sequence
  return %y : !sequence
}

func.func @decoder(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %W_q = transformer.weight @W_q : !query_weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !value_weights
  %q = transformer.linear %x, %W_q : (!sequence, !query_weights) -> !queries
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !value_weights) -> !values
  %mask = transformer.mask.causal
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      similarity {
    ^bb0(%q_i: vector<16xf32>, %k_j: vector<16xf32>):
      %difference = arith.subf %q_i, %k_j : vector<16xf32>
      %square = arith.mulf %difference, %difference : vector<16xf32>
      %distance = vector.reduction <add>, %square : vector<16xf32> into f32
      transformer.yield %distance : f32
    } normalizer {
    ^bb0(%distance: f32):
      %one = arith.constant 1.0 : f32
      %sum = arith.addf %distance, %one : f32
      %f = arith.divf %one, %sum : f32
      transformer.yield %f : f32
    }
      : (!queries, !keys, !values, !transformer.mask) -> !sequence
  return %y : !sequence
}

func.func @cross(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]},
    %memory: !sequence {transformer.name = "memory",
                        transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %W_q = transformer.weight @W_q : !query_weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !value_weights
  %q = transformer.linear %x, %W_q : (!sequence, !query_weights) -> !queries
  %k = transformer.linear %memory, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %memory, %W_v : (!sequence, !value_weights) -> !values
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      similarity {
    ^bb0(%q_i: vector<16xf32>, %k_j: vector<16xf32>):
      %difference = arith.subf %q_i, %k_j : vector<16xf32>
      %square = arith.mulf %difference, %difference : vector<16xf32>
      %distance = vector.reduction <add>, %square : vector<16xf32> into f32
      transformer.yield %distance : f32
    } normalizer {
    ^bb0(%distance: f32):
      %one = arith.constant 1.0 : f32
      %sum = arith.addf %distance, %one : f32
      %f = arith.divf %one, %sum : f32
      transformer.yield %f : f32
    }
      : (!queries, !keys, !values, !transformer.mask) -> !sequence
  return %y : !sequence
}
