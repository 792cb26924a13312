// Linears that read one input become one, whose weight has the columns of all.
// RUN: heddle-opt %s -transformer-fuse-shared-inputs -split-input-file -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// REMARK: "l1_wq, l1_wk and l1_wv read the same input and are one linear [8, 16]"
// CHECK-LABEL: module @self_attention
// CHECK: transformer.parameter @l1_wv
// CHECK-NEXT: transformer.parameter @"l1_wq+wk+wv" : tensor<8x16xf32> columns of [@l1_wq, @l1_wk, @l1_wv]
// CHECK-NOT: transformer.parameter
// CHECK: %[[W:.*]] = transformer.weight @"l1_wq+wk+wv" : tensor<8x16xf32>
// CHECK-NEXT: %[[QKV:.*]]:3 = transformer.linear %arg0, %[[W]] split [8, 4, 4] : {{.*}} -> (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>)
// CHECK-NOT: transformer.linear
// CHECK: transformer.attention %[[QKV]]#0, %[[QKV]]#1, %[[QKV]]#2
module @self_attention {
  transformer.parameter @l1_wq : tensor<8x8xf32>
  transformer.parameter @l1_wk : tensor<8x4xf32>
  transformer.parameter @l1_wv : tensor<8x4xf32>
  func.func @f(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    %wq = transformer.weight @l1_wq : tensor<8x8xf32>
    %q = transformer.linear %x, %wq : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32> loc("l1_wq")
    %wk = transformer.weight @l1_wk : tensor<8x4xf32>
    %k = transformer.linear %x, %wk : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32> loc("l1_wk")
    %wv = transformer.weight @l1_wv : tensor<8x4xf32>
    %v = transformer.linear %x, %wv : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32> loc("l1_wv")
    %y = transformer.attention %q, %k, %v {heads = 2 : i64, kv_heads = 1 : i64} : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}

// -----

// A bias that one of them lacks is zero. Two functions share the parameters.

// REMARK: "wf and w read the same input and are one linear [8, 16]"
// CHECK-LABEL: module @recurrence
// CHECK: transformer.parameter @zeros.8 : tensor<8xf32> zeros
// CHECK: transformer.parameter @wf : tensor<8x8xf32>
// CHECK-NEXT: transformer.parameter @bf : tensor<8xf32>
// CHECK-NEXT: transformer.parameter @"bf+zeros.8" : tensor<16xf32> columns of [@bf, @zeros.8]
// CHECK-NEXT: transformer.parameter @w : tensor<8x8xf32>
// CHECK-NEXT: transformer.parameter @"wf+w" : tensor<8x16xf32> columns of [@wf, @w]
// CHECK-NOT: transformer.parameter
// CHECK-LABEL: @f(
// CHECK: transformer.linear %arg0, %{{.*}}, %{{.*}} split [8, 8]
// CHECK-LABEL: @g(
// CHECK-DAG: transformer.weight @"wf+w"
// CHECK-DAG: transformer.weight @"bf+zeros.8"
// CHECK: transformer.linear %arg0, %{{.*}}, %{{.*}} split [8, 8]
module @recurrence {
  transformer.parameter @wf : tensor<8x8xf32>
  transformer.parameter @bf : tensor<8xf32>
  transformer.parameter @w : tensor<8x8xf32>
  func.func @f(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    %wf = transformer.weight @wf : tensor<8x8xf32>
    %bf = transformer.weight @bf : tensor<8xf32>
    %w = transformer.weight @w : tensor<8x8xf32>
    %f = transformer.linear %x, %wf, %bf : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32> loc("wf")
    %v = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32> loc("w")
    %c = transformer.recurrence %f, %v : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    return %c : tensor<?x?x8xf32>
  }
  func.func @g(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %wf = transformer.weight @wf : tensor<8x8xf32>
    %bf = transformer.weight @bf : tensor<8xf32>
    %w = transformer.weight @w : tensor<8x8xf32>
    %f = transformer.linear %x, %wf, %bf : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %v = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %f, %v : tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

// Without a name in its location, a linear is called by its weight.

// REMARK: "wq and wk read the same input and are one linear [8, 16]"
module @nameless {
  transformer.parameter @wq : tensor<8x8xf32>
  transformer.parameter @wk : tensor<8x8xf32>
  func.func @f(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %wq = transformer.weight @wq : tensor<8x8xf32>
    %q = transformer.linear %x, %wq : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %wk = transformer.weight @wk : tensor<8x8xf32>
    %k = transformer.linear %x, %wk : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %q, %k : tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

// REMARK: "fc1 does not join the others that read its input, since it does more than multiply"
// REMARK: "computed does not join the others that read its input, since its weight is no parameter"
// CHECK-LABEL: module @others
// CHECK-COUNT-3: transformer.linear
// CHECK-NOT: split
module @others {
  transformer.parameter @w : tensor<8x8xf32>
  func.func @f(%x: tensor<?x8xf32>, %computed: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
    %w = transformer.weight @w : tensor<8x8xf32>
    %a = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %b = transformer.linear %x, %w activation(relu) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("fc1")
    %c = transformer.linear %x, %computed : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> loc("computed")
    return %a, %b, %c : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

// Those that round make one that does; the other keeps its f32.

// REMARK: "wk and wv read the same input and are one linear [8, 16]"
// CHECK-LABEL: module @rounded
// CHECK: %[[Q:.*]] = transformer.linear %arg0, %{{.*}} : {{.*}} -> tensor<?x?x8xf32>
// CHECK: %[[KV:.*]]:2 = transformer.linear %arg0, %{{.*}} round split [8, 8] : {{.*}} -> (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>)
// CHECK: return %[[Q]], %[[KV]]#0, %[[KV]]#1
module @rounded {
  transformer.parameter @q : tensor<8x8xf32>
  transformer.parameter @k : tensor<8x8xf32>
  transformer.parameter @v : tensor<8x8xf32>
  transformer.parameter @wq : tensor<8x8xbf16> rounded of [@q]
  transformer.parameter @wk : tensor<8x8xbf16> rounded of [@k]
  transformer.parameter @wv : tensor<8x8xbf16> rounded of [@v]
  func.func @f(%x: tensor<?x?x8xbf16>) -> (tensor<?x?x8xf32>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>) {
    %wq = transformer.weight @wq : tensor<8x8xbf16>
    %q = transformer.linear %x, %wq : (tensor<?x?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x?x8xf32> loc("wq")
    %wk = transformer.weight @wk : tensor<8x8xbf16>
    %k = transformer.linear %x, %wk round : (tensor<?x?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x?x8xbf16> loc("wk")
    %wv = transformer.weight @wv : tensor<8x8xbf16>
    %v = transformer.linear %x, %wv round : (tensor<?x?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x?x8xbf16> loc("wv")
    return %q, %k, %v : tensor<?x?x8xf32>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>
  }
}
