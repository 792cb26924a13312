// RUN: heddle-opt %s -split-input-file -verify-diagnostics -transformer-choose-precision=attention=int8

// expected-error @below {{there are no keys and values to keep as int8: expected a decoder with self-attention}}
module {
  func.func @encode(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    %y = transformer.attention %x, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
