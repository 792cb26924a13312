// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v4 -split-input-file | FileCheck %s --check-prefixes=CHECK,V4
// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v3 -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: heddle-opt %s -transformer-emit-kernels=isa=avx512-bf16 -split-input-file | FileCheck %s --check-prefixes=CHECK,BF16

// Four keys by 32 queries of scores stay in registers: a tile size is what the
// dump says. Weights outside of the full part are marked; inside there is no
// mask.
// CHECK-LABEL: @weighs_a_tile
func.func private @weighs_a_tile(%queries: memref<64x32xf32>,
    %keys: memref<?x64xf32>, %probabilities: memref<64x32xf32>,
    %sums: memref<64x32xf32>, %state: memref<4x32xf32>, %b: index, %h: index,
    %i: index, %j: index, %end: index) {
  %causal = transformer.mask.causal
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4
  // V4: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  // V4: math.fma {{.*}} : vector<16xf32>
  // V3: math.fma {{.*}} : vector<8xf32>
  // CHECK: scf.if
  // CHECK-NOT: arith.cmpi sle, {{.*}} : vector
  // V4: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK: } else {
  // V4: arith.cmpi sle, {{.*}} : vector<16xi32>
  // V3: arith.cmpi sle, {{.*}} : vector<8xi32>
  // CHECK-NOT: transformer.online.probabilities
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end
    mask(%causal) of %b, %h, %i into %probabilities, %sums, %state
    {factor = 1.0 : f32, tile = 4 : i64} : memref<64x32xf32>, memref<?x64xf32>,
    memref<64x32xf32>, memref<64x32xf32>, memref<4x32xf32>
  return
}

// -----

// A region in lanes: what depends on the head alone is one number.
// CHECK-LABEL: @inlines_a_score_region
func.func private @inlines_a_score_region(%queries: memref<8x16xf32>,
    %keys: memref<?x8xf32>, %probabilities: memref<64x16xf32>,
    %sums: memref<8x16xf32>, %state: memref<4x16xf32>, %slopes: memref<2xf32>,
    %b: index, %h: index, %i: index, %j: index, %end: index) {
  // CHECK: memref.load %{{.*}}[%{{.*}}] : memref<2xf32>
  // CHECK: scf.for
  // V4: arith.sitofp {{.*}} : vector<16xi32> to vector<16xf32>
  // V3: arith.sitofp {{.*}} : vector<8xi32> to vector<8xf32>
  // CHECK-NOT: transformer.lookup
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end
    of %b, %h, %i into %probabilities, %sums, %state
    {factor = 1.0 : f32, tile = 4 : i64} score {
  ^bb0(%s: f32, %rb: i32, %rh: i32, %ri: i32, %rj: i32):
    %slope = transformer.lookup %slopes[%rh] : memref<2xf32> -> f32
    %distance = arith.subi %ri, %rj : i32
    %f = arith.sitofp %distance : i32 to f32
    %bias = arith.mulf %slope, %f : f32
    %t = arith.addf %s, %bias : f32
    transformer.yield %t : f32
  } : memref<8x16xf32>, memref<?x8xf32>, memref<64x16xf32>, memref<8x16xf32>,
      memref<4x16xf32>
  return
}

// -----

// A similarity region becomes loops along the width. What queries have of their
// own is summed in front of the keys, what a key has is one number for all
// queries, and one loop makes all sums that can be made.
// CHECK-LABEL: @sums_along_the_width
func.func private @sums_along_the_width(%queries: memref<64x32xf32>,
    %keys: memref<?x64xf32>, %probabilities: memref<64x32xf32>,
    %sums: memref<64x32xf32>, %state: memref<4x32xf32>, %b: index, %h: index,
    %i: index, %j: index, %end: index) {
  // V4: %[[Q2:.*]]:2 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>) {
  // V3: %[[Q2:.*]]:4 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  // CHECK-NOT: vector.reduction <add>
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4
  // V4: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, f32, f32, f32, f32) {
  // V4: arith.mulf %[[Q2]]#0, %{{.*}} : vector<16xf32>
  // CHECK-NOT: vector<64xf32>
  // CHECK: return
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end
    of %b, %h, %i into %probabilities, %sums, %state
    {factor = 1.0 : f32, tile = 4 : i64} similarity {
  ^bb0(%q: vector<64xf32>, %k: vector<64xf32>):
    %p = arith.mulf %q, %k : vector<64xf32>
    %qq = arith.mulf %q, %q : vector<64xf32>
    %kk = arith.mulf %k, %k : vector<64xf32>
    %dot = vector.reduction <add>, %p : vector<64xf32> into f32
    %q2 = vector.reduction <add>, %qq : vector<64xf32> into f32
    %k2 = vector.reduction <add>, %kk : vector<64xf32> into f32
    %squares = arith.mulf %q2, %k2 : f32
    %norms = math.sqrt %squares : f32
    %s = arith.divf %dot, %norms : f32
    transformer.yield %s : f32
  } : memref<64x32xf32>, memref<?x64xf32>, memref<64x32xf32>,
      memref<64x32xf32>, memref<4x32xf32>
  return
}

// -----

// Elements that move are read where they were; loops end where they no longer
// follow each other.
// CHECK-LABEL: @reads_elements_where_they_are
func.func private @reads_elements_where_they_are(%queries: memref<64x16xf32>,
    %keys: memref<?x64xf32>, %probabilities: memref<64x16xf32>,
    %sums: memref<64x16xf32>, %state: memref<4x16xf32>, %b: index, %h: index,
    %i: index, %j: index, %end: index) {
  // V4: %[[HALF:.*]]:4 = scf.for %[[D:.*]] = %c0{{[_0-9]*}} to %c32{{[_0-9]*}} step
  // V4: vector.load %arg0[%[[D]], %{{.*}}] : memref<64x16xf32>, vector<16xf32>
  // V4: %[[AT:.*]] = arith.addi %[[D]], %c32
  // V4: memref.load %arg1[%{{.*}}, %[[AT]]] : memref<?x64xf32>
  // V4: scf.for %{{.*}} = %c32{{[_0-9]*}} to %c64{{[_0-9]*}} step {{.*}} = %[[HALF]]#0,
  // CHECK-NOT: vector<64xf32>
  // CHECK: return
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end
    of %b, %h, %i into %probabilities, %sums, %state
    {factor = 1.0 : f32, tile = 4 : i64} similarity {
  ^bb0(%q: vector<64xf32>, %k: vector<64xf32>):
    %low = vector.extract_strided_slice %k
      {offsets = [0], sizes = [32], strides = [1]}
      : vector<64xf32> to vector<32xf32>
    %high = vector.extract_strided_slice %k
      {offsets = [32], sizes = [32], strides = [1]}
      : vector<64xf32> to vector<32xf32>
    %half = vector.insert_strided_slice %high, %q {offsets = [0], strides = [1]}
      : vector<32xf32> into vector<64xf32>
    %turned = vector.insert_strided_slice %low, %half
      {offsets = [32], strides = [1]} : vector<32xf32> into vector<64xf32>
    %p = arith.mulf %q, %turned : vector<64xf32>
    %s = vector.reduction <add>, %p : vector<64xf32> into f32
    transformer.yield %s : f32
  } : memref<64x16xf32>, memref<?x64xf32>, memref<64x16xf32>,
      memref<64x16xf32>, memref<4x16xf32>
  return
}

// -----

// Pairs of bf16 are multiplied by the instruction for them or, widened, by two.
// CHECK-LABEL: @multiplies_pairs
func.func private @multiplies_pairs(%probabilities: memref<32x32x2xbf16>,
    %pairs: memref<32x8x2xbf16>, %sums: memref<8x32xf32>, %j: index,
    %end: index) {
  // BF16: "llvm.x86.avx512bf16.dpbf16ps.512"
  // BF16-NOT: math.fma
  // V4: arith.shli
  // V4: math.fma
  // CHECK-NOT: transformer.online.update
  transformer.online.update block %probabilities, %pairs[%j to %end] full %j to %end
    into %sums {tile = 8 : i64}
    : memref<32x32x2xbf16>, memref<32x8x2xbf16>, memref<8x32xf32>
  return
}
