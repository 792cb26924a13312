// Sizes that are known may leave a grid of one block, and a loop of one
// iteration: it stays a kernel, since the host cannot do what a thread does.
// RUN: heddle-opt %s -heddle-model -heddle-grids=architecture=sm_80 | FileCheck %s

transformer.parameter @w : tensor<16x32xf32>

// CHECK-LABEL: func.func private @linear_16x32(
// CHECK-NOT: nvvm
// CHECK: llvm.call %{{.*}}(%{{.*}}, %c0_i64, %c1_i64, %{{.*}})
// CHECK: gpu.module @linear_16x32_0
// CHECK: nvvm.read.ptx.sreg.tid.x
func.func @f(%x: tensor<5x16xf32> {transformer.name = "x"})
    -> (tensor<5x32xf32> {transformer.name = "y"}) {
  %w = transformer.weight @w : tensor<16x32xf32>
  %y = transformer.linear %x, %w
    : (tensor<5x16xf32>, tensor<16x32xf32>) -> tensor<5x32xf32>
  return %y : tensor<5x32xf32>
}
