// The kernel that the runtime moves rows of states with comes behind the others.
// RUN: heddle-opt %s -transformer-add-row-mover | FileCheck %s

// CHECK: gpu.module @linear
// CHECK: gpu.module @heddle_move_rows {
// CHECK: func.func @heddle_move_rows(%[[MOVE:[^:]*]]: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.struct<(i64, i64, i64, i64, i32, i32, i32, i32)>})
// CHECK-SAME: transformer.launch = {number = 1 : i64, shared_bytes = 0 : i64, threads = 128 : i64}
// A thread has one word of some rows, in their order; what stays is not read.
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[PARENT:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK: %[[MOVES:.*]] = arith.cmpi ne, %[[PARENT]], %[[ROW]] : i32
// CHECK: scf.if %[[MOVES]]
// CHECK: arith.select %{{.*}}, %[[PARENT]], %[[ROW]] : i32
// CHECK: %[[WORD:.*]] = llvm.load
// CHECK: llvm.store %[[WORD]]
module {
  gpu.module @linear {
    func.func @linear(%context: !llvm.ptr)
        attributes {transformer.launch = {number = 0 : i64, shared_bytes = 0 : i64, threads = 32 : i64}} {
      return
    }
  }
}
