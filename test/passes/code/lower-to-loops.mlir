// The loops of each op, by what is particular to its formula. The numbers are
// checked by execution.
// RUN: heddle-opt %s -transformer-lower-to-loops -canonicalize | FileCheck %s

transformer.parameter @table : tensor<9x4xf32>

// CHECK-LABEL: func.func @linear_sums_along_the_rows_of_its_weight(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32>, %[[W:[^:]*]]: memref<8x4xf32>, %[[Y:[^:]*]]: memref<?x4xf32>)
// CHECK: scf.parallel (%[[R:.*]]) = (%c0) to (%{{.*}}) step (%c1) {
// CHECK-NEXT: scf.for %[[J:.*]] = %c0 to %c4 step %c1 {
// CHECK-NEXT: memref.store %cst, %[[Y]][%[[R]], %[[J]]]
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1 {
// CHECK-NEXT: %[[XK:.*]] = memref.load %[[X]][%[[R]], %[[K]]]
// CHECK-NEXT: scf.for %[[J:.*]] = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[WKJ:.*]] = memref.load %[[W]][%[[K]], %[[J]]]
// CHECK-NEXT: %[[TERM:.*]] = arith.mulf %[[XK]], %[[WKJ]]
// CHECK-NEXT: %[[SUM:.*]] = memref.load %[[Y]][%[[R]], %[[J]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[SUM]], %[[TERM]]
// CHECK-NEXT: memref.store %[[NEW]], %[[Y]][%[[R]], %[[J]]]
// CHECK-NOT: transformer.linear
func.func @linear_sums_along_the_rows_of_its_weight(%x: memref<?x8xf32>, %w: memref<8x4xf32>, %y: memref<?x4xf32>) {
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<8x4xf32>, memref<?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @bias_starts_the_sum(
// CHECK-SAME: %[[B:[^:]*]]: memref<4xf32>
// CHECK: %[[START:.*]] = memref.load %[[B]][%[[J:.*]]]
// CHECK: memref.store %[[START]], %{{.*}}, %[[J]]]
func.func @bias_starts_the_sum(%x: memref<?x8xf32>, %w: memref<8x4xf32>, %b: memref<4xf32>, %y: memref<?x4xf32>) {
  transformer.linear %x, %w, %b into %y : (memref<?x8xf32>, memref<8x4xf32>, memref<4xf32>, memref<?x4xf32>) -> ()
  return
}

// No row of the table is read at a negative index.

// CHECK-LABEL: func.func @negative_id_is_the_zero_vector(
// CHECK: %[[ID:.*]] = memref.load %arg0
// CHECK: %[[ZERO:.*]] = arith.cmpi slt, %[[ID]], %c0_i32
// CHECK: %[[CLAMPED:.*]] = arith.maxsi %[[ID]], %c0_i32
// CHECK: %[[ROW:.*]] = arith.index_cast %[[CLAMPED]]
// CHECK: memref.load %arg1[%[[ROW]], %{{.*}}]
// CHECK: arith.select %[[ZERO]], %cst{{.*}}, %{{.*}} : f32
func.func @negative_id_is_the_zero_vector(%ids: memref<?xi32>, %table: memref<9x4xf32>, %y: memref<?x4xf32>) {
  transformer.embedding %ids, %table into %y {scale = 2.0 : f32} : (memref<?xi32>, memref<9x4xf32>, memref<?x4xf32>) -> ()
  return
}

// The angle is computed in f64 and rounded once; a step reads the position of
// its row.

// CHECK-LABEL: func.func @positions_of_rows(
// CHECK: %[[P:.*]] = memref.load %arg1
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.sin %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: math.cos %{{.*}} : f64
func.func @positions_of_rows(%x: memref<?x4xf32>, %at: memref<?xi32>, %y: memref<?x4xf32>) {
  transformer.positions.sinusoidal %x at %at into %y {timescales = 2 : i64} : (memref<?x4xf32>, memref<?xi32>, memref<?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @learned_positions_have_an_offset(
// CHECK: scf.parallel (%{{.*}}, %[[I:.*]]) = (%c0, %c0)
// CHECK: %[[ROW:.*]] = arith.addi %[[I]], %c2
// CHECK: memref.load %arg1[%[[ROW]], %{{.*}}]
func.func @learned_positions_have_an_offset(%x: memref<?x?x4xf32>, %table: memref<9x4xf32>, %y: memref<?x?x4xf32>) {
  transformer.positions.learned %x, %table into %y {offset = 2 : i64} : (memref<?x?x4xf32>, memref<9x4xf32>, memref<?x?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @logits_behind_the_count_are_minus_infinity(
// CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[S32:.*]] = memref.load %arg4
// CHECK: %[[S:.*]] = arith.index_cast %[[S32]]
// CHECK: %[[N32:.*]] = memref.load %arg3[%[[S]]]
// CHECK: %[[N:.*]] = arith.index_cast %[[N32]]
// CHECK: %[[LISTED:.*]] = arith.cmpi slt, %[[C:.*]], %[[N]] : index
// CHECK: scf.if %[[LISTED]]
// CHECK: memref.load %arg1[%[[S]], %[[C]], %{{.*}}]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[LOWEST]]
func.func @logits_behind_the_count_are_minus_infinity(%x: memref<?x4xf32>, %rows: memref<?x?x4xf32>, %bias: memref<?x?xf32>, %counts: memref<?xi32>, %of: memref<?xi32>, %y: memref<?x?xf32>) {
  transformer.candidate_logits %x, %rows, %bias, %counts of %of into %y : (memref<?x4xf32>, memref<?x?x4xf32>, memref<?x?xf32>, memref<?xi32>, memref<?xi32>, memref<?x?xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @activation_visits_every_element(
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0)
// CHECK: arith.maximumf %{{.*}}, %cst
func.func @activation_visits_every_element(%x: memref<?x4xf32>, %y: memref<?x4xf32>) {
  transformer.activation relu %x into %y : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @layer_norm_sums_twice(
// CHECK-COUNT-2: scf.for {{.*}} iter_args(
// CHECK: math.sqrt
func.func @layer_norm_sums_twice(%x: memref<?x4xf32>, %gamma: memref<4xf32>, %y: memref<?x4xf32>) {
  transformer.norm layer %x, %gamma into %y {epsilon = 1.0e-5 : f32} : (memref<?x4xf32>, memref<4xf32>, memref<?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @rms_norm_sums_once(
// CHECK-COUNT-1: scf.for {{.*}} iter_args(
// CHECK-NOT: iter_args
// CHECK: math.sqrt
func.func @rms_norm_sums_once(%x: memref<?x4xf32>, %gamma: memref<4xf32>, %y: memref<?x4xf32>) {
  transformer.norm rms %x, %gamma into %y {epsilon = 1.0e-5 : f32} : (memref<?x4xf32>, memref<4xf32>, memref<?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @fill_is_as_wide_as_its_destination(
// CHECK: %[[VALUE:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%{{.*}}, %c2)
// CHECK: memref.store %[[VALUE]], %arg1
func.func @fill_is_as_wide_as_its_destination(%x: memref<?x4xf32>, %y: memref<?x2xf32>) {
  transformer.fill like %x into %y {value = 3.0 : f32, width = 2 : i64} : (memref<?x4xf32>, memref<?x2xf32>) -> ()
  return
}

// Part of a buffer is no block of memory.

// CHECK-LABEL: func.func @copy_of_a_part(
// CHECK-NOT: memref.copy
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: %[[V:.*]] = memref.load %arg0
// CHECK: memref.store %[[V]], %arg1
func.func @copy_of_a_part(%x: memref<4x4xf32, strided<[8, 1], offset: 4>>, %y: memref<4x4xf32>) {
  memref.copy %x, %y : memref<4x4xf32, strided<[8, 1], offset: 4>> to memref<4x4xf32>
  return
}

// Softmax: the maximum of the allowed scores, then the sum. A query without
// keys has no sum to divide by.

// CHECK-LABEL: func.func @attention_without_keys_is_zero(
// CHECK: %[[MAXIMUM:.*]] = scf.for %[[J:.*]] = %c0 to %[[M:.*]] step %c1 iter_args(
// CHECK: arith.cmpi sle
// CHECK: arith.maximumf
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[MAXIMUM]], %[[LOWEST:.*]] : f32
// CHECK: %[[SHIFT:.*]] = arith.select %[[NONE]], %[[ZERO:.*]], %[[MAXIMUM]]
// CHECK: %[[TOTAL:.*]] = scf.for %{{.*}} = %c0 to %[[M]] step %c1 iter_args(
// CHECK: arith.subf %{{.*}}, %[[SHIFT]]
// CHECK: math.exp
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[TOTAL]], %[[ZERO]]
// CHECK: %[[Y:.*]] = arith.divf %{{.*}}, %[[TOTAL]]
// CHECK: arith.select %[[EMPTY]], %[[ZERO]], %[[Y]]
// CHECK-NOT: transformer.mask
// CHECK: return
func.func @attention_without_keys_is_zero(%q: memref<?x?x4xf32>, %k: memref<?x?x4xf32>, %y: memref<?x?x4xf32>) {
  %causal = transformer.mask.causal
  transformer.attention %q, %k, %k mask(%causal) into %y {heads = 2 : i64} : (memref<?x?x4xf32>, memref<?x?x4xf32>, memref<?x?x4xf32>, !transformer.mask, memref<?x?x4xf32>) -> ()
  return
}

// A step of a ring of 4 slots: positions p - 3 to p, each in its slot.

// CHECK-LABEL: func.func @attention_to_a_ring(
// CHECK: %[[P32:.*]] = memref.load %arg2
// CHECK: %[[P:.*]] = arith.index_cast %[[P32]]
// CHECK: %[[END:.*]] = arith.addi %[[P]], %c1
// CHECK: %[[OLDEST:.*]] = arith.addi %[[P]], %c-3
// CHECK: %[[BEGIN:.*]] = arith.maxsi %[[OLDEST]], %c0
// CHECK: scf.for %[[J:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[SLOT:.*]] = arith.remui %[[J]], %c4
// CHECK: memref.load %arg1[%{{.*}}, %[[SLOT]], %{{.*}}]
func.func @attention_to_a_ring(%q: memref<?x4xf32>, %k: memref<?x4x4xf32>, %at: memref<?xi32>, %of: memref<?xi32>, %y: memref<?x4xf32>) {
  transformer.attention %q, %k, %k at %at of %of into %y {heads = 1 : i64} : (memref<?x4xf32>, memref<?x4x4xf32>, memref<?x4x4xf32>, memref<?xi32>, memref<?xi32>, memref<?x4xf32>) -> ()
  return
}

// Four heads read two heads of keys.

// CHECK-LABEL: func.func @attention_with_grouped_heads(
// CHECK: scf.for %[[H:.*]] = %c0 to %c4
// CHECK: %[[GROUP:.*]] = arith.divui %[[H]], %c2
// CHECK: arith.muli %[[GROUP]], %c2
func.func @attention_with_grouped_heads(%q: memref<?x?x8xf32>, %k: memref<?x?x4xf32>, %y: memref<?x?x8xf32>) {
  transformer.attention %q, %k, %k into %y {heads = 4 : i64, kv_heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x4xf32>, memref<?x?x4xf32>, memref<?x?x8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @regions_are_inlined(
// CHECK: vector.load %arg0
// CHECK: vector.reduction
// CHECK: memref.load %arg2
// CHECK: arith.mulf
// CHECK-NOT: transformer.
func.func @regions_are_inlined(%q: memref<?x?x4xf32>, %y: memref<?x?x4xf32>, %slopes: memref<2xf32>) {
  transformer.attention %q, %q, %q into %y {heads = 2 : i64} similarity {
  ^bb0(%a: vector<2xf32>, %b: vector<2xf32>):
    %p = arith.mulf %a, %b : vector<2xf32>
    %s = vector.reduction <add>, %p : vector<2xf32> into f32
    transformer.yield %s : f32
  } score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %slope = transformer.lookup %slopes[%h] : memref<2xf32> -> f32
    %t = arith.mulf %s, %slope : f32
    transformer.yield %t : f32
  } normalizer none : (memref<?x?x4xf32>, memref<?x?x4xf32>, memref<?x?x4xf32>, memref<?x?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @lookups_are_limited(
// CHECK: arith.minsi %{{.*}}, %c1
// CHECK-NEXT: %[[AT:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: vector.load %arg2[%[[AT]], %c0
func.func @lookups_are_limited(%q: memref<?x?x4xf32>, %y: memref<?x?x4xf32>, %rows: memref<2x4xf32>, %at: i32) {
  transformer.attention %q, %q, %q into %y {heads = 1 : i64} similarity {
  ^bb0(%a: vector<4xf32>, %b: vector<4xf32>):
    %row = transformer.lookup %rows[%at] : memref<2x4xf32> -> vector<4xf32>
    %p = arith.mulf %a, %row : vector<4xf32>
    %s = vector.reduction <add>, %p : vector<4xf32> into f32
    transformer.yield %s : f32
  } : (memref<?x?x4xf32>, memref<?x?x4xf32>, memref<?x?x4xf32>, memref<?x?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @recurrence_starts_at_zero(
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: scf.parallel (%[[B:.*]], %[[D:.*]]) = (%c0, %c0)
// CHECK: scf.for %[[T:.*]] = %c0 to %{{.*}} iter_args(%[[PREVIOUS:.*]] = %[[ZERO]])
// CHECK: memref.load %arg0[%[[B]], %[[T]], %[[D]]]
// CHECK: arith.mulf %{{.*}}, %[[PREVIOUS]]
// CHECK: memref.store %[[NEXT:.*]], %arg2[%[[B]], %[[T]], %[[D]]]
// CHECK: scf.yield %[[NEXT]]
func.func @recurrence_starts_at_zero(%f: memref<?x?x4xf32>, %v: memref<?x?x4xf32>, %c: memref<?x?x4xf32>) {
  transformer.recurrence %f, %v into %c : (memref<?x?x4xf32>, memref<?x?x4xf32>, memref<?x?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @recurrence_step_reads_its_state(
// CHECK: memref.load %arg2[%[[R:.*]], %[[D:.*]]]
// CHECK: memref.store %{{.*}}, %arg2[%[[R]], %[[D]]]
func.func @recurrence_step_reads_its_state(%f: memref<?x4xf32>, %v: memref<?x4xf32>, %c: memref<?x4xf32>) {
  transformer.recurrence step %f, %v into %c : (memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @append_writes_one_slot_of_a_ring(
// CHECK: scf.parallel (%[[R:.*]]) = (%c0)
// CHECK: %[[P32:.*]] = memref.load %arg1[%[[R]]]
// CHECK: %[[P:.*]] = arith.index_cast %[[P32]]
// CHECK: %[[SLOT:.*]] = arith.remui %[[P]], %c3
// CHECK: memref.store %{{.*}}, %arg2[%[[R]], %[[SLOT]], %{{.*}}]
func.func @append_writes_one_slot_of_a_ring(%x: memref<?x4xf32>, %at: memref<?xi32>, %cache: memref<?x3x4xf32>) {
  transformer.cache.append %x at %at into %cache : (memref<?x4xf32>, memref<?xi32>, memref<?x3x4xf32>) -> ()
  return
}

// Parts of a fused op follow the sums of a row, in its place in memory.

// CHECK-LABEL: func.func @linear_with_an_epilogue(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32>, %[[W:[^:]*]]: memref<8x4xf32>, %[[R:[^:]*]]: memref<?x4xf32>, %[[G:[^:]*]]: memref<4xf32>, %[[Y:[^:]*]]: memref<?x4xf32>)
// CHECK: scf.parallel (%[[ROW:.*]]) = (%c0)
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: %[[RELU:.*]] = arith.maximumf
// CHECK-NEXT: memref.store %[[RELU]], %[[Y]][%[[ROW]], %{{.*}}]
// CHECK: %[[REST:.*]] = memref.load %[[R]][%[[ROW]], %{{.*}}]
// CHECK: arith.addf %[[REST]], %{{.*}}
// CHECK: math.sqrt
// CHECK: memref.load %[[G]]
// CHECK-NOT: transformer.
func.func @linear_with_an_epilogue(%x: memref<?x8xf32>, %w: memref<8x4xf32>, %r: memref<?x4xf32>, %g: memref<4xf32>, %y: memref<?x4xf32>) {
  transformer.linear %x, %w activation(relu) residual(%r) norm(rms, %g, 0.5) into %y : (memref<?x8xf32>, memref<8x4xf32>, memref<?x4xf32>, memref<4xf32>, memref<?x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @split_linear_reads_its_columns(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32>, %[[W:[^:]*]]: memref<8x4xf32>, %[[A:[^:]*]]: memref<?x1xf32>, %[[B:[^:]*]]: memref<?x3xf32>)
// CHECK: memref.load %[[W]][%{{.*}}, %c0]
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: scf.for %[[J:.*]] = %c0 to %c3
// CHECK: %[[COLUMN:.*]] = arith.addi %[[J]], %c1
// CHECK: memref.load %[[W]][%{{.*}}, %[[COLUMN]]]
// CHECK: memref.load %[[B]][%{{.*}}, %[[J]]]
func.func @split_linear_reads_its_columns(%x: memref<?x8xf32>, %w: memref<8x4xf32>, %a: memref<?x1xf32>, %b: memref<?x3xf32>) {
  transformer.linear %x, %w split [1, 3] into %a, %b : (memref<?x8xf32>, memref<8x4xf32>, memref<?x1xf32>, memref<?x3xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @ffn_keeps_one_hidden_vector(
// CHECK: %[[HIDDEN:.*]] = memref.alloca() : memref<16xf32>
// CHECK: scf.parallel
// CHECK: arith.maximumf
// CHECK: memref.store %{{.*}}, %[[HIDDEN]]
// CHECK: memref.load %[[HIDDEN]]
// CHECK: memref.store %{{.*}}, %arg3
func.func @ffn_keeps_one_hidden_vector(%x: memref<?x8xf32>, %w1: memref<8x16xf32>, %w2: memref<16x8xf32>, %y: memref<?x8xf32>) {
  transformer.ffn %x, %w1, %w2 activation(relu) into %y : (memref<?x8xf32>, memref<8x16xf32>, memref<16x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @embedding_adds_the_position_of_a_row(
// CHECK: %[[P32:.*]] = memref.load %arg3[%[[R:.*]]]
// CHECK: %[[P:.*]] = arith.index_cast %[[P32]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[P]], %c2
// CHECK: memref.load %arg2[%[[PLACE]], %{{.*}}]
func.func @embedding_adds_the_position_of_a_row(%ids: memref<?xi32>, %table: memref<9x4xf32>, %places: memref<8x4xf32>, %at: memref<?xi32>, %y: memref<?x4xf32>) {
  transformer.embedding %ids, %table positions(learned, %places, 2) at %at into %y : (memref<?xi32>, memref<9x4xf32>, memref<8x4xf32>, memref<?xi32>, memref<?x4xf32>) -> ()
  return
}

// What is no layer op has loops of its own, or none.

// CHECK-LABEL: func.func @other_ops_are_left_alone(
// CHECK-NEXT: transformer.weight @table
// CHECK-NEXT: return
func.func @other_ops_are_left_alone() -> memref<9x4xf32> {
  %w = transformer.weight @table : memref<9x4xf32>
  return %w : memref<9x4xf32>
}

// -----

// A step adds its key to the states and reads them; full forms keep sums on the
// stack.

// CHECK-LABEL: func.func @linear_attention_step(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32>, %[[Y:[^:]*]]: memref<?x8xf32>, %[[S:[^:]*]]: memref<?x2x4x4xf32>, %[[Z:[^:]*]]: memref<?x2x4xf32>
// CHECK-NOT: memref.alloca() : memref<4x4xf32>
// CHECK: memref.store %{{.*}}, %[[Z]][
// CHECK: memref.store %{{.*}}, %[[S]][
// CHECK: memref.store %{{.*}}, %[[Y]][
func.func @linear_attention_step(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %s: memref<?x2x4x4xf32>, %z: memref<?x2x4xf32>) {
  transformer.linear_attention step %x, %x, %x into %y, %s, %z {heads = 2 : i64} : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>) -> ()
  return
}
// CHECK-LABEL: func.func @linear_attention(
// CHECK: memref.alloca() : memref<4x4xf32>
// CHECK-NOT: transformer
func.func @linear_attention(%x: memref<?x?x8xf32>, %n: memref<?xi32>, %y: memref<?x?x8xf32>) {
  transformer.linear_attention %x, %x, %x lengths(%n) into %y {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// Each part of the width has a matrix of its own; positions end at the length.

// CHECK-LABEL: func.func @project_sequence(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x?x8xf32>, %[[E:[^:]*]]: memref<2x4x16xf32>, %[[N:[^:]*]]: memref<?xi32>, %[[Y:[^:]*]]: memref<?x4x8xf32>
// CHECK: memref.load %[[N]]
// CHECK: scf.for
// CHECK: %[[H:.*]] = arith.divui %[[D:.*]], %c4
// CHECK: memref.load %[[E]][%[[H]], %[[P:.*]], %[[J:.*]]]
// CHECK: memref.load %[[X]][%[[B:.*]], %[[J]], %[[D]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[B]], %[[P]], %[[D]]]
func.func @project_sequence(%x: memref<?x?x8xf32>, %e: memref<2x4x16xf32>, %n: memref<?xi32>, %y: memref<?x4x8xf32>) {
  transformer.project_sequence %x, %e lengths(%n) into %y : (memref<?x?x8xf32>, memref<2x4x16xf32>, memref<?xi32>, memref<?x4x8xf32>) -> ()
  return
}

// -----

// A number is compared without its sign; where it is no row, row 0 is read and
// nothing of it taken.

// CHECK-LABEL: func.func @take_rows(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x?x8xf32>, %[[AT:[^:]*]]: memref<?x?xi32>, %[[Y:[^:]*]]: memref<?x?x8xf32>
// CHECK: %[[TOKEN:.*]] = memref.load %[[AT]][%[[B:.*]], %[[T:.*]]]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[TOKEN]]
// CHECK: %[[N:.*]] = memref.dim %[[X]], %c1
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[ROW]], %[[N]]
// CHECK: %[[SAFE:.*]] = arith.select %[[IS]], %[[ROW]], %c0
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[B]], %[[SAFE]], %[[D:.*]]]
// CHECK: %[[TAKEN:.*]] = arith.select %[[IS]], %[[V]], %cst
// CHECK: memref.store %[[TAKEN]], %[[Y]][%[[B]], %[[T]], %[[D]]]
func.func @take_rows(%x: memref<?x?x8xf32>, %at: memref<?x?xi32>, %y: memref<?x?x8xf32>) {
  transformer.take_rows %x at %at into %y : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @put_rows(
// CHECK-SAME: %[[R:[^:]*]]: memref<?x?x8xf32>, %[[AT:[^:]*]]: memref<?x?xi32>, %[[X:[^:]*]]: memref<?x?x8xf32>
// CHECK: %[[TOKEN:.*]] = memref.load %[[AT]][%[[B:.*]], %[[T:.*]]]
// CHECK: %[[IS:.*]] = arith.cmpi ult
// CHECK: %[[SAFE:.*]] = arith.select %[[IS]]
// CHECK: scf.if %[[IS]] {
// CHECK: %[[V:.*]] = memref.load %[[R]][%[[B]], %[[T]], %[[D:.*]]]
// CHECK: memref.store %[[V]], %[[X]][%[[B]], %[[SAFE]], %[[D]]]
func.func @put_rows(%r: memref<?x?x8xf32>, %at: memref<?x?xi32>, %x: memref<?x?x8xf32>) {
  transformer.put_rows %r at %at into %x : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  return
}
