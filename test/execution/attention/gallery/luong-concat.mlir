// Luong's score concat: a small network over both.
//
// Luong et al. 2015, "Effective Approaches to Attention-based NMT"
// (arXiv:1508.04025), section 3.1, equation 8
//
//     c_i = sum_j a_ij s_j,   a_i = softmax_j(v_a . tanh(W_a [h_i; s_j]))
//
// In one line:
//     %hidden = math.tanh %sums : vector<2xf32>

!sequence = tensor<?x?x32xf32>
!lengths = tensor<?xi32>

transformer.parameter @W_a : tensor<2x64xf32>
transformer.parameter @v_a : tensor<2xf32>

func.func @decoder(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %W_a = transformer.weight @W_a : tensor<2x64xf32>
  %v_a = transformer.weight @v_a : tensor<2xf32>
  %mask = transformer.mask.causal
  %y = transformer.attention %x, %x, %x mask(%mask)
      {heads = 1 : i64}
      similarity {
    ^bb0(%h: vector<32xf32>, %s: vector<32xf32>):
      %zeros = arith.constant dense<0.0> : vector<64xf32>
      %0 = arith.constant 0 : i32
      %1 = arith.constant 1 : i32
      %half = vector.insert_strided_slice %h, %zeros
          {offsets = [0], strides = [1]} : vector<32xf32> into vector<64xf32>
      %hs = vector.insert_strided_slice %s, %half
          {offsets = [32], strides = [1]} : vector<32xf32> into vector<64xf32>
      %W_0 = transformer.lookup %W_a[%0] : tensor<2x64xf32> -> vector<64xf32>
      %W_1 = transformer.lookup %W_a[%1] : tensor<2x64xf32> -> vector<64xf32>
      %p_0 = arith.mulf %W_0, %hs : vector<64xf32>
      %p_1 = arith.mulf %W_1, %hs : vector<64xf32>
      %s_0 = vector.reduction <add>, %p_0 : vector<64xf32> into f32
      %s_1 = vector.reduction <add>, %p_1 : vector<64xf32> into f32
      %sums = vector.from_elements %s_0, %s_1 : vector<2xf32>
      %hidden = math.tanh %sums : vector<2xf32>
      %v = transformer.lookup %v_a[] : tensor<2xf32> -> vector<2xf32>
      %p = arith.mulf %v, %hidden : vector<2xf32>
      %score = vector.reduction <add>, %p : vector<2xf32> into f32
      transformer.yield %score : f32
    }
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
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
  %W_a = transformer.weight @W_a : tensor<2x64xf32>
  %v_a = transformer.weight @v_a : tensor<2xf32>
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %x, %memory, %memory mask(%mask)
      {heads = 1 : i64}
      similarity {
    ^bb0(%h: vector<32xf32>, %s: vector<32xf32>):
      %zeros = arith.constant dense<0.0> : vector<64xf32>
      %0 = arith.constant 0 : i32
      %1 = arith.constant 1 : i32
      %half = vector.insert_strided_slice %h, %zeros
          {offsets = [0], strides = [1]} : vector<32xf32> into vector<64xf32>
      %hs = vector.insert_strided_slice %s, %half
          {offsets = [32], strides = [1]} : vector<32xf32> into vector<64xf32>
      %W_0 = transformer.lookup %W_a[%0] : tensor<2x64xf32> -> vector<64xf32>
      %W_1 = transformer.lookup %W_a[%1] : tensor<2x64xf32> -> vector<64xf32>
      %p_0 = arith.mulf %W_0, %hs : vector<64xf32>
      %p_1 = arith.mulf %W_1, %hs : vector<64xf32>
      %s_0 = vector.reduction <add>, %p_0 : vector<64xf32> into f32
      %s_1 = vector.reduction <add>, %p_1 : vector<64xf32> into f32
      %sums = vector.from_elements %s_0, %s_1 : vector<2xf32>
      %hidden = math.tanh %sums : vector<2xf32>
      %v = transformer.lookup %v_a[] : tensor<2xf32> -> vector<2xf32>
      %p = arith.mulf %v, %hidden : vector<2xf32>
      %score = vector.reduction <add>, %p : vector<2xf32> into f32
      transformer.yield %score : f32
    }
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
  return %y : !sequence
}
