// A predicate inside of a window, outside of which nothing is evaluated.
//
// Child et al. 2019, "Sparse Transformers" (arXiv:1904.10509), section 4.2,
// the strided pattern with l = 8, cut off at 23
//
//     y_i = sum_j w_ij v_j,   w_i = softmax_j(q_i . k_j / sqrt(d_k)) over N(i)
//     N(i) = {j : |i - j| < l or l divides i - j,  |i - j| <= 23}
//
// In one line:
//     %rule = transformer.mask.where within [left = 23, right = 23] {

!sequence = tensor<?x?x64xf32>
!keys = tensor<?x?x64xf32>
!weights = tensor<64x64xf32>
!key_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>

transformer.parameter @W_q : !weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !key_weights

func.func @encoder(
    %x: !sequence {transformer.name = "x",
                   transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"}) {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %eight = arith.constant 8 : i32
  %seven = arith.constant 7 : i32
  %zero = arith.constant 0 : i32
  %rule = transformer.mask.where within [left = 23, right = 23] {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %back = arith.subi %i, %j : i32
    %distance = math.absi %back : i32
    %near = arith.cmpi slt, %distance, %eight : i32
    %part = arith.andi %distance, %seven : i32
    %stride = arith.cmpi eq, %part, %zero : i32
    %is = arith.ori %near, %stride : i1
    transformer.yield %is : i1
  }
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %rule, %padding
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}

func.func @decoder(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %eight = arith.constant 8 : i32
  %seven = arith.constant 7 : i32
  %zero = arith.constant 0 : i32
  %rule = transformer.mask.where within [left = 23, right = 23] {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %back = arith.subi %i, %j : i32
    %distance = math.absi %back : i32
    %near = arith.cmpi slt, %distance, %eight : i32
    %part = arith.andi %distance, %seven : i32
    %stride = arith.cmpi eq, %part, %zero : i32
    %is = arith.ori %near, %stride : i1
    transformer.yield %is : i1
  }
  %causal = transformer.mask.causal
  %mask = transformer.mask.and %rule, %causal
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
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
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %memory, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %memory, %W_v : (!sequence, !key_weights) -> !keys
  %eight = arith.constant 8 : i32
  %seven = arith.constant 7 : i32
  %zero = arith.constant 0 : i32
  %rule = transformer.mask.where within [left = 23, right = 23] {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %back = arith.subi %i, %j : i32
    %distance = math.absi %back : i32
    %near = arith.cmpi slt, %distance, %eight : i32
    %part = arith.andi %distance, %seven : i32
    %stride = arith.cmpi eq, %part, %zero : i32
    %is = arith.ori %near, %stride : i1
    transformer.yield %is : i1
  }
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %rule, %padding
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
