// Keys and values projected along the sequence to 16 rows, by matrices that
// all heads share.
//
// Wang et al. 2020, "Linformer" (arXiv:2006.04768), section 4, equation 7
//
//     y = softmax(q (E k)^T / sqrt(d_k)) F v,   E, F [16, n]
//
// There is no causal form: a row of E k is made of all positions.
//
// In one line:
//     %Ek = transformer.project_sequence %k, %E lengths(%lengths)

!sequence = tensor<?x?x64xf32>
!keys = tensor<?x?x64xf32>
!weights = tensor<64x64xf32>
!key_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>
!projected = tensor<?x16x64xf32>

transformer.parameter @W_q : !weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !key_weights
transformer.parameter @E : tensor<16x4096xf32>
transformer.parameter @F : tensor<16x4096xf32>

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
  %E = transformer.weight @E : tensor<16x4096xf32>
  %F = transformer.weight @F : tensor<16x4096xf32>
  %Ek = transformer.project_sequence %k, %E lengths(%lengths)
      : (!keys, tensor<16x4096xf32>, !lengths) -> !projected
  %Fv = transformer.project_sequence %v, %F lengths(%lengths)
      : (!keys, tensor<16x4096xf32>, !lengths) -> !projected
  %y = transformer.attention %q, %Ek, %Fv
      {heads = 2 : i64} : (!sequence, !projected, !projected) -> !sequence
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
  %E = transformer.weight @E : tensor<16x4096xf32>
  %F = transformer.weight @F : tensor<16x4096xf32>
  %Ek = transformer.project_sequence %k, %E lengths(%lengths)
      : (!keys, tensor<16x4096xf32>, !lengths) -> !projected
  %Fv = transformer.project_sequence %v, %F lengths(%lengths)
      : (!keys, tensor<16x4096xf32>, !lengths) -> !projected
  %y = transformer.attention %q, %Ek, %Fv
      {heads = 2 : i64} : (!sequence, !projected, !projected) -> !sequence
  return %y : !sequence
}
