// Ops that no pass of ours builds, but regions and canonicalisation may.
// RUN: heddle-opt %s -transformer-lower-to-llvm | FileCheck %s

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

// What reaches LLVM through other ops of its dialect.

// CHECK-LABEL: llvm.func @vectors_of_rows(
// CHECK-COUNT-2: llvm.fmul
// CHECK: llvm.return
func.func @vectors_of_rows(%a: vector<2xf32>, %b: vector<8xf32>) -> vector<2x8xf32> {
  %c = vector.outerproduct %a, %b : vector<2xf32>, vector<8xf32>
  return %c : vector<2x8xf32>
}

// CHECK-LABEL: llvm.func @parallel_loop(
// CHECK: llvm.cond_br
// CHECK: llvm.store
// CHECK: llvm.return
func.func @parallel_loop(%x: memref<?xf32>, %size: index, %value: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%size) step (%c1) {
    memref.store %value, %x[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: llvm.func @row_of_a_tile(
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.load {{.*}} -> vector<16xf32>
func.func @row_of_a_tile(%x: memref<?x32xf32>, %row: index, %rows: index) -> vector<16xf32> {
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : index
  %tile = memref.subview %x[%row, 0] [%rows, 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
  %v = vector.load %tile[%c0, %c16] : memref<?x32xf32, strided<[32, 1], offset: ?>>, vector<16xf32>
  return %v : vector<16xf32>
}

// What LLVM has no intrinsic for is libm's.

// CHECK-LABEL: llvm.func @exp_and_erf(
// CHECK: llvm.intr.exp
// CHECK: llvm.call @erff(
func.func @exp_and_erf(%x: f32) -> f32 {
  %y = math.exp %x : f32
  %z = math.erf %y : f32
  return %z : f32
}

// A value that crosses a call of the runtime keeps its form in LLVM.

// CHECK-LABEL: llvm.func @casts(
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.store {{.*}} : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
func.func @casts(%x: memref<?xf32>, %context: !llvm.ptr) {
  %form = builtin.unrealized_conversion_cast %x : memref<?xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %form, %context : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return
}

// Masked bf16 are moved as bits, which need no instruction for what they are.

// CHECK-LABEL: llvm.func @masked_bf16(
// CHECK: %[[LOADED:.*]] = llvm.intr.masked.load {{.*}} -> vector<16xi16>
// CHECK: %[[VALUES:.*]] = llvm.bitcast %[[LOADED]] : vector<16xi16> to vector<16xbf16>
// CHECK: llvm.bitcast %{{.*}} : vector<16xbf16> to vector<16xi16>
// CHECK: llvm.intr.masked.store %{{.*}} : vector<16xi16>
// CHECK: llvm.return %[[VALUES]]
func.func @masked_bf16(%x: memref<16xbf16>, %mask: vector<16xi1>, %zeros: vector<16xbf16>, %at: index) -> vector<16xbf16> {
  %v = vector.maskedload %x[%at], %mask, %zeros : memref<16xbf16>, vector<16xi1>, vector<16xbf16> into vector<16xbf16>
  vector.maskedstore %x[%at], %mask, %zeros : memref<16xbf16>, vector<16xi1>, vector<16xbf16>
  return %v : vector<16xbf16>
}

// A fence keeps LLVM from joining a masked store with what shortened its
// elements.

// CHECK-LABEL: llvm.func @masked_bytes(
// CHECK: %[[BYTES:.*]] = llvm.trunc
// CHECK: %[[WORDS:.*]] = llvm.bitcast %[[BYTES]] : vector<16xi8> to vector<4xf32>
// CHECK: %[[FENCED:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[WORDS]])
// CHECK: %[[STORED:.*]] = llvm.bitcast %[[FENCED]] : vector<4xf32> to vector<16xi8>
// CHECK: llvm.intr.masked.store %[[STORED]]
func.func @masked_bytes(%x: memref<16xi8>, %mask: vector<16xi1>, %long: vector<16xi32>, %at: index) {
  %v = arith.trunci %long : vector<16xi32> to vector<16xi8>
  vector.maskedstore %x[%at], %mask, %v : memref<16xi8>, vector<16xi1>, vector<16xi8>
  return
}

// A view of a view on the stack, one of two that are chosen from.

// CHECK-LABEL: llvm.func @views_of_views(
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.return
func.func @views_of_views(%which: i1, %rows: index) -> f32 {
  %zero = arith.constant 0 : index
  %a = memref.alloca() : memref<8x4xf32>
  %b = memref.alloca() : memref<8x4xf32>
  %all = memref.subview %a[0, 0] [%rows, 4] [1, 1] : memref<8x4xf32> to memref<?x4xf32, strided<[4, 1]>>
  %some = memref.subview %all[%rows, 0] [%rows, 4] [1, 1] : memref<?x4xf32, strided<[4, 1]>> to memref<?x4xf32, strided<[4, 1], offset: ?>>
  %other = memref.cast %b : memref<8x4xf32> to memref<?x4xf32, strided<[4, 1]>>
  %chosen = arith.select %which, %all, %other : memref<?x4xf32, strided<[4, 1]>>
  %x = memref.load %chosen[%zero, %zero] : memref<?x4xf32, strided<[4, 1]>>
  %y = memref.load %some[%zero, %zero] : memref<?x4xf32, strided<[4, 1], offset: ?>>
  %sum = arith.addf %x, %y : f32
  return %sum : f32
}

// Tiles become intrinsics, also where loops carry them.
// CHECK-LABEL: llvm.func @multiplies_tiles
func.func @multiplies_tiles(%x: memref<16x128xi8>, %w: memref<32x128xi8>,
    %y: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  // CHECK: llvm.call_intrinsic "llvm.x86.tilezero.internal"({{.*}}) : (i16, i16) -> !llvm.x86_amx
  %zero = amx.tile_zero : !amx.tile<16x16xi32>
  // CHECK: llvm.br ^{{.*}} : i64, !llvm.x86_amx
  %sum = scf.for %k = %c0 to %c128 step %c64 iter_args(%added = %zero)
      -> (!amx.tile<16x16xi32>) {
    %a = amx.tile_load %x[%c0, %k] : memref<16x128xi8> into !amx.tile<16x64xi8>
    // CHECK: "llvm.x86.tileloadd64.internal"
    // CHECK: "llvm.x86.tileloaddt164.internal"
    %b = amx.tile_load %w[%c0, %c0] {nontemporal}
      : memref<32x128xi8> into !amx.tile<16x64xi8>
    // CHECK: "llvm.x86.tdpbusd.internal"
    %next = amx.tile_muli %a zext, %b, %added
      : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
    scf.yield %next : !amx.tile<16x16xi32>
  }
  // CHECK: "llvm.x86.tilestored64.internal"
  amx.tile_store %y[%c0, %c0], %sum : memref<16x16xi32>, !amx.tile<16x16xi32>
  return
}
