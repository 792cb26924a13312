// Positions that are added to an embedding become part of it.
// RUN: heddle-opt %s -transformer-fuse-positions -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// REMARK: "the rows of table get their sinusoidal positions while they are looked up"
// CHECK-LABEL: func.func @sinusoidal(
// CHECK-NEXT: %[[X:.*]] = transformer.embedding %arg0, %arg1 positions(sinusoidal, 3, interleaved) {scale = 4.000000e+00 : f32}
// CHECK-NEXT: return %[[X]]
func.func @sinusoidal(%ids: tensor<?x?xi32>, %table: tensor<9x8xf32>) -> tensor<?x?x8xf32> {
  %e = transformer.embedding %ids, %table {scale = 4.0 : f32} : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32> loc("table")
  %x = transformer.positions.sinusoidal %e {timescales = 3 : i64, layout = #transformer<position_layout interleaved>} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}

// A step has positions of its own.

// REMARK: "the rows of embedding get their learned positions while they are looked up"
// CHECK-LABEL: func.func @learned(
// CHECK-NEXT: transformer.embedding %arg0, %arg1 positions(learned, %arg2, 2) at %arg3 :
// CHECK-NEXT: return
func.func @learned(%ids: tensor<?xi32>, %table: tensor<9x8xf32>, %places: tensor<12x8xf32>, %at: tensor<?xi32>) -> tensor<?x8xf32> {
  %e = transformer.embedding %ids, %table : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %x = transformer.positions.learned %e, %places at %at {offset = 2 : i64} : (tensor<?x8xf32>, tensor<12x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}

// REMARK: "the positions after positions.sinusoidal are added by an op of their own, since the embedding without them is read elsewhere, too"
// CHECK-LABEL: func.func @read_twice(
// CHECK: transformer.positions.sinusoidal
func.func @read_twice(%ids: tensor<?x?xi32>, %table: tensor<9x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %e = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %x = transformer.positions.sinusoidal %e {timescales = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %e, %x : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// REMARK: since they are not added to an embedding
// CHECK-LABEL: func.func @no_embedding(
// CHECK: transformer.positions.learned
func.func @no_embedding(%x: tensor<?x?x8xf32>, %places: tensor<12x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.positions.learned %x, %places : (tensor<?x?x8xf32>, tensor<12x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Positions on positions: only the first join.

// REMARK: get their sinusoidal positions
// REMARK: since the embedding has positions already
// CHECK-LABEL: func.func @twice(
// CHECK: transformer.embedding {{.*}} positions(sinusoidal, 4, halves)
// CHECK: transformer.positions.sinusoidal
func.func @twice(%ids: tensor<?x?xi32>, %table: tensor<9x8xf32>) -> tensor<?x?x8xf32> {
  %e = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %x = transformer.positions.sinusoidal %e {timescales = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.positions.sinusoidal %x {timescales = 3 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
