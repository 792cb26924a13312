// Weights are kept wider by name: the first rule that has a name counts, and
// narrows nothing.
// RUN: heddle-opt %s "-transformer-choose-precision=dtype=int8 keep=bf16:first*,f32:*_wide,f32:first_wide" -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t
// RUN: heddle-opt %s "-transformer-choose-precision=dtype=bf16 keep=int8:first,f32:first_wide" | FileCheck %s --check-prefix=BF16
// RUN: heddle-opt %s "-transformer-choose-precision=dtype=f16 keep=bf16:first,f32:first_wide" | FileCheck %s --check-prefix=F16
// RUN: not heddle-opt %s "-transformer-choose-precision=dtype=int8 keep=bf16:second" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not heddle-opt %s "-transformer-choose-precision=dtype=int8 keep=i8:first" 2>&1 | FileCheck %s --check-prefix=RULE

// NAME: no weight of a product and no table has a name that matches 'second', the pattern to keep
// RULE: expected a type and a pattern of names to keep, such as bf16:encoder_*, found 'i8:first'

transformer.parameter @first : tensor<8x8xf32>
transformer.parameter @first_wide : tensor<8x8xf32>
transformer.parameter @last_wide : tensor<8x8xf32>
transformer.parameter @last : tensor<8x8xf32>

// The vector that products of two types read is rounded, quantised and left.
// CHECK-LABEL: func.func @products(
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK: %[[Q:.*]]:2 = transformer.quantize %[[X]] :
// CHECK: %[[R:.*]] = transformer.round %[[X]] :
// CHECK-DAG: %[[A:.*]] = transformer.weight @first.rounded
// CHECK-DAG: %[[B:.*]] = transformer.weight @first_wide.rounded
// CHECK-DAG: %[[C:.*]] = transformer.weight @last_wide :
// CHECK-DAG: %[[D:.*]] = transformer.weight @last.column_integers
// CHECK-DAG: transformer.linear %[[R]], %[[A]] :
// CHECK-DAG: transformer.linear %[[R]], %[[B]] :
// CHECK-DAG: transformer.linear %[[X]], %[[C]] :
// CHECK-DAG: transformer.linear %[[Q]]#0 scales(%[[Q]]#1), %[[D]] scales(
// REMARK: first multiplies bf16
// REMARK: last_wide multiplies f32, since its weight is to be kept in f32
// REMARK: last multiplies int8, each vector
// BF16-LABEL: func.func @products(
// BF16-DAG: transformer.weight @first.rounded
// BF16-DAG: transformer.weight @first_wide :
// BF16-DAG: transformer.weight @last_wide.rounded
// Of as many bits are both short floats.
// F16-LABEL: func.func @products(
// F16-DAG: transformer.weight @first.rounded : tensor<8x8xbf16>
// F16-DAG: transformer.weight @first_wide :
// F16-DAG: transformer.weight @last_wide.rounded_to_f16 :
func.func @products(%x: tensor<?x8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = transformer.weight @first : tensor<8x8xf32>
  %b = transformer.weight @first_wide : tensor<8x8xf32>
  %c = transformer.weight @last_wide : tensor<8x8xf32>
  %d = transformer.weight @last : tensor<8x8xf32>
  %p = transformer.linear %x, %a : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("first")
  %q = transformer.linear %x, %b : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("first_wide")
  %r = transformer.linear %x, %c : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("last_wide")
  %s = transformer.linear %x, %d : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("last")
  return %p, %q, %r, %s : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
