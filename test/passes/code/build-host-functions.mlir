// Entry points as KernelAbi.h has them, described in the manifest's words.
// RUN: heddle-opt %s -transformer-build-host-functions -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @heddle.f(
// CHECK-SAME: %[[CALL:[^:]*]]: !llvm.ptr) -> i32 attributes {transformer.entry = {arena_symbol = "heddle.f.arena", arguments = [{dtype = "f32", kind = "input", name = "x", shape = ["rows", 8]}], dims = ["rows"], name = "f", symbol = "heddle.f"}}
// CHECK: %[[BUFFERS:.*]] = llvm.load %[[CALL]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[DIMS_AT:.*]] = llvm.getelementptr %[[CALL]][1]
// CHECK: %[[DIMS:.*]] = llvm.load %[[DIMS_AT]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[ROWS:.*]] = llvm.load %[[DIMS]] : !llvm.ptr -> i64
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[ROWS]]
// CHECK: %[[BUFFER:.*]] = llvm.load %[[BUFFERS]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.insertvalue %[[BUFFER]]
// CHECK: %[[X:.*]] = memref.view %{{.*}}[%c0][%[[SIZE]]] : memref<?xi8> to memref<?x8xf32>
// CHECK: memref.load %[[X]]
// CHECK: return %c0_i32 : i32
// CHECK-NOT: func.func private @f(
func.func private @f(%x: memref<?x8xf32> {transformer.name = "x", transformer.dims = ["rows"]}) attributes {transformer.dims = ["rows"]} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0, %c0] : memref<?x8xf32>
  memref.store %v, %x[%c0, %c0] : memref<?x8xf32>
  return
}

// -----

// Kinds come from the arguments' attributes; scratch memory is no argument.

// CHECK-LABEL: func.func @heddle.kinds(
// CHECK-SAME: arguments = [
// CHECK-SAME: {dtype = "i32", kind = "input", name = "ids", shape = ["rows"]},
// CHECK-SAME: {dtype = "f32", kind = "prepared", name = "prepared0", shape = ["batch", "source", 8]},
// CHECK-SAME: {dtype = "f32", kind = "state", name = "state0", shape = ["rows", "capacity", 8]},
// CHECK-SAME: {dtype = "f32", kind = "state", name = "state1", pinned = 2 : i64, shape = ["rows", "capacity<=6", 8]},
// CHECK-SAME: {dtype = "f32", kind = "output", name = "logits", shape = ["rows", 9]}],
// CHECK-SAME: dims = ["rows", "batch", "source", "capacity", "capacity<=6"]
func.func private @kinds(
    %ids: memref<?xi32> {transformer.name = "ids", transformer.dims = ["rows"]},
    %prepared: memref<?x?x8xf32> {transformer.name = "prepared0", transformer.dims = ["batch", "source"], transformer.prepared},
    %state: memref<?x?x8xf32> {transformer.name = "state0", transformer.dims = ["rows", "capacity"], transformer.state},
    %ring: memref<?x?x8xf32> {transformer.name = "state1", transformer.dims = ["rows", "capacity<=6"], transformer.state, transformer.pinned = 2 : i64},
    %logits: memref<?x9xf32> {transformer.name = "logits", transformer.dims = ["rows"], transformer.output},
    %arena: memref<?xi8> {transformer.arena})
    attributes {transformer.dims = ["rows", "batch", "source", "capacity", "capacity<=6"]} {
  return
}

// -----

// The arena's size is a function of the dimensions, in their order.

// CHECK-LABEL: func.func @heddle.g.arena(
// CHECK-SAME: %[[DIMS:[^:]*]]: !llvm.ptr) -> i64 {
// CHECK: %[[FIRST:.*]] = llvm.load %[[DIMS]] : !llvm.ptr -> i64
// CHECK: %[[A:.*]] = arith.index_cast %[[FIRST]] : i64 to index
// CHECK: %[[SECOND_AT:.*]] = llvm.getelementptr %[[DIMS]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: %[[SECOND:.*]] = llvm.load %[[SECOND_AT]] : !llvm.ptr -> i64
// CHECK: %[[B:.*]] = arith.index_cast %[[SECOND]] : i64 to index
// CHECK: %[[BYTES:.*]] = arith.muli %[[A]], %[[B]] : index
// CHECK: %[[RESULT:.*]] = arith.index_cast %[[BYTES]] : index to i64
// CHECK: return %[[RESULT]] : i64
func.func private @g.arena(%rows: index, %width: index) -> index attributes {transformer.arena = @g} {
  %bytes = arith.muli %rows, %width : index
  return %bytes : index
}

// -----

// A weight is a view of the weights section at its place.

transformer.parameter @w : tensor<4x4xf32> placed at 192

// CHECK-LABEL: func.func @heddle.weights(
// CHECK: %[[WEIGHTS_AT:.*]] = llvm.getelementptr %{{.*}}[3]
// CHECK: %[[WEIGHTS:.*]] = llvm.load %[[WEIGHTS_AT]]
// CHECK: llvm.insertvalue %[[WEIGHTS]]
// CHECK: %[[W:.*]] = memref.view %{{.*}}[%c192][] : memref<?xi8> to memref<4x4xf32>
// CHECK: memref.load %[[W]]
// CHECK-NOT: transformer.weight
func.func private @weights(%y: memref<f32> {transformer.name = "y", transformer.output}) attributes {transformer.dims = []} {
  %c1 = arith.constant 1 : index
  %w = transformer.weight @w : memref<4x4xf32>
  %v = memref.load %w[%c1, %c1] : memref<4x4xf32>
  memref.store %v, %y[] : memref<f32>
  return
}

// -----

// CHECK: func.func private @declaration_is_left_alone()
// CHECK-NOT: func.func
func.func private @declaration_is_left_alone()

// -----

// Rows of a buffer are a view of the memory where they begin.

// CHECK-LABEL: func.func @heddle.some_rows(
// CHECK: %[[X:.*]] = memref.view %{{.*}}[%c0][%{{.*}}] : memref<?xi8> to memref<?x8xf32>
// CHECK: %[[SHIFT:.*]] = arith.muli %[[N:.*]], %c32
// CHECK: %[[BEGIN:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[SHIFT]]
// CHECK: %[[ADDRESS:.*]] = arith.index_cast %[[AT]]
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]]
// CHECK: llvm.insertvalue %[[POINTER]]
// CHECK: %[[ROWS:.*]] = memref.view %{{.*}}[%c0][%[[N]]] : memref<?xi8> to memref<?x8xf32>
// CHECK: memref.store %{{.*}}, %[[ROWS]]
func.func private @some_rows(%x: memref<?x8xf32> {transformer.name = "x", transformer.dims = ["rows"]}) attributes {transformer.dims = ["rows"]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %v = memref.load %x[%c0, %c0] : memref<?x8xf32>
  %rows = transformer.rows %x[%n for %n] : memref<?x8xf32>
  memref.store %v, %rows[%c0, %c0] : memref<?x8xf32>
  return
}

// -----

// What blocks of a GPU do is not the host's, whatever it is.

// CHECK-LABEL: func.func @heddle.with_blocks(
// CHECK: scf.parallel
// CHECK: nvvm.read.ptx.sreg.tid.x
func.func private @with_blocks(%x: memref<?x8xf32> {transformer.name = "x", transformer.dims = ["rows"]}) attributes {transformer.dims = ["rows"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  scf.parallel (%block) = (%c0) to (%n) step (%c1) {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %column = arith.index_cast %thread : i32 to index
    %v = memref.load %x[%block, %column] : memref<?x8xf32>
    memref.store %v, %x[%block, %column] : memref<?x8xf32>
  } {transformer.launch = {shared_bytes = 0 : i64, threads = 8 : i64}}
  return
}
