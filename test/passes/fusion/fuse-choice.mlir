// A step whose logits are a linear gets forms that return the largest, or the best.
// RUN: heddle-opt %s -transformer-fuse-choice -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// REMARK: "w gives 40000 logits: a greedy step keeps the largest of each range of 2528, and beams the best ones"
// CHECK-LABEL: func.func private @decode.step(
// CHECK: transformer.linear
// CHECK-LABEL: func.func private @decode.greedy(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "x"}
// CHECK-SAME: %[[S:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "state0", transformer.state}
// CHECK-SAME: %[[F:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["rows", "forbidden"], transformer.name = "forbidden"})
// CHECK-SAME: -> (tensor<?x16xf32> {transformer.dims = ["rows"], transformer.name = "values"}, tensor<?x16xi32> {transformer.dims = ["rows"], transformer.name = "largest"}, tensor<?x8xf32>)
// CHECK-SAME: transformer.decoder = "decode", transformer.role = "greedy"
// CHECK: %[[R:.*]] = transformer.recurrence step %[[X]], %[[X]] into %[[S]]
// CHECK-NEXT: %[[L:.*]]:2 = transformer.largest_logits %[[R]], %{{.*}} without %[[F]] {range = 2528 : i64, vocabulary = 40000 : i64}
// CHECK-NEXT: return %[[L]]#0, %[[L]]#1, %[[R]]
// The caller says how many: no input has that size.
// CHECK-LABEL: func.func private @decode.best(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "x"}
// CHECK-SAME: %[[S:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "state0", transformer.state}
// CHECK-SAME: %[[F:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["rows", "forbidden"], transformer.name = "forbidden"}
// CHECK-SAME: %[[MAXIMA:[^:]*]]: tensor<?x16xf32> {transformer.dims = ["rows"], transformer.name = "maxima", transformer.output}
// CHECK-SAME: %[[SUMS:[^:]*]]: tensor<?x16xf32> {transformer.dims = ["rows"], transformer.name = "sums", transformer.output}
// CHECK-SAME: %[[VALUES:[^:]*]]: tensor<?x16x?xf32> {transformer.dims = ["rows", "best"], transformer.name = "values", transformer.output}
// CHECK-SAME: %[[BEST:[^:]*]]: tensor<?x16x?xi32> {transformer.dims = ["rows", "best"], transformer.name = "best", transformer.output}
// CHECK-SAME: transformer.decoder = "decode", transformer.role = "best"
// CHECK: %[[R:.*]] = transformer.recurrence step %[[X]], %[[X]] into %[[S]]
// CHECK-NEXT: %[[L:.*]]:4 = transformer.best_logits %[[R]], %{{.*}} without %[[F]] into %[[MAXIMA]], %[[SUMS]], %[[VALUES]], %[[BEST]] {range = 2528 : i64, vocabulary = 40000 : i64}
// CHECK-NEXT: return %[[L]]#0, %[[L]]#1, %[[L]]#2, %[[L]]#3, %[[R]]
transformer.parameter @w : tensor<8x40000xf32>
func.func private @decode.step(%x: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "x"}, %s: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "state0", transformer.state}) -> (tensor<?x40000xf32> {transformer.name = "logits"}, tensor<?x8xf32>) attributes {transformer.decoder = "decode", transformer.role = "step"} {
  %w = transformer.weight @w : tensor<8x40000xf32>
  %r = transformer.recurrence step %x, %x into %s : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = transformer.linear %r, %w : (tensor<?x8xf32>, tensor<8x40000xf32>) -> tensor<?x40000xf32> loc("w")
  return %y, %r : tensor<?x40000xf32>, tensor<?x8xf32>
}

// Small vocabularies are one range.
// CHECK-LABEL: func.func private @small.greedy(
// CHECK: transformer.largest_logits %{{.*}} scales(%{{.*}}), %{{.*}} scales(%{{.*}}) without %{{.*}} {range = 96 : i64, vocabulary = 90 : i64}
// CHECK-LABEL: func.func private @small.best(
// CHECK: transformer.best_logits %{{.*}} scales(%{{.*}}), %{{.*}} scales(%{{.*}}) without %{{.*}} into %{{.*}} {range = 96 : i64, vocabulary = 90 : i64}
func.func private @small.step(%x: tensor<?x8xi8> {transformer.dims = ["rows"]}, %s: tensor<?xf32> {transformer.dims = ["rows"]}, %w: tensor<8x90xi8>, %t: tensor<90xf32>) -> tensor<?x90xf32> attributes {transformer.decoder = "small", transformer.role = "step"} {
  %y = transformer.linear %x scales(%s), %w scales(%t) : (tensor<?x8xi8>, tensor<?xf32>, tensor<8x90xi8>, tensor<90xf32>) -> tensor<?x90xf32>
  return %y : tensor<?x90xf32>
}

// Where rows part as beams do, they find the best.
// CHECK-LABEL: func.func private @cached.step(
// CHECK-LABEL: func.func private @cached.greedy(
// CHECK-NOT: "history"
// CHECK-LABEL: func.func private @cached.beam(
// CHECK-LABEL: func.func private @cached.best(
// CHECK-SAME: tensor<?x?xi32> {transformer.dims = ["rows", "capacity"], transformer.name = "history"}
// CHECK: transformer.best_logits
// CHECK-NOT: @cached
func.func private @cached.step(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}, %w: tensor<8x90xf32>) -> tensor<?x90xf32> attributes {transformer.decoder = "cached", transformer.role = "step"} {
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x90xf32>) -> tensor<?x90xf32>
  return %y : tensor<?x90xf32>
}
func.func private @cached.beam(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}, %w: tensor<8x90xf32>, %history: tensor<?x?xi32> {transformer.dims = ["rows", "capacity"], transformer.name = "history"}) -> tensor<?x90xf32> attributes {transformer.decoder = "cached", transformer.role = "beam"} {
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x90xf32>) -> tensor<?x90xf32>
  return %y : tensor<?x90xf32>
}

// Whole sequences choose nothing, and neither do steps that make something else
// of a linear.
// CHECK-NOT: {{[.](greedy|best)}}
func.func @full(%x: tensor<?x8xf32>, %w: tensor<8x90xf32>) -> tensor<?x90xf32> {
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x90xf32>) -> tensor<?x90xf32>
  return %y : tensor<?x90xf32>
}
func.func private @activated.step(%x: tensor<?x8xf32>, %w: tensor<8x90xf32>) -> tensor<?x90xf32> attributes {transformer.decoder = "activated", transformer.role = "step"} {
  %y = transformer.linear %x, %w activation(relu) : (tensor<?x8xf32>, tensor<8x90xf32>) -> tensor<?x90xf32>
  return %y : tensor<?x90xf32>
}
func.func private @twice.step(%x: tensor<?x8xf32>, %w: tensor<8x90xf32>) -> (tensor<?x90xf32>, tensor<?x90xf32>) attributes {transformer.decoder = "twice", transformer.role = "step"} {
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x90xf32>) -> tensor<?x90xf32>
  return %y, %y : tensor<?x90xf32>, tensor<?x90xf32>
}
