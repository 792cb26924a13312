// The kernels that the runtime starts itself come behind the others.
// RUN: heddle-opt %s -transformer-add-runtime-kernels | FileCheck %s

// CHECK: gpu.module @linear
// CHECK: gpu.module @heddle_move_rows {
// CHECK: func.func @heddle_move_rows(%[[MOVE:[^:]*]]: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.struct<(i64, i64, i64, i64, i32, i32, i32, i32, i32)>})
// CHECK-SAME: transformer.launch = {number = 1 : i64, shared_bytes = 0 : i64, threads = 128 : i64}
// A thread has one piece of some rows, of four words or one, in their order; what stays
// is not read.
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[PARENT:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK: %[[MOVES:.*]] = arith.cmpi ne, %[[PARENT]], %[[ROW]] : i32
// CHECK: scf.if %[[MOVES]]
// CHECK: arith.select %{{.*}}, %[[PARENT]], %[[ROW]] : i32
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK: scf.for
// CHECK: %[[WORD:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: %[[WORD:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: llvm.store %[[WORD]]

// CHECK: gpu.module @heddle_write_history {
// CHECK: func.func @heddle_write_history(%{{.*}}: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.struct<(i64, i64, i64, i32, i32)>})
// CHECK-SAME: transformer.launch = {number = 2 : i64, shared_bytes = 0 : i64, threads = 32 : i64}
// A thread has a row.
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<1>

// CHECK: gpu.module @heddle_merge_ranges {
// CHECK: func.func @heddle_merge_ranges(%{{.*}}: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.struct<(i64, i64, i64, i64, i32, i32, i32)>})
// CHECK-SAME: transformer.launch = {number = 3 : i64, shared_bytes = 0 : i64, threads = 128 : i64}
// A thread has an element, whose place is the number of those before it in each
// list; values are compared as numbers, so that NaN comes before nothing.
// CHECK: scf.for
// CHECK: scf.while
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf oeq
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<1>
module {
  gpu.module @linear {
    func.func @linear(%context: !llvm.ptr)
        attributes {transformer.launch = {number = 0 : i64, shared_bytes = 0 : i64, threads = 32 : i64}} {
      return
    }
  }
}
