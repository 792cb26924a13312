// What PTX has no instruction for is arithmetic; what it has stays.
// RUN: heddle-opt %s -transformer-expand-math | FileCheck %s

// CHECK-LABEL: func.func @doubles(
// CHECK-NOT: math.{{exp|sin|cos}}
// CHECK: math.roundeven
// CHECK: math.fma
// CHECK: return
func.func @doubles(%x: f64) -> (f64, f64, f64) {
  %exp = math.exp %x : f64
  %sin = math.sin %x : f64
  %cos = math.cos %x : f64
  return %exp, %sin, %cos : f64, f64, f64
}

// CHECK-LABEL: func.func @floats(
// CHECK-NOT: math.{{exp|tanh|erf|log|powf|rsqrt|tan|cosh}}
// CHECK: return
func.func @floats(%x: f32, %y: vector<4xf32>) -> (f32, f32, f32, f32, f32, f32, f32, f32, vector<4xf32>, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.erf %x : f32
  %3 = math.log %x : f32
  %4 = math.powf %x, %x : f32
  %5 = math.rsqrt %x : f32
  %6 = math.tan %x : f32
  %7 = math.cosh %x : f32
  %8 = math.exp %y : vector<4xf32>
  %9 = math.exp2 %x : f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : f32, f32, f32, f32, f32, f32, f32, f32, vector<4xf32>, f32
}

// CHECK-LABEL: func.func @instructions(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.fma
// CHECK-NEXT: return
func.func @instructions(%x: f32) -> (f32, f32, f32, f32) {
  %0 = math.sqrt %x : f32
  %1 = math.absf %x : f32
  %2 = math.floor %x : f32
  %3 = math.fma %x, %x, %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
