// What PTX has no instruction for is arithmetic; what it has stays.
// RUN: heddle-opt %s -transformer-expand-math | FileCheck %s

// CHECK-LABEL: func.func @doubles(
// CHECK-NOT: math.{{exp|sin|cos|log}}
// CHECK: math.roundeven
// CHECK: math.fma
// CHECK: return
func.func @doubles(%x: f64) -> (f64, f64, f64, f64) {
  %exp = math.exp %x : f64
  %sin = math.sin %x : f64
  %cos = math.cos %x : f64
  %log = math.log %x : f64
  return %exp, %sin, %cos, %log : f64, f64, f64, f64
}

// What models call often stays f32, vectors of it vectors.
// CHECK-LABEL: func.func @often(
// CHECK-NOT: math.{{exp|tanh|erf|rsqrt}}
// CHECK-NOT: f64
// CHECK: math.fma {{.*}} : vector<4xf32>
// CHECK-NOT: f64
// CHECK: return
func.func @often(%x: f32, %y: vector<4xf32>)
    -> (f32, f32, f32, f32, f32, vector<4xf32>) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.erf %x : f32
  %3 = math.rsqrt %x : f32
  %4 = math.exp2 %x : f32
  %5 = math.exp %y : vector<4xf32>
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, vector<4xf32>
}

// Division by a constant becomes multiply-adds; not by those whose reciprocal is
// no ordinary number.
// CHECK-LABEL: func.func @quotients(
// CHECK: math.fma
// CHECK: math.fma
// CHECK-COUNT-2: arith.divf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @quotients(%x: f32, %y: f32) -> (f32, f32, f32) {
  %cap = arith.constant 30.0 : f32
  %tiny = arith.constant 1.0e-30 : f32
  %0 = arith.divf %x, %cap : f32
  %1 = arith.divf %x, %tiny : f32
  %2 = arith.divf %x, %y : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @seldom(
// CHECK-NOT: math.{{log|powf|tan|cosh|fpowi}}
// CHECK-NOT: arith.remf
// CHECK: arith.extf {{.*}} : f32 to f64
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: return
func.func @seldom(%x: f32, %n: i32) -> (f32, f32, f32, f32, f32, f32) {
  %0 = math.log %x : f32
  %1 = math.powf %x, %x : f32
  %2 = math.tan %x : f32
  %3 = math.cosh %x : f32
  %4 = math.fpowi %x, %n : f32, i32
  %5 = arith.remf %x, %x : f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @vectors(
// CHECK: vector.to_elements
// CHECK: vector.from_elements {{.*}} : vector<2xf16>
func.func @vectors(%x: vector<2xf16>) -> vector<2xf16> {
  %0 = math.sin %x : vector<2xf16>
  return %0 : vector<2xf16>
}

// CHECK-LABEL: func.func @instructions(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.fma
// CHECK-NEXT: math.round
// CHECK-NEXT: math.ctpop
// CHECK-NEXT: return
func.func @instructions(%x: f32, %d: f64, %n: i32) -> (f32, f32, f32, f32, f64, i32) {
  %0 = math.sqrt %x : f32
  %1 = math.absf %x : f32
  %2 = math.floor %x : f32
  %3 = math.fma %x, %x, %x : f32
  %4 = math.round %d : f64
  %5 = math.ctpop %n : i32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f64, i32
}
