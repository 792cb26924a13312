// Linear by oneDNN: addresses, sizes, and the number of an activation.
// RUN: heddle-opt %s -transformer-call-one-dnn -canonicalize -split-input-file | FileCheck %s

// CHECK: func.func private @heddle_onednn_linear(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64)

// CHECK-LABEL: func.func private @epilogue(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32>, %[[W:[^:]*]]: memref<8x16xf32>, %[[B:[^:]*]]: memref<16xf32>, %[[R:[^:]*]]: memref<?x16xf32>, %[[GAMMA:[^:]*]]: memref<16xf32>, %[[Y:[^:]*]]: memref<?x16xf32>)
// CHECK: %[[DIM:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[ROWS:.*]] = arith.index_cast %[[DIM]]
// CHECK: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: memref.extract_aligned_pointer_as_index %[[W]]
// CHECK: memref.extract_aligned_pointer_as_index %[[B]]
// CHECK: memref.extract_aligned_pointer_as_index %[[R]]
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: call @heddle_onednn_linear(%{{.*}}, %[[ROWS]], %c8_i64, %c16_i64, %c16_i64, %c0_i64)
// CHECK: transformer.norm rms %[[Y]], %[[GAMMA]] into %[[Y]]
// CHECK-NOT: transformer.linear
func.func private @epilogue(%x: memref<?x8xf32>, %w: memref<8x16xf32>, %b: memref<16xf32>, %r: memref<?x16xf32>, %gamma: memref<16xf32>, %y: memref<?x16xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w, %b activation(relu) residual(%r) norm(rms, %gamma, 1.0e-5) into %y : (memref<?x8xf32>, memref<8x16xf32>, memref<16xf32>, memref<?x16xf32>, memref<16xf32>, memref<?x16xf32>) -> ()
  return
}

// Parts are columns of one weight: the second starts behind the first.

// CHECK-LABEL: func.func private @split(
// CHECK: call @heddle_onednn_linear(%{{.*}}, %c8_i64, %c4_i64, %c16_i64, %c-1_i64)
// CHECK: %[[W:.*]] = llvm.inttoptr
// CHECK: llvm.getelementptr %{{.*}}[4] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: call @heddle_onednn_linear(%{{.*}}, %c8_i64, %c12_i64, %c16_i64, %c-1_i64)
func.func private @split(%x: memref<?x8xf32>, %w: memref<8x16xf32>, %y: memref<?x4xf32>, %z: memref<?x12xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w split [4, 12] into %y, %z : (memref<?x8xf32>, memref<8x16xf32>, memref<?x4xf32>, memref<?x12xf32>) -> ()
  return
}

// -----

// Packed weights are for our own kernels.

// CHECK-NOT: heddle_onednn_linear
// CHECK-LABEL: func.func private @packed(
// CHECK: transformer.linear
func.func private @packed(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %y: memref<?x16xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<1x8x32xf32>, memref<?x16xf32>) -> ()
  return
}

// A gate is multiplied, which the call does not.

// CHECK-LABEL: func.func private @gate(
// CHECK: transformer.linear {{.*}} gate(
func.func private @gate(%x: memref<?x8xf32>, %w: memref<8x16xf32>, %g: memref<?x16xf32>, %y: memref<?x16xf32>) {
  transformer.linear %x, %w gate(%g) into %y : (memref<?x8xf32>, memref<8x16xf32>, memref<?x16xf32>, memref<?x16xf32>) -> ()
  return
}
