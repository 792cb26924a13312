// Parallel loops become tasks that the runtime's threads share.
// RUN: heddle-opt %s -transformer-lower-parallel -split-input-file | FileCheck %s
// RUN: heddle-opt %s -transformer-lower-parallel -heddle-llvm -split-input-file | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @heddle.entry(
// CHECK-SAME: %[[CALL:[^:]*]]: !llvm.ptr)
// CHECK: call @scale(%{{.*}}, %{{.*}}, %[[CALL]]) : (memref<4x8xf32>, index, !llvm.ptr) -> ()

// CHECK-LABEL: func.func private @scale(
// CHECK-SAME: %[[X:[^:]*]]: memref<4x8xf32>, %[[TASKS:[^:]*]]: index, %[[CALL:[^:]*]]: !llvm.ptr) attributes {transformer.kernel}
// CHECK: %[[CONTEXT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
// CHECK: %[[DESCRIPTOR:.*]] = builtin.unrealized_conversion_cast %[[X]]
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[CONTEXT]][0, 0]
// CHECK: llvm.store %[[DESCRIPTOR]], %[[FIELD]]
// CHECK: %[[FOR_AT:.*]] = llvm.getelementptr %[[CALL]][4]
// CHECK: %[[FOR:.*]] = llvm.load %[[FOR_AT]]
// CHECK: %[[POOL_AT:.*]] = llvm.getelementptr %[[CALL]][5]
// CHECK: %[[POOL:.*]] = llvm.load %[[POOL_AT]]
// CHECK: %[[SCRATCH_AT:.*]] = llvm.getelementptr %[[CALL]][7]
// CHECK: %[[SCRATCH:.*]] = llvm.load %[[SCRATCH_AT]]
// CHECK: %[[SINGLE:.*]] = arith.cmpi sle, %[[TASKS]], %c1
// CHECK: %[[ALONE:.*]] = llvm.icmp "eq" %[[FOR]],
// CHECK: %[[DIRECT:.*]] = arith.ori %[[SINGLE]], %[[ALONE]]
// CHECK: %[[END:.*]] = arith.index_cast %[[TASKS]]
// CHECK: scf.if %[[DIRECT]] {
// CHECK: call @scale.task(%[[CONTEXT]], %[[SCRATCH]], %c0_i64, %[[END]])
// CHECK: } else {
// CHECK: %[[TASK:.*]] = func.constant @scale.task
// CHECK: %[[ADDRESS:.*]] = builtin.unrealized_conversion_cast %[[TASK]]
// CHECK: %[[BYTES_AT:.*]] = llvm.getelementptr %[[CALL]][8]
// CHECK: %[[BYTES:.*]] = llvm.load %[[BYTES_AT]] : !llvm.ptr -> i64
// CHECK: llvm.call %[[FOR]](%[[POOL]], %[[END]], %[[ADDRESS]], %[[CONTEXT]], %[[SCRATCH]], %[[BYTES]])

// Constants are the task's own, and memory that it takes stands in the scratch
// memory of its thread.

// CHECK-LABEL: func.func private @scale.task(
// CHECK-SAME: %[[CONTEXT:[^:]*]]: !llvm.ptr, %[[MEMORY:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[BEGIN:[^:]*]]: i64, %[[END:[^:]*]]: i64) attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG: %[[X:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4x8xf32>
// CHECK: llvm.getelementptr %[[MEMORY]][0]
// CHECK: %[[OWN:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<1xf32>
// CHECK: llvm.getelementptr %[[MEMORY]][64]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<3xindex>
// CHECK-NOT: memref.alloca
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[BEGIN]]
// CHECK: %[[LAST:.*]] = arith.index_cast %[[END]]
// CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[LAST]] step
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]],
// CHECK: %[[SCALED:.*]] = arith.mulf %[[V]], %[[TWO]]
// CHECK: memref.store %[[SCALED]], %[[OWN]]

// The runtime asks how much that is.

// CHECK-LABEL: func.func @heddle.scratch() -> i64
// CHECK: arith.constant 128 : i64

// LLVM-LABEL: llvm.func @heddle.entry(
// LLVM-NOT: unrealized_conversion_cast
// LLVM: llvm.mlir.addressof @scale.task
// LLVM-NOT: unrealized_conversion_cast
// LLVM: llvm.func internal @scale.task(
// LLVM-NOT: unrealized_conversion_cast
func.func @heddle.entry(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  %c4 = arith.constant 4 : index
  %x = memref.alloca() : memref<4x8xf32>
  call @scale(%x, %c4) : (memref<4x8xf32>, index) -> ()
  return
}

func.func private @scale(%x: memref<4x8xf32>, %tasks: index) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  scf.forall (%task) in (%tasks) {
    %scratch = memref.alloca() : memref<1xf32>
    %more = memref.alloca() : memref<3xindex>
    memref.store %task, %more[%c0] : memref<3xindex>
    %v = memref.load %x[%task, %c0] : memref<4x8xf32>
    %scaled = arith.mulf %v, %two : f32
    memref.store %scaled, %scratch[%c0] : memref<1xf32>
    %w = memref.load %scratch[%c0] : memref<1xf32>
    memref.store %w, %x[%task, %c0] : memref<4x8xf32>
  }
  return
}

// -----

// The call reaches a kernel through the kernels that call it, whatever their
// order, and those that need no call stay as they are.

// CHECK-LABEL: func.func private @inner(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[CALL:.*]]: !llvm.ptr)
// CHECK: llvm.call
// CHECK-LABEL: func.func private @outer(
// CHECK-SAME: %{{.*}}: memref<?xf32>, %[[CALL:.*]]: !llvm.ptr)
// CHECK: call @inner(%{{.*}}, %[[CALL]])
// CHECK: call @serial(%{{.*}}) : (memref<?xf32>) -> ()
// CHECK-LABEL: func.func private @serial(%{{.*}}: memref<?xf32>)
// CHECK-LABEL: func.func @heddle.chain(
// CHECK-SAME: %[[CALL:.*]]: !llvm.ptr)
// CHECK: call @outer(%{{.*}}, %[[CALL]])

// LLVM-LABEL: llvm.func @inner(
// LLVM-NOT: unrealized_conversion_cast
func.func private @inner(%x: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    memref.store %zero, %x[%i] : memref<?xf32>
  }
  return
}
func.func private @outer(%x: memref<?xf32>) attributes {transformer.kernel} {
  call @inner(%x) : (memref<?xf32>) -> ()
  call @serial(%x) : (memref<?xf32>) -> ()
  return
}
func.func private @serial(%x: memref<?xf32>) attributes {transformer.kernel} {
  return
}
func.func @heddle.chain(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  %x = memref.alloca() : memref<4xf32>
  %y = memref.cast %x : memref<4xf32> to memref<?xf32>
  call @outer(%y) : (memref<?xf32>) -> ()
  return
}

// -----

// The number of threads is a field of the call.

// CHECK-LABEL: func.func private @share(
// CHECK-SAME: %{{.*}}: index, %[[CALL:.*]]: !llvm.ptr)
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[CALL]][10]
// CHECK: %[[WORD:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK: %[[THREADS:.*]] = arith.index_cast %[[WORD]] : i64 to index
// CHECK: arith.divui %{{.*}}, %[[THREADS]]
// CHECK-LABEL: func.func @heddle.sharing(
// CHECK: call @share(%{{.*}}, %{{.*}}) : (index, !llvm.ptr) -> index
func.func private @share(%n: index) -> index attributes {transformer.kernel} {
  %threads = transformer.threads
  %share = arith.divui %n, %threads : index
  return %share : index
}
func.func @heddle.sharing(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  %n = arith.constant 8 : index
  %share = call @share(%n) : (index) -> index
  return
}

// -----

// Two loops of one function are two tasks; indices and views travel too.

// CHECK-LABEL: func.func @heddle.two(
// CHECK: llvm.alloca %{{.*}} x !llvm.struct<(i64, struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>)>
// CHECK: call @heddle.two.task(
// CHECK: call @heddle.two.task_0(
// CHECK-DAG: func.func private @heddle.two.task(
// CHECK-DAG: func.func private @heddle.two.task_0(

// LLVM-LABEL: llvm.func @heddle.two(
// LLVM-NOT: unrealized_conversion_cast
func.func @heddle.two(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  %c3 = arith.constant 3 : index
  %n = llvm.load %call : !llvm.ptr -> i64
  %offset = arith.index_cast %n : i64 to index
  %zero = arith.constant 0.0 : f32
  %x = memref.alloca() : memref<8xf32>
  %view = memref.subview %x[%offset] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  scf.forall (%i) in (%c3) {
    memref.store %zero, %view[%i] : memref<4xf32, strided<[1], offset: ?>>
  }
  scf.forall (%i) in (%c3) {
    %at = arith.addi %i, %offset : index
    memref.store %zero, %x[%at] : memref<8xf32>
  }
  return
}
