// An encoder and a decoder whose positions see those of their own chunk alone.

!ids = tensor<?x?xi32>
!lengths = tensor<?xi32>
!x = tensor<?x?x64xf32>
!matrix = tensor<64x64xf32>
!mask = !transformer.mask

module attributes {
  transformer.family = "chunked",
  transformer.tasks = {generate = {start = 1 : i32, eos = array<i32: 2>, vocabulary = 29 : i32}},
  transformer.source = {vocabulary = 29 : i32}
} {
  transformer.parameter @table : tensor<29x64xf32>
  transformer.parameter @query : !matrix
  transformer.parameter @key : !matrix
  transformer.parameter @value : !matrix
  transformer.parameter @head : tensor<64x29xf32>

  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!x {transformer.name = "memory"})
      attributes {transformer.forms = ["full"]} {
    %table = transformer.weight @table : tensor<29x64xf32>
    %x = transformer.embedding %ids, %table
      : (!ids, tensor<29x64xf32>) -> !x
    %query = transformer.weight @query : !matrix
    %key = transformer.weight @key : !matrix
    %value = transformer.weight @value : !matrix
    %q = transformer.linear %x, %query : (!x, !matrix) -> !x
    %k = transformer.linear %x, %key : (!x, !matrix) -> !x
    %v = transformer.linear %x, %value : (!x, !matrix) -> !x
    %chunks = chunks.same 8
    %valid = transformer.mask.padding %lengths : !lengths
    %mask = transformer.mask.and %chunks, %valid
    %a = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!x, !x, !x, !mask) -> !x
    return %a : !x
  }

  func.func private @decode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "target"], transformer.target},
      %memory: !x {transformer.name = "memory",
                   transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (tensor<?x?x29xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["full", "step"]} {
    %table = transformer.weight @table : tensor<29x64xf32>
    %x = transformer.embedding %ids, %table
      : (!ids, tensor<29x64xf32>) -> !x
    %query = transformer.weight @query : !matrix
    %key = transformer.weight @key : !matrix
    %value = transformer.weight @value : !matrix
    %q = transformer.linear %x, %query : (!x, !matrix) -> !x
    %k = transformer.linear %x, %key : (!x, !matrix) -> !x
    %v = transformer.linear %x, %value : (!x, !matrix) -> !x
    %chunks = chunks.same 8
    %causal = transformer.mask.causal
    %mask = transformer.mask.and %chunks, %causal
    %a = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!x, !x, !x, !mask) -> !x
    %valid = transformer.mask.padding %lengths : !lengths
    %c = transformer.attention %a, %memory, %memory mask(%valid)
      {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
    %y = transformer.add %a, %c : (!x, !x) -> !x
    %head = transformer.weight @head : tensor<64x29xf32>
    %logits = transformer.linear %y, %head
      : (!x, tensor<64x29xf32>) -> tensor<?x?x29xf32>
    return %logits : tensor<?x?x29xf32>
  }
}
