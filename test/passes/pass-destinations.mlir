// Results go to memory that the caller owns, and bufferisation proves it.
// RUN: heddle-opt %s -transformer-pass-destinations | FileCheck %s
// RUN: heddle-opt %s -transformer-pass-destinations -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -drop-equivalent-buffer-results | FileCheck %s --check-prefix=BUFFERS

transformer.parameter @w : tensor<8x4xf32>

// The result keeps its name and gets the names of its dimensions.

// CHECK-LABEL: func.func private @layer_op_writes_to_the_caller(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32> {bufferization.writable = false, transformer.dims = ["rows"]}
// CHECK-SAME: %[[OUT:.*]]: tensor<?x4xf32> {transformer.dims = ["rows"], transformer.name = "y", transformer.output}
// CHECK: %[[Y:.*]] = transformer.linear %[[X]], %{{.*}} into %[[OUT]]
// CHECK: return %[[Y]]

// BUFFERS-LABEL: func.func private @layer_op_writes_to_the_caller(
// BUFFERS-SAME: %[[X:.*]]: memref<?x8xf32> {transformer.dims = ["rows"]}, %[[OUT:.*]]: memref<?x4xf32> {{{.*}}}) {
// BUFFERS: transformer.linear %[[X]], %{{.*}} into %[[OUT]]
// BUFFERS-NEXT: return{{$}}
func.func private @layer_op_writes_to_the_caller(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> (tensor<?x4xf32> {transformer.name = "y"}) {
  %w = transformer.weight @w : tensor<8x4xf32>
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @two_results_of_two_dimensions(
// CHECK-SAME: tensor<?x?x8xf32> {transformer.dims = ["batch", "source"], transformer.output}
// CHECK-SAME: tensor<?x?xf32> {transformer.dims = ["batch", "candidates"], transformer.output})
func.func private @two_results_of_two_dimensions(%x: tensor<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %z: tensor<?x?xf32> {transformer.dims = ["batch", "candidates"]}) -> (tensor<?x?x8xf32>, tensor<?x?xf32>) {
  %y = transformer.activation relu %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %u = transformer.activation relu %z : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y, %u : tensor<?x?x8xf32>, tensor<?x?xf32>
}

// Only what is alive beside the result needs memory, and nothing is copied.

// BUFFERS-LABEL: func.func private @chain_of_layer_ops_copies_nothing(
// BUFFERS-NOT: memref.copy
// BUFFERS: %[[A:.*]] = memref.alloc(
// BUFFERS: transformer.activation relu %{{.*}} into %[[A]]
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
// BUFFERS: transformer.linear %[[A]], %{{.*}} into %arg1
// BUFFERS-NEXT: return{{$}}
func.func private @chain_of_layer_ops_copies_nothing(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> tensor<?x4xf32> {
  %w = transformer.weight @w : tensor<8x4xf32>
  %a = transformer.activation relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = transformer.linear %a, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// A new state already is the caller's memory.

// CHECK-LABEL: func.func private @states_are_left_alone(
// CHECK-SAME: %[[S:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.state}
// CHECK-SAME: tensor<?x?x8xf32> {transformer.dims = ["rows", "capacity"], transformer.state}
// CHECK-SAME: %[[OUT:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.output}) ->
// CHECK: %[[C:.*]] = transformer.recurrence step
// CHECK: %[[K:.*]] = transformer.cache.append
// CHECK: %[[Y:.*]] = transformer.attention {{.*}} into %[[OUT]]
// CHECK: return %[[Y]], %[[C]], %[[K]]

// BUFFERS-LABEL: func.func private @states_are_left_alone(
// BUFFERS-SAME: %[[X:[^:]*]]: memref<?x8xf32>{{[^,]*}}, %[[AT:[^:]*]]: memref<?xi32>{{[^,]*}}, %[[OF:[^:]*]]: memref<?xi32>{{[^,]*}}, %[[S:[^:]*]]: memref<?x8xf32>{{[^%]*}}%[[K:[^:]*]]: memref<?x?x8xf32>{{[^%]*}}%[[OUT:[^:]*]]: memref
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
// BUFFERS: transformer.recurrence step %[[X]], %[[X]] into %[[S]]
// BUFFERS: transformer.cache.append %[[S]] at %[[AT]] into %[[K]]
// BUFFERS: transformer.attention %[[S]], %[[K]], %[[K]] mask({{.*}}) at %[[AT]] of %[[OF]] into %[[OUT]]
// BUFFERS: return{{$}}
func.func private @states_are_left_alone(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}, %at: tensor<?xi32> {transformer.dims = ["rows"]}, %of: tensor<?xi32> {transformer.dims = ["rows"]}, %s: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.state}, %k: tensor<?x?x8xf32> {transformer.dims = ["rows", "capacity"], transformer.state}) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x?x8xf32>) {
  %causal = transformer.mask.causal
  %c = transformer.recurrence step %x, %x into %s : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %k1 = transformer.cache.append %c at %at into %k : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.attention %c, %k1, %k1 mask(%causal) at %at of %of {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return %y, %c, %k1 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func private @state_that_is_a_result_too(
// CHECK-SAME: %[[OUT:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "logits", transformer.output}) ->
// CHECK: %[[C:.*]] = transformer.recurrence step
// CHECK: %[[Y:.*]] = bufferization.materialize_in_destination %[[C]] in %[[OUT]]
// CHECK: return %[[Y]], %[[C]]
func.func private @state_that_is_a_result_too(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}, %s: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.state}) -> (tensor<?x8xf32> {transformer.name = "logits"}, tensor<?x8xf32>) {
  %c = transformer.recurrence step %x, %x into %s : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %c, %c : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @value_returned_twice_is_copied_once(
// CHECK-SAME: %[[FIRST:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.output}, %[[SECOND:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.output}) ->
// CHECK: %[[Y:.*]] = transformer.activation relu %{{.*}} into %[[FIRST]]
// CHECK: %[[COPY:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[SECOND]]
// CHECK: return %[[Y]], %[[COPY]]
func.func private @value_returned_twice_is_copied_once(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = transformer.activation relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @returned_argument_is_copied(
// CHECK: bufferization.materialize_in_destination %arg0 in %arg1
func.func private @returned_argument_is_copied(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// A destination may be an input: it is not overwritten.

// CHECK-LABEL: func.func private @result_with_a_destination_is_copied(
// CHECK: %[[C:.*]] = transformer.recurrence step %arg0, %arg0 into %arg1
// CHECK: bufferization.materialize_in_destination %[[C]] in %arg2

// BUFFERS-LABEL: func.func private @result_with_a_destination_is_copied(
// BUFFERS: %[[COPY:.*]] = memref.alloc(
// BUFFERS: memref.copy %arg1, %[[COPY]]
// BUFFERS: transformer.recurrence step %arg0, %arg0 into %[[COPY]]
// BUFFERS: memref.copy %[[COPY]], %arg2
func.func private @result_with_a_destination_is_copied(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}, %before: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> tensor<?x8xf32> {
  %c = transformer.recurrence step %x, %x into %before : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %c : tensor<?x8xf32>
}

// An entry point is called by the runtime alone, through its artifact.

// CHECK-LABEL: func.func private @public_function_becomes_private(
func.func @public_function_becomes_private(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> tensor<?x8xf32> {
  %y = transformer.activation relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @function_on_memrefs_is_left_alone(
// CHECK-SAME: %{{[^,]*}}: memref<?x8xf32>) -> memref<?x8xf32> {
// CHECK-NEXT: return
func.func private @function_on_memrefs_is_left_alone(%x: memref<?x8xf32>) -> memref<?x8xf32> {
  return %x : memref<?x8xf32>
}

// CHECK: func.func private @declaration_is_left_alone(tensor<?xf32>) -> tensor<?xf32>
func.func private @declaration_is_left_alone(tensor<?xf32>) -> tensor<?xf32>

// Of several results of one op some are the caller's, the others get memory.

transformer.parameter @kvq : tensor<8x12xf32>

// CHECK-LABEL: func.func private @results_of_a_split_linear(
// CHECK-SAME: %[[K:[^:]*]]: tensor<?x4xf32> {transformer.dims = ["rows"], transformer.output}, %[[V:[^:]*]]: tensor<?x2xf32> {transformer.dims = ["rows"], transformer.output})
// CHECK: %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x6xf32>
// CHECK: transformer.linear %{{.*}} split [4, 6, 2] into %[[K]], %[[EMPTY]], %[[V]] :
// CHECK-NOT: materialize_in_destination

// BUFFERS-LABEL: func.func private @results_of_a_split_linear(
// BUFFERS-SAME: %[[K:[^:]*]]: memref<?x4xf32> {{{[^}]*}}}, %[[V:[^:]*]]: memref<?x2xf32> {{{[^}]*}}}) {
// BUFFERS: %[[ALLOC:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x6xf32>
// BUFFERS-NOT: memref.alloc
// BUFFERS: transformer.linear %{{.*}} split [4, 6, 2] into %[[K]], %[[ALLOC]], %[[V]] : (memref<?x8xf32>, memref<8x12xf32>, memref<?x4xf32>, memref<?x6xf32>, memref<?x2xf32>) -> ()
// BUFFERS-NEXT: return{{$}}
func.func private @results_of_a_split_linear(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> (tensor<?x4xf32>, tensor<?x2xf32>) {
  %w = transformer.weight @kvq : tensor<8x12xf32>
  %y:3 = transformer.linear %x, %w split [4, 6, 2] : (tensor<?x8xf32>, tensor<8x12xf32>) -> (tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x2xf32>)
  return %y#0, %y#2 : tensor<?x4xf32>, tensor<?x2xf32>
}

// BUFFERS-LABEL: func.func private @split_linear_inside(
// BUFFERS-COUNT-2: memref.alloc(
// BUFFERS-NOT: memref.copy
// BUFFERS: transformer.linear %{{.*}} split [4, 8] into
// BUFFERS: transformer.activation relu
func.func private @split_linear_inside(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}) -> tensor<?x8xf32> {
  %w = transformer.weight @kvq : tensor<8x12xf32>
  %y:2 = transformer.linear %x, %w split [4, 8] : (tensor<?x8xf32>, tensor<8x12xf32>) -> (tensor<?x4xf32>, tensor<?x8xf32>)
  %z = transformer.activation relu %y#1 : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// Rows are replaced where they are.

// BUFFERS-LABEL: func.func private @rows_are_put_in_place(
// BUFFERS: %[[A:.*]] = memref.alloc(
// BUFFERS: transformer.activation relu %{{.*}} into %[[A]]
// BUFFERS: transformer.take_rows %arg0
// BUFFERS-NOT: memref.copy
// BUFFERS: transformer.put_rows %{{.*}} at %arg1 into %[[A]]
// BUFFERS-NOT: memref.copy
// BUFFERS: transformer.linear %[[A]], %{{.*}} into %arg2
// BUFFERS-NEXT: return{{$}}
func.func private @rows_are_put_in_place(%x: tensor<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %at: tensor<?x?xi32> {transformer.dims = ["batch", "globals"]}) -> tensor<?x?x4xf32> {
  %w = transformer.weight @w : tensor<8x4xf32>
  %a = transformer.activation relu %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %r = transformer.take_rows %x at %at : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %b = transformer.put_rows %r at %at into %a : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.linear %b, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// Memory for a result that the function names itself is the caller's already;
// only a second place is new.

// CHECK-LABEL: func.func private @outputs_are_left_alone(
// CHECK-SAME: %[[OUT:[^:]*]]: tensor<?x4xf32> {transformer.dims = ["rows"], transformer.name = "y", transformer.output}) ->
// CHECK: %[[Y:.*]] = transformer.linear {{.*}} into %[[OUT]]
// CHECK-NEXT: return %[[Y]] :
func.func private @outputs_are_left_alone(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}, %out: tensor<?x4xf32> {transformer.dims = ["rows"], transformer.name = "y", transformer.output}) -> tensor<?x4xf32> {
  %w = transformer.weight @w : tensor<8x4xf32>
  %y = transformer.linear %x, %w into %out : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @an_output_that_is_returned_twice(
// CHECK-SAME: %[[OUT:[^:]*]]: tensor<?x4xf32> {transformer.dims = ["rows"], transformer.name = "y", transformer.output}, %[[COPY:[^:]*]]: tensor<?x4xf32> {transformer.dims = ["rows"], transformer.output})
// CHECK: %[[Y:.*]] = transformer.linear {{.*}} into %[[OUT]]
// CHECK: %[[Z:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[COPY]]
// CHECK: return %[[Z]], %[[Y]]
func.func private @an_output_that_is_returned_twice(%x: tensor<?x8xf32> {transformer.dims = ["rows"]}, %out: tensor<?x4xf32> {transformer.dims = ["rows"], transformer.name = "y", transformer.output}) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %w = transformer.weight @w : tensor<8x4xf32>
  %y = transformer.linear %x, %w into %out : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y, %y : tensor<?x4xf32>, tensor<?x4xf32>
}
