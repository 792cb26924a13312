// Regions become total functions, of ops that every lowering knows.
// RUN: heddle-opt %s -transformer-expand-regions | FileCheck %s

!x = tensor<?x?x8xf32>

// CHECK-LABEL: @division
func.func @division(%x: !x) -> !x {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  // CHECK: ^bb0(%[[S:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %[[I:.*]]: i32, %[[J:.*]]: i32):
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[J]], %[[ZERO:.*]] : i32
    // CHECK: %[[SAFE:.*]] = arith.select %[[NONE]], %{{.*}}, %[[J]] : i32
    // CHECK: %[[PART:.*]] = arith.divui %[[I]], %[[SAFE]] : i32
    // CHECK: arith.select %[[NONE]], %[[ZERO]], %[[PART]] : i32
    %0 = arith.divui %i, %j exact : i32
    // The remainder of nothing is the dividend; the lowest by -1 has none.
    // CHECK: %[[LOWEST:.*]] = arith.cmpi eq, %[[I]], %c-2147483648
    // CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[J]], %c-1
    // CHECK: %[[BOTH:.*]] = arith.andi %[[LOWEST]], %[[MINUS]]
    // CHECK: %[[BAD:.*]] = arith.ori %[[NONE:.*]], %[[BOTH]]
    // CHECK: %[[SAFE:.*]] = arith.select %[[BAD]], %{{.*}}, %[[J]] : i32
    // CHECK: %[[REST:.*]] = arith.remsi %[[I]], %[[SAFE]] : i32
    // CHECK: arith.select %[[NONE]], %[[I]], %[[REST]] : i32
    %1 = arith.remsi %i, %j : i32
    // CHECK-NOT: floordivsi
    %2 = arith.floordivsi %0, %1 : i32
    %3 = arith.sitofp %2 : i32 to f32
    transformer.yield %3 : f32
  } : (!x, !x, !x) -> !x
  return %y : !x
}

// What has a result whatever the operands are stays as it is.
// CHECK-LABEL: @harmless
func.func @harmless(%x: !x) -> !x {
  // CHECK: score {
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: constant 7
  // CHECK-NEXT: divsi
  // CHECK-NEXT: shli
  // CHECK-NEXT: sitofp
  // CHECK-NEXT: tanh
  // CHECK-NEXT: yield
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %seven = arith.constant 7 : i32
    %0 = arith.divsi %i, %seven : i32
    %1 = arith.shli %0, %seven : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = math.tanh %2 : f32
    transformer.yield %3 : f32
  } : (!x, !x, !x) -> !x
  return %y : !x
}

// A shift leaves the width; a float leaves the integers.
// CHECK-LABEL: @limits
func.func @limits(%x: !x) -> !x {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  // CHECK: ^bb0(%[[S:.*]]: f32, {{.*}}, %[[J:.*]]: i32):
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // CHECK: arith.cmpi ule, %[[J]], %c31
    // CHECK: arith.shrsi
    %0 = arith.shrsi %i, %j : i32
    // CHECK-DAG: arith.cmpf ole, %[[S]], %{{.*}} : f32
    // CHECK-DAG: arith.cmpf oge, %[[S]], %{{.*}} : f32
    // CHECK-DAG: arith.cmpf uno, %[[S]], %[[S]] : f32
    // CHECK: %[[SAFE:.*]] = arith.select
    // CHECK: arith.fptosi %[[SAFE]] : f32 to i32
    %1 = arith.fptosi %s : f32 to i32
    // CHECK: arith.addi %{{.*}}, %{{.*}} : i32
    %2 = arith.addi %0, %1 overflow<nsw> : i32
    %3 = arith.sitofp %2 : i32 to f32
    transformer.yield %3 : f32
  } : (!x, !x, !x) -> !x
  return %y : !x
}

// Narrow floats are computed in f32, vectors of them, too; f16 has instructions
// for the rest, bf16 is the upper half of an f32.
// CHECK-LABEL: @narrow
func.func @narrow(%x: !x) -> !x {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} similarity {
  ^bb0(%q: vector<4xf32>, %k: vector<4xf32>):
    // CHECK: %[[H:.*]] = arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
    // CHECK: %[[WIDE:.*]] = arith.extf %[[H]] : vector<4xf16> to vector<4xf32>
    // CHECK: %[[SUM:.*]] = arith.addf %[[WIDE]], %{{.*}} : vector<4xf32>
    // CHECK: arith.truncf %[[SUM]] : vector<4xf32> to vector<4xf16>
    %h = arith.truncf %q : vector<4xf32> to vector<4xf16>
    %t = arith.addf %h, %h fastmath<fast> : vector<4xf16>
    %w = arith.extf %t : vector<4xf16> to vector<4xf32>
    %s = vector.reduction <add>, %w : vector<4xf32> into f32
    transformer.yield %s : f32
  } normalizer {
  // CHECK: normalizer {
  // CHECK-NOT: {{ext|trunc}}f
  ^bb0(%s: f32):
    %0 = arith.truncf %s : f32 to bf16
    // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
    %1 = arith.mulf %0, %0 : bf16
    %2 = arith.extf %1 : bf16 to f32
    transformer.yield %2 : f32
  } : (!x, !x, !x) -> !x
  return %y : !x
}

// CHECK-LABEL: @composed
func.func @composed(%x: !x) -> !x {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  // CHECK: ^bb0(%[[S:.*]]: f32, {{.*}}, %[[I:.*]]: i32, %[[J:.*]]: i32):
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %lowest = arith.constant -1.0 : f32
    %highest = arith.constant 1.0 : f32
    // CHECK: %[[RAISED:.*]] = arith.maximumf %[[S]], %cst
    // CHECK: arith.minimumf %[[RAISED]], %cst
    %0 = math.clampf %s to [%lowest, %highest] : f32
    // CHECK: %[[SIZE:.*]] = math.absf
    // CHECK: math.powf %[[SIZE]]
    // CHECK: math.copysign
    %1 = math.fpowi %0, %i : f32, i32
    // CHECK-NOT: ipowi
    %2 = math.ipowi %i, %j : i32
    %3 = arith.sitofp %2 : i32 to f32
    // CHECK: math.sin
    // CHECK-NEXT: math.cos
    %4, %5 = math.sincos %3 : f32
    // CHECK: arith.cmpf olt
    %6 = math.isfinite %4 : f32
    %7 = arith.select %6, %1, %5 : f32
    transformer.yield %7 : f32
  } : (!x, !x, !x) -> !x
  return %y : !x
}

// -----

// Features are regions, too.

// CHECK-LABEL: func.func @features(
// CHECK: features {
// CHECK-NOT: math.clampf
// CHECK: arith.maximumf
// CHECK: arith.minimumf
func.func @features(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear_attention %x, %x, %x {heads = 2 : i64} features {
  ^bb0(%e: f32):
    %low = arith.constant 0.0 : f32
    %high = arith.constant 6.0 : f32
    %f = math.clampf %e to [%low, %high] : f32
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
