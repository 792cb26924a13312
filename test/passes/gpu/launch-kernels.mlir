// Loops of reference code become kernels of a GPU, by number.
// RUN: heddle-opt %s -transformer-launch-kernels -canonicalize -split-input-file | FileCheck %s

// The kernel's thread takes one row; memory that a row needs is the thread's.
// An entry point returns what the device says in the end.

// CHECK-LABEL: func.func private @scale(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32>, %[[CALL:[^:]*]]: !llvm.ptr) attributes {transformer.kernel}
// CHECK: %[[CONTEXT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i64, struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
// CHECK: %[[ROWS:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[CALL]][9]
// CHECK: %[[DEVICE:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[LAUNCH:.*]] = llvm.load %[[DEVICE]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[ROWS]], %c128
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[BLOCKS]]
// CHECK: llvm.call %[[LAUNCH]](%[[DEVICE]], %c0_i64, %[[COUNT]], %[[CONTEXT]])
// CHECK-NOT: scf.parallel
func.func private @scale(%x: memref<?x8xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %memory = memref.alloca() : memref<8xf32>
  scf.parallel (%row) = (%c0) to (%rows) step (%c1) {
    %v = memref.load %x[%row, %c0] : memref<?x8xf32>
    memref.store %v, %memory[%c0] : memref<8xf32>
    %w = memref.load %memory[%c1] : memref<8xf32>
    memref.store %w, %x[%row, %c1] : memref<?x8xf32>
  }
  return
}

// CHECK-LABEL: func.func @heddle.f(
// CHECK-SAME: %[[CALL:[^:]*]]: !llvm.ptr) -> i32
// CHECK: call @scale(%{{.*}}, %[[CALL]])
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[CALL]][9]
// CHECK: %[[DEVICE:.*]] = llvm.load %[[FIELD]]
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[DEVICE]][2]
// CHECK: %[[STATUS:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i32
// CHECK: return %[[STATUS]] : i32
func.func @heddle.f(%call: !llvm.ptr) -> i32 attributes {transformer.entry = {}} {
  %buffer = llvm.load %call : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %buffer : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<?x8xf32>
  call @scale(%x) : (memref<?x8xf32>) -> ()
  %zero = arith.constant 0 : i32
  return %zero : i32
}

// CHECK: gpu.module @scale_0
// CHECK: func.func @scale_0(%{{[^:]*}}: !llvm.ptr
// CHECK-SAME: attributes {transformer.launch = {generic, number = 0 : i64, shared_bytes = 0 : i64, threads = 128 : i64}}
// CHECK: %[[ROW:.*]] = memref.alloca() : memref<8xf32>
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: %[[THREAD:.*]] = arith.addi
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[THREAD]]
// CHECK: scf.if %[[IS]]
// CHECK: memref.load %{{.*}}[%[[THREAD]], %c0]
// CHECK: memref.store %{{.*}}, %[[ROW]]

// -----

// Loops of several dimensions count through all of them, the last one fastest;
// of two loops in a function each is a kernel. A name of PTX has no dots.

// CHECK-LABEL: func.func private @two.loops(
// CHECK: llvm.call %{{.*}}(%{{.*}}, %c0_i64,
// CHECK: llvm.call %{{.*}}(%{{.*}}, %c1_i64,
// CHECK: gpu.module @two_loops {
// CHECK: number = 0 : i64
// CHECK: gpu.module @two_loops_0 {
// CHECK: number = 1 : i64
// CHECK: %[[D:.*]] = arith.remui %[[THREAD:.*]], %c8
// CHECK: %[[R:.*]] = arith.divui %[[THREAD]], %c8
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[R]], %[[D]]]
func.func private @two.loops(%x: memref<?x8xf32>, %y: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  scf.parallel (%row) = (%c0) to (%rows) step (%c1) {
    memref.store %zero, %y[%row] : memref<?xf32>
  }
  scf.parallel (%row, %d) = (%c0, %c0) to (%rows, %c8) step (%c1, %c1) {
    memref.store %zero, %x[%row, %d] : memref<?x8xf32>
  }
  return
}

// -----

// Where a loop says so an iteration is a block's, with shared memory of its own;
// whether blocks stay, the launch has to know.

// CHECK-NOT: llvm.mlir.global
// CHECK-LABEL: func.func private @blocks(
// CHECK: %[[COUNT:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: llvm.call %{{.*}}(%{{.*}}, %c0_i64, %[[COUNT]], %{{.*}})
// CHECK: gpu.module @blocks_0
// CHECK: llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: attributes {transformer.launch = {cluster = 2 : i64, number = 0 : i64, shared_bytes = 512 : i64, stays, threads = 64 : i64}}
// CHECK: llvm.mlir.addressof @shared_memory
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK-NOT: arith.muli
// CHECK-NOT: scf.if
// CHECK: memref.store
llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
func.func private @blocks(%x: memref<?xf32>, %count: index) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%block) = (%c0) to (%count) step (%c1) {
    %memory = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
    %v = llvm.load %memory : !llvm.ptr<3> -> f32
    memref.store %v, %x[%block] : memref<?xf32>
  } {transformer.launch = {cluster = 2 : i64, shared_bytes = 512 : i64, stays, threads = 64 : i64}}
  return
}

// -----

// What one loop leaves to the next is scratch memory of the device.

// CHECK-LABEL: func.func private @in_two_steps(
// CHECK-SAME: %[[CALL:[^:]*]]: !llvm.ptr)
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[CALL]][9]
// CHECK: %[[DEVICE:.*]] = llvm.load %[[FIELD]]
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[DEVICE]][1]
// CHECK: %[[SCRATCH:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[SIZE:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: %[[BYTES:.*]] = arith.muli %[[SIZE]], %c4_i64
// CHECK: %[[MEMORY:.*]] = llvm.call %[[SCRATCH]](%[[DEVICE]], %[[BYTES]]) : !llvm.ptr, (!llvm.ptr, i64) -> !llvm.ptr
// CHECK-NOT: memref.alloc
func.func private @in_two_steps(%x: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %between = memref.alloc(%size) : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%size) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %between[%i] : memref<?xf32>
  }
  scf.parallel (%i) = (%c0) to (%size) step (%c1) {
    %v = memref.load %between[%i] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// Its size may be known.

// CHECK-LABEL: func.func private @of_known_size(
// CHECK: llvm.call %{{.*}}(%{{.*}}, %c128_i64) : !llvm.ptr, (!llvm.ptr, i64) -> !llvm.ptr
func.func private @of_known_size(%x: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %between = memref.alloc() : memref<32xf32>
  scf.parallel (%i) = (%c0) to (%size) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %between[%c0] : memref<32xf32>
  }
  return
}
