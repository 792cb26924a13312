// Scales move into tables where all readers agree.
// RUN: heddle-opt %s -transformer-fold-scales -split-input-file -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

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

// REMARK: the rows of table are multiplied by 2 as they are looked up, since the table holds bf16
// CHECK-LABEL: module @rounded
// CHECK-NOT: scaled by
module @rounded {
  transformer.parameter @table : tensor<9x8xf32>
  transformer.parameter @rounded : tensor<9x8xbf16> rounded of [@table]
  func.func @f(%ids: tensor<?x?xi32>) -> tensor<?x?x8xf32> {
    %t = transformer.weight @rounded : tensor<9x8xbf16>
    %y = transformer.embedding %ids, %t widen {scale = 2.0 : f32} : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xf32> loc("table")
    return %y : tensor<?x?x8xf32>
  }
}

// -----

// The scale of scores is part of the factor of their exponents.

// CHECK-LABEL: module @attention
// CHECK-NOT: scaled by
// CHECK: transformer.attention {{.*}} {heads = 2 : i64, scale = 5.000000e-01 : f32}
module @attention {
  transformer.parameter @w : tensor<8x8xf32>
  func.func @f(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    %w = transformer.weight @w : tensor<8x8xf32>
    %q = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    %y = transformer.attention %q, %x, %x {heads = 2 : i64, scale = 0.5 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
// REMARK-NOT: remark:
