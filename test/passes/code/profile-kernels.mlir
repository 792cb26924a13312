// Calls of kernels are counted where the HeddleCall has a profile.
// RUN: heddle-opt %s -transformer-profile-kernels -split-input-file | FileCheck %s
// RUN: heddle-opt %s -transformer-profile-kernels -heddle-llvm -split-input-file | FileCheck %s --check-prefix=LLVM

// CHECK: module attributes {transformer.kernel_types = ["f32", "f32"], transformer.kernels = ["known", "unknown"], transformer.layers = ["encoder.query+encoder.key", "encoder.output"]}

// Entry points stay lists of calls, each of which says which it is.

// CHECK-LABEL: func.func @heddle.entry(
// CHECK-SAME: %[[CALL:[^:]*]]: !llvm.ptr)
// CHECK-SAME: transformer.entry = {kernels = array<i32: 0, 1, 0>, layers = array<i32: 0, -1, 1>, name = "entry"}
// CHECK: %[[FIRST:.*]] = arith.constant 0 : i64
// CHECK-NEXT: call @known(%[[X:.*]], %[[FIRST]], %[[CALL]]) : (memref<4xf32>, i64, !llvm.ptr) -> ()
// CHECK-NEXT: %[[SECOND:.*]] = arith.constant 1 : i64
// CHECK-NEXT: call @unknown(%[[X]], %[[SECOND]], %[[CALL]])
// CHECK-NEXT: %[[THIRD:.*]] = arith.constant 2 : i64
// CHECK-NEXT: call @known(%[[X]], %[[THIRD]], %[[CALL]])
// CHECK-NEXT: return

// CHECK-LABEL: func.func private @known(
// CHECK-SAME: %[[X:[^:]*]]: memref<4xf32>, %[[PLACE:[^:]*]]: i64, %[[CALL:[^:]*]]: !llvm.ptr)
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[CALL]][6]
// CHECK: %[[PROFILE:.*]] = llvm.load %[[AT]]
// CHECK: %[[ASKED:.*]] = llvm.icmp "ne" %[[PROFILE]],
// CHECK: %[[START:.*]] = scf.if %[[ASKED]] -> (i64) {
// CHECK: %[[NOW_AT:.*]] = llvm.getelementptr %[[PROFILE]][0]
// CHECK: %[[NOW:.*]] = llvm.load %[[NOW_AT]]
// CHECK: %[[TIME:.*]] = llvm.call %[[NOW]](%[[PROFILE]])
// CHECK: scf.yield %[[TIME]]
// CHECK: } else {
// CHECK: memref.store %{{.*}}, %[[X]]
// CHECK: scf.if %[[ASKED]] {
// CHECK: %[[END:.*]] = llvm.call
// CHECK: %[[NANOSECONDS:.*]] = arith.subi %[[END]], %[[START]]
// CHECK: %[[WORK:.*]]:2 = func.call @known.work(%[[X]])
// CHECK: %[[FLOPS:.*]] = arith.index_cast %[[WORK]]#0
// CHECK: %[[BYTES:.*]] = arith.index_cast %[[WORK]]#1
// CHECK: %[[ADD_AT:.*]] = llvm.getelementptr %[[PROFILE]][1]
// CHECK: %[[ADD:.*]] = llvm.load %[[ADD_AT]]
// CHECK: llvm.call %[[ADD]](%[[PROFILE]], %[[PLACE]], %[[NANOSECONDS]], %[[FLOPS]], %[[BYTES]])

// Work that nobody counted is zero.

// CHECK-LABEL: func.func private @unknown(
// CHECK: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %c0_i64{{[_0-9]*}}, %c0_i64{{[_0-9]*}})

// LLVM-LABEL: llvm.func @heddle.entry(
// LLVM-NOT: unrealized_conversion_cast
// LLVM: return
func.func @heddle.entry(%call: !llvm.ptr) attributes {transformer.entry = {name = "entry"}} {
  %x = memref.alloca() : memref<4xf32>
  call @known(%x) : (memref<4xf32>) -> () loc(fused["encoder.query", "encoder.key"])
  call @unknown(%x) : (memref<4xf32>) -> ()
  call @known(%x) : (memref<4xf32>) -> () loc("encoder.output")
  return
}
func.func private @known(%x: memref<4xf32>) attributes {transformer.kernel, transformer.work = @known.work} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %x[%c0] : memref<4xf32>
  return
}
func.func private @known.work(%x: memref<4xf32>) -> (index, index) attributes {transformer.kernel} {
  %c1 = arith.constant 1 : index
  return %c1, %c1 : index, index
}
func.func private @unknown(%x: memref<4xf32>) attributes {transformer.kernel} {
  return
}

// -----

// CHECK-NOT: transformer.kernel
// CHECK-LABEL: func.func @heddle.no_calls(
// CHECK-NEXT: return
func.func @heddle.no_calls(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  return
}

// -----

// Places are numbered through all entry points; what stands where its function
// does is no layer's.
// CHECK: module attributes
// CHECK-SAME: transformer.layers = ["encoder.output"]
// CHECK-LABEL: func.func @heddle.first(
// CHECK-SAME: transformer.entry = {kernels = array<i32: 0>, layers = array<i32: -1>}
// CHECK: arith.constant 0 : i64
// CHECK-LABEL: func.func @heddle.second(
// CHECK-SAME: transformer.entry = {kernels = array<i32: 0>, layers = array<i32: 0>}
// CHECK: arith.constant 1 : i64
func.func @heddle.first(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  call @kernel() : () -> () loc("first")
  return
} loc("first")
func.func @heddle.second(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  scf.execute_region {
    func.call @kernel() : () -> () loc("encoder.output")
    scf.yield
  }
  return
}
func.func private @kernel() attributes {transformer.kernel} {
  return
}

// -----

// What a kernel multiplies is what its first operand holds.
// CHECK: module attributes {transformer.kernel_types = ["bf16", "i8"], transformer.kernels = ["pairs", "bytes"]}
func.func @heddle.entry(%call: !llvm.ptr) attributes {transformer.entry = {}} {
  %x = memref.alloca() : memref<4xbf16>
  %y = memref.alloca() : memref<4xi8>
  call @pairs(%x) : (memref<4xbf16>) -> ()
  call @bytes(%y) : (memref<4xi8>) -> ()
  return
}
func.func private @pairs(%x: memref<4xbf16>) attributes {transformer.kernel} {
  return
}
func.func private @bytes(%x: memref<4xi8>) attributes {transformer.kernel} {
  return
}
