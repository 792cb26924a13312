// Candidates are read where their table has them.
// RUN: heddle-opt %s -transformer-fuse-candidates -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// REMARK: "the logits of a shortlist read table in place: sentences share the rows of candidates that they have in common"
// CHECK-LABEL: func.func @gathers(
// CHECK-NEXT: %[[Y:.*]] = transformer.candidate_logits %arg0, %arg1, %arg2, %arg3 gather(%arg4) :
// CHECK-NEXT: return %[[Y]]
func.func @gathers(%x: tensor<?x?x8xf32>, %table: tensor<9x8xf32>, %b: tensor<9xf32>, %counts: tensor<?xi32>, %ids: tensor<?x?xi32>) -> tensor<?x?x?xf32> {
  %rows = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32> loc("table")
  %bias = transformer.embedding %ids, %b : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// REMARK: since their rows or biases are no plain lookup in a table
// CHECK-LABEL: func.func @scaled(
// CHECK: transformer.candidate_logits %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
func.func @scaled(%x: tensor<?x?x8xf32>, %table: tensor<9x8xf32>, %b: tensor<9xf32>, %counts: tensor<?xi32>, %ids: tensor<?x?xi32>) -> tensor<?x?x?xf32> {
  %rows = transformer.embedding %ids, %table {scale = 2.0 : f32} : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %bias = transformer.embedding %ids, %b : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// REMARK: since rows and biases are looked up for different ids
// CHECK-LABEL: func.func @other_ids(
// CHECK: transformer.candidate_logits %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
func.func @other_ids(%x: tensor<?x?x8xf32>, %table: tensor<9x8xf32>, %b: tensor<9xf32>, %counts: tensor<?xi32>, %ids: tensor<?x?xi32>, %others: tensor<?x?xi32>) -> tensor<?x?x?xf32> {
  %rows = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %bias = transformer.embedding %others, %b : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @gathers_bf16(
// CHECK-NOT: transformer.embedding
// CHECK: transformer.candidate_logits %arg0, %arg1, %arg2, %arg3 gather(%arg4) :
func.func @gathers_bf16(%x: tensor<?x?x8xbf16>, %table: tensor<9x8xbf16>, %b: tensor<9xf32>, %counts: tensor<?xi32>, %ids: tensor<?x?xi32>) -> tensor<?x?x?xf32> {
  %rows = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xbf16>
  %bias = transformer.embedding %ids, %b : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// What is widened is multiplied as f32, the table is not.

// REMARK: since their rows or biases are no plain lookup in a table
// CHECK-LABEL: func.func @widened(
// CHECK: transformer.embedding %arg4, %arg1 widen
func.func @widened(%x: tensor<?x?x8xf32>, %table: tensor<9x8xbf16>, %b: tensor<9xf32>, %counts: tensor<?xi32>, %ids: tensor<?x?xi32>) -> tensor<?x?x?xf32> {
  %rows = transformer.embedding %ids, %table widen : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xf32>
  %bias = transformer.embedding %ids, %b : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
