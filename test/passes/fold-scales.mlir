// Scales move into parameters where all readers agree.
// RUN: heddle-opt %s -transformer-fold-scales -split-input-file -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// The queries' weight and bias; the table; no other factor anywhere.

// REMARK: "the scale 0.5 of the scores of layer_attention is part of layer_wq"
// CHECK-LABEL: module @queries
// CHECK: transformer.parameter @wq : tensor<8x8xf32>
// CHECK-NEXT: transformer.parameter @wq.scaled : tensor<8x8xf32> columns of [@wq] scaled by 5.000000e-01
// CHECK-NEXT: transformer.parameter @bq : tensor<8xf32>
// CHECK-NEXT: transformer.parameter @bq.scaled : tensor<8xf32> columns of [@bq] scaled by 5.000000e-01
// CHECK-DAG: %[[W:.*]] = transformer.weight @wq.scaled
// CHECK-DAG: %[[B:.*]] = transformer.weight @bq.scaled
// CHECK: transformer.linear %{{.*}}, %[[W]], %[[B]]
// CHECK: transformer.attention {{.*}} scale = 1.000000e+00 : f32}
module @queries {
  transformer.parameter @wq : tensor<8x8xf32>
  transformer.parameter @bq : tensor<8xf32>
  func.func @f(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    %w = transformer.weight @wq : tensor<8x8xf32>
    %b = transformer.weight @bq : tensor<8xf32>
    %q = transformer.linear %x, %w, %b : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32> loc("layer_wq")
    // Width 4 a head: 1 / sqrt(4) without a scale of its own.
    %y = transformer.attention %q, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32> loc("layer_attention")
    return %y : tensor<?x?x8xf32>
  }
}

// -----

// Two functions over one table share the scaled one.

// REMARK: "the scale 16 of the rows of table is part of the table"
// CHECK-LABEL: module @tables
// CHECK: transformer.parameter @table
// CHECK-NEXT: transformer.parameter @table.scaled : tensor<9x8xf32> columns of [@table] scaled by 1.600000e+01
// CHECK-NOT: transformer.parameter
// CHECK-COUNT-2: transformer.embedding %{{.*}}, %{{.*}} : (tensor<?xi32>
module @tables {
  transformer.parameter @table : tensor<9x8xf32>
  func.func @f(%ids: tensor<?xi32>) -> tensor<?x8xf32> {
    %t = transformer.weight @table : tensor<9x8xf32>
    %y = transformer.embedding %ids, %t {scale = 16.0 : f32} : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32> loc("table")
    return %y : tensor<?x8xf32>
  }
  func.func @g(%ids: tensor<?xi32>) -> tensor<?x8xf32> {
    %t = transformer.weight @table : tensor<9x8xf32>
    %y = transformer.embedding %ids, %t {scale = 16.0 : f32} : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32> loc("table")
    return %y : tensor<?x8xf32>
  }
}

// -----

// Rows that someone wants without the scale would be stored twice.

// REMARK: "the rows of table are multiplied by 16 as they are looked up, since @f reads the table without that scale and it would be stored twice"
// CHECK-LABEL: module @disagreement
// CHECK-NOT: scaled by
module @disagreement {
  transformer.parameter @table : tensor<9x8xf32>
  func.func @f(%ids: tensor<?xi32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %t = transformer.weight @table : tensor<9x8xf32>
    // CHECK: transformer.embedding {{.*}} {scale = 1.600000e+01 : f32}
    %y = transformer.embedding %ids, %t {scale = 16.0 : f32} : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32> loc("table")
    %z = transformer.embedding %ids, %t : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

// REMARK: "the scores of two_readers are multiplied by 0.5 one by one, since its queries are not those of one linear, or are read elsewhere, too"
// REMARK: "the scores of other_reader are multiplied by 0.5 one by one, since the weight of its queries is no parameter, or is read without that scale elsewhere"
// CHECK-LABEL: module @queries_read_elsewhere
// CHECK-NOT: scaled by
// CHECK-COUNT-2: transformer.attention {{.*}} {heads = 2 : i64}
module @queries_read_elsewhere {
  transformer.parameter @w : tensor<8x8xf32>
  func.func @f(%x: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
    %w = transformer.weight @w : tensor<8x8xf32>
    %q = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %y = transformer.attention %q, %x, %q {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32> loc("two_readers")
    %p = transformer.linear %y, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %z = transformer.attention %p, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32> loc("other_reader")
    return %q, %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
  }
}

// -----

// A similarity of its own has no scale; a scale of 1 is none.

// CHECK-LABEL: module @nothing_to_fold
// CHECK-NOT: scaled by
module @nothing_to_fold {
  transformer.parameter @w : tensor<8x8xf32>
  func.func @f(%x: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
    %w = transformer.weight @w : tensor<8x8xf32>
    %q = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %y = transformer.attention %q, %x, %x {heads = 2 : i64} similarity {
    ^bb0(%a: vector<4xf32>, %b: vector<4xf32>):
      %p = arith.mulf %a, %b : vector<4xf32>
      %s = vector.reduction <add>, %p : vector<4xf32> into f32
      transformer.yield %s : f32
    } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %p = transformer.linear %y, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %z = transformer.attention %p, %x, %x {heads = 2 : i64, scale = 1.0 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    return %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>
  }
}
// REMARK-NOT: remark:
