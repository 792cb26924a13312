// A weight of zeros in several panels, with another weight behind it.
// RUN: heddle-compile %s -o %t.heddle
// RUN: echo 3 | heddle-run %t.heddle --ids | FileCheck %s
// CHECK: {{^}}0 0 0 0{{$}}

!ids = tensor<?x?xi32>
!x = tensor<?x?x8xf32>
!hidden = tensor<?x?x100xf32>
!logits = tensor<?x?x70xf32>
module attributes {
  transformer.family = "zeros",
  transformer.tasks = {generate = {start = 1 : i32, eos = array<i32: 2>,
                            max_length = 4 : i32, vocabulary = 70 : i32}},
  transformer.source = {vocabulary = 8 : i32, positions = 8 : i32}
} {
  transformer.parameter @table : tensor<70x8xf32> zeros
  transformer.parameter @up : tensor<8x100xf32> zeros
  transformer.parameter @head : tensor<100x70xf32> zeros

  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]})
      attributes {transformer.forms = ["full"]} {
    return
  }
  func.func private @decode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "target"], transformer.target})
      -> (!logits {transformer.name = "logits"})
      attributes {transformer.forms = ["step"]} {
    %table = transformer.weight @table : tensor<70x8xf32>
    %up = transformer.weight @up : tensor<8x100xf32>
    %head = transformer.weight @head : tensor<100x70xf32>
    %x = transformer.embedding %ids, %table : (!ids, tensor<70x8xf32>) -> !x
    %hidden = transformer.linear %x, %up : (!x, tensor<8x100xf32>) -> !hidden
    %logits = transformer.linear %hidden, %head
      : (!hidden, tensor<100x70xf32>) -> !logits
    return %logits : !logits
  }
}
