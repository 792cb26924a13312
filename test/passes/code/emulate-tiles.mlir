// RUN: heddle-opt %s -transformer-emulate-tiles | FileCheck %s

// Tiles that a loop carries are memrefs on the stack of the function; a product
// is a call, of one function a type.
// CHECK-LABEL: @multiply
// CHECK-COUNT-6: memref.alloca() : memref<16x
// CHECK-NOT: amx
func.func private @multiply(%x: memref<16x128xi8>, %w: memref<32x128xi8>,
    %y: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = amx.tile_zero : !amx.tile<16x16xi32>
  // CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ADDED:.*]] = %{{.*}}) -> (memref<16x16xi32>)
  %sum = scf.for %k = %c0 to %c128 step %c64 iter_args(%added = %zero)
      -> (!amx.tile<16x16xi32>) {
    %g = arith.divui %k, %c64 : index
    %row = arith.muli %g, %c16 : index
    // CHECK: memref.load %arg0
    %a = amx.tile_load %x[%c0, %k] : memref<16x128xi8> into !amx.tile<16x64xi8>
    // CHECK: memref.load %arg1
    %b = amx.tile_load %w[%row, %c0] : memref<32x128xi8> into !amx.tile<16x64xi8>
    // CHECK: call @heddle.tile_muli_u8i8_16x16(%{{.*}}, %{{.*}}, %[[ADDED]], %[[NEXT:[a-z0-9_]+]])
    // CHECK-NEXT: scf.yield %[[NEXT]]
    %next = amx.tile_muli %a zext, %b, %added
      : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
    scf.yield %next : !amx.tile<16x16xi32>
  }
  // CHECK: memref.load %[[SUM]]
  // CHECK: memref.store %{{.*}}, %arg2
  amx.tile_store %y[%c0, %c0], %sum : memref<16x16xi32>, !amx.tile<16x16xi32>
  // A stride counts elements behind the indices: here all rows are the first.
  // CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %c0
  // CHECK: %[[FROM:.*]] = arith.addi %c16{{.*}}, %[[STEP]]
  %first = amx.tile_load %x[%c0, %c16], %c0
    : memref<16x128xi8> into !amx.tile<16x64xi8>
  %same = amx.tile_load %w[%c0, %c0] : memref<32x128xi8> into !amx.tile<16x64xi8>
  // CHECK: call @heddle.tile_muli_u8i8_16x16
  %more = amx.tile_muli %first zext, %same, %sum
    : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  amx.tile_store %y[%c0, %c0], %more : memref<16x16xi32>, !amx.tile<16x16xi32>
  return
}

// CHECK-LABEL: @round
func.func private @round(%x: memref<16x6xbf16>, %w: memref<3x32xbf16>,
    %y: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = amx.tile_zero : !amx.tile<16x16xf32>
  %a = amx.tile_load %x[%c0, %c0] : memref<16x6xbf16> into !amx.tile<16x6xbf16>
  %b = amx.tile_load %w[%c0, %c0] : memref<3x32xbf16> into !amx.tile<3x32xbf16>
  // CHECK: call @heddle.tile_mulf_16x3
  %sum = amx.tile_mulf %a, %b, %zero
    : !amx.tile<16x6xbf16>, !amx.tile<3x32xbf16>, !amx.tile<16x16xf32>
  amx.tile_store %y[%c0, %c0], %sum : memref<16x16xf32>, !amx.tile<16x16xf32>
  return
}

// Unsigned bytes of x by signed ones of w.
// CHECK: func.func private @heddle.tile_muli_u8i8_16x16
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK-COUNT-4: arith.extui
// CHECK-NOT: func.func private @heddle.tile_muli

// Products of even inputs and those of odd ones meet before they are added.
// CHECK: func.func private @heddle.tile_mulf_16x3
// CHECK: %[[EVEN:.*]] = scf.for
// CHECK: math.fma
// CHECK: %[[ODD:.*]] = scf.for
// CHECK: math.fma
// CHECK: %[[BOTH:.*]] = arith.addf %[[EVEN]], %[[ODD]]
// CHECK: arith.addf %{{.*}}, %[[BOTH]]
