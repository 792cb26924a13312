// A similarity region that is the scaled product of queries and keys.
// RUN: heddle-opt %s -canonicalize | FileCheck %s

!rows = tensor<?x?x8xf32>

// CHECK-LABEL: @recognises_the_product
func.func @recognises_the_product(%x: !rows) -> !rows {
  // CHECK-NEXT: transformer.attention %arg0, %arg0, %arg0 {heads = 1 : i64, scale = 1.000000e+00 : f32}
  // CHECK-NEXT: return
  %y = transformer.attention %x, %x, %x {heads = 1 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %p = arith.mulf %k, %q : vector<8xf32>
    %s = vector.reduction <add>, %p : vector<8xf32> into f32
    transformer.yield %s : f32
  } : (!rows, !rows, !rows) -> !rows
  return %y : !rows
}

// CHECK-LABEL: @recognises_its_scale
func.func @recognises_its_scale(%x: !rows) -> !rows {
  // CHECK: transformer.attention {{.*}} {heads = 1 : i64, scale = 3.000000e+00 : f32} score
  %y = transformer.attention %x, %x, %x {heads = 1 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %p = arith.mulf %q, %k : vector<8xf32>
    %s = vector.reduction <add>, %p : vector<8xf32> into f32
    %three = arith.constant 3.0 : f32
    %t = arith.mulf %three, %s : f32
    transformer.yield %t : f32
  } score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %t = math.tanh %s : f32
    transformer.yield %t : f32
  } : (!rows, !rows, !rows) -> !rows
  return %y : !rows
}

// CHECK-LABEL: @leaves_others_alone
func.func @leaves_others_alone(%x: !rows) -> (!rows, !rows, !rows) {
  // CHECK: transformer.attention {{.*}} similarity
  %a = transformer.attention %x, %x, %x {heads = 1 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %p = arith.mulf %q, %q : vector<8xf32>
    %s = vector.reduction <add>, %p : vector<8xf32> into f32
    transformer.yield %s : f32
  } : (!rows, !rows, !rows) -> !rows
  // CHECK: transformer.attention {{.*}} similarity
  %b = transformer.attention %x, %x, %x {heads = 1 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %p = arith.mulf %q, %k : vector<8xf32>
    %s = vector.reduction <maximumf>, %p : vector<8xf32> into f32
    transformer.yield %s : f32
  } : (!rows, !rows, !rows) -> !rows
  // CHECK: transformer.attention {{.*}} similarity
  %c = transformer.attention %x, %x, %x {heads = 1 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %p = arith.mulf %q, %k : vector<8xf32>
    %s = vector.reduction <add>, %p : vector<8xf32> into f32
    %t = arith.mulf %s, %s : f32
    transformer.yield %t : f32
  } : (!rows, !rows, !rows) -> !rows
  return %a, %b, %c : !rows, !rows, !rows
}
