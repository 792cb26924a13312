// Luong's score dot: what a decoder has made against what the encoder has.
//
// Luong et al. 2015, "Effective Approaches to Attention-based NMT"
// (arXiv:1508.04025), section 3.1, equation 8
//
//     c_i = sum_j a_ij s_j,   a_i = softmax_j(h_i . s_j)
//
// In one line:
//     %y = transformer.attention %x, %memory, %memory mask(%mask)

!sequence = tensor<?x?x32xf32>
!lengths = tensor<?xi32>

func.func @cross(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]},
    %memory: !sequence {transformer.name = "memory",
                        transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %x, %memory, %memory mask(%mask)
      {heads = 1 : i64, scale = 1.0 : f32}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
  return %y : !sequence
}
