// Attention without parameters: a sequence against itself, unscaled.
//
// Luong et al. 2015 (arXiv:1508.04025), equation 8, of one sequence; the
// simplest form in which attention is taught
//
//     Y = softmax(X X^T) X
//
// In one line:
//     %y = transformer.attention %x, %x, %x mask(%mask)

!sequence = tensor<?x?x32xf32>
!lengths = tensor<?xi32>

func.func @encoder(
    %x: !sequence {transformer.name = "x",
                   transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"}) {
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %x, %x, %x mask(%mask)
      {heads = 1 : i64, scale = 1.0 : f32}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
  return %y : !sequence
}

func.func @decoder(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %mask = transformer.mask.causal
  %y = transformer.attention %x, %x, %x mask(%mask)
      {heads = 1 : i64, scale = 1.0 : f32}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
  return %y : !sequence
}
