// RUN: not heddle-opt %s -transformer-emit-grids=architecture=sm_80 2>&1 | FileCheck %s

// CHECK: 'transformer.round' op is still on tensors: bufferise it first
func.func private @tensors(%x: tensor<?x8xf32>) -> tensor<?x8xbf16> {
  %y = transformer.round %x : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}
