// Ops that no pass of ours builds, but regions and canonicalisation may.
// RUN: heddle-opt %s -heddle-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @poison(
// CHECK: llvm.mlir.poison : f32
func.func @poison() -> f32 {
  %p = ub.poison : f32
  return %p : f32
}

// Taking a vector apart starts from poison.

// CHECK-LABEL: llvm.func @transposed_vector(
// CHECK-NOT: ub.poison
// CHECK: llvm.return
func.func @transposed_vector(%v: vector<8xf32>) -> vector<8xf32> {
  %a = vector.shape_cast %v : vector<8xf32> to vector<2x4xf32>
  %b = vector.transpose %a, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %c = vector.shape_cast %b : vector<4x2xf32> to vector<8xf32>
  return %c : vector<8xf32>
}

// CHECK-LABEL: llvm.func @index_arithmetic(
// CHECK: llvm.add
func.func @index_arithmetic(%i: index) -> index {
  %j = index.add %i, %i
  return %j : index
}
