// Buffers become views of one arena.
// RUN: heddle-opt %s -transformer-plan-memory -canonicalize -cse -split-input-file | FileCheck %s

// The third buffer takes the place of the first, which is dead by then.

// CHECK-LABEL: func.func private @buffers_that_never_meet_share_a_slot(
// CHECK-SAME: %[[ARENA:[^:]*]]: memref<?xi8> {transformer.arena}) attributes {transformer.dims = ["rows"]}
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS:.*]], %c32
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[BYTES]], %c64
// CHECK: %[[SIZE:.*]] = arith.muli %[[BLOCKS]], %c64
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%c0][%[[ROWS]]] : memref<?xi8> to memref<?x8xf32>
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[SIZE]]][%[[ROWS]]] : memref<?xi8> to memref<?x8xf32>
// CHECK: transformer.activation relu %{{.*}} into %[[A]]
// CHECK: transformer.activation relu %[[A]] into %[[B]]
// CHECK: transformer.activation gelu %[[B]] into %[[A]]
// CHECK: transformer.activation relu %[[A]] into %{{.*}}

// CHECK-LABEL: func.func private @buffers_that_never_meet_share_a_slot.arena(
// CHECK-SAME: %[[ROWS:[^:]*]]: index) -> index attributes {transformer.arena = @buffers_that_never_meet_share_a_slot}
// CHECK: %[[TOTAL:.*]] = arith.addi %[[SIZE:.*]], %[[SIZE]]
// CHECK: return %[[TOTAL]]
func.func private @buffers_that_never_meet_share_a_slot(%x: memref<?x8xf32> {transformer.dims = ["rows"]}, %y: memref<?x8xf32> {transformer.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%rows) : memref<?x8xf32>
  %b = memref.alloc(%rows) : memref<?x8xf32>
  %c = memref.alloc(%rows) : memref<?x8xf32>
  transformer.activation relu %x into %a : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation relu %a into %b : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation gelu %b into %c : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation relu %c into %y : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// An op that reads one buffer and writes another needs both.

// CHECK-LABEL: func.func private @operand_and_result_are_apart(
// CHECK-DAG: %[[A:.*]] = memref.view %{{.*}}[%c0][] : memref<?xi8> to memref<16xf32>
// CHECK-DAG: %[[B:.*]] = memref.view %{{.*}}[%c64][] : memref<?xi8> to memref<16xf32>
// CHECK: transformer.activation relu %[[A]] into %[[B]]
// CHECK-LABEL: func.func private @operand_and_result_are_apart.arena() -> index
// CHECK: %[[BYTES:.*]] = arith.constant 128
// CHECK: return %[[BYTES]]
func.func private @operand_and_result_are_apart(%x: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  transformer.activation relu %x into %a : (memref<16xf32>, memref<16xf32>) -> ()
  transformer.activation relu %a into %b : (memref<16xf32>, memref<16xf32>) -> ()
  transformer.activation relu %b into %x : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// Which of two sizes is larger is known at run time.

// CHECK-LABEL: func.func private @slot_of_unequal_buffers.arena(
// CHECK-SAME: %[[BATCH:[^:]*]]: index, %[[SOURCE:[^:]*]]: index)
// CHECK-DAG: %[[FIRST:.*]] = arith.muli %[[BATCH]], %c32
// CHECK-DAG: %[[SECOND:.*]] = arith.muli %[[SOURCE]], %c16
// CHECK: %[[LARGER:.*]] = arith.maxsi %[[FIRST]], %[[SECOND]]
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[LARGER]], %c64
// CHECK: %[[SIZE:.*]] = arith.muli %[[BLOCKS]], %c64
// CHECK: return %[[SIZE]]
func.func private @slot_of_unequal_buffers(%x: memref<?x8xf32> {transformer.dims = ["batch"]}, %y: memref<?x4xf32> {transformer.dims = ["source"]}) {
  %c0 = arith.constant 0 : index
  %batch = memref.dim %x, %c0 : memref<?x8xf32>
  %source = memref.dim %y, %c0 : memref<?x4xf32>
  %a = memref.alloc(%batch) : memref<?x8xf32>
  %b = memref.alloc(%source) : memref<?x4xf32>
  transformer.activation relu %x into %a : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation relu %y into %b : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

// A product reads the 7 * 9 bytes by words: two behind them are in the arena, too.

// CHECK-LABEL: func.func private @bytes_end_in_a_word.arena() -> index
// CHECK: %[[BYTES:.*]] = arith.constant 128
// CHECK: return %[[BYTES]]
// CHECK-LABEL: func.func private @words_end_the_bytes.arena() -> index
// CHECK: %[[BYTES:.*]] = arith.constant 64
// CHECK: return %[[BYTES]]
func.func private @bytes_end_in_a_word(%x: memref<7x9xf32>, %a: memref<1xf32>) {
  %q = memref.alloc() : memref<7x9xi8>
  transformer.quantize %x multiplier(%a) into %q : (memref<7x9xf32>, memref<1xf32>, memref<7x9xi8>) -> ()
  return
}
func.func private @words_end_the_bytes(%x: memref<8x8xf32>, %a: memref<1xf32>) {
  %q = memref.alloc() : memref<8x8xi8>
  transformer.quantize %x multiplier(%a) into %q : (memref<8x8xf32>, memref<1xf32>, memref<8x8xi8>) -> ()
  return
}

// -----

// A size is a product: the order of its dimensions does not matter.

// CHECK-LABEL: func.func private @sizes_equal_as_products.arena(
// CHECK-NOT: arith.maxsi
// CHECK: return
func.func private @sizes_equal_as_products(%x: memref<?x?xf32> {transformer.dims = ["batch", "source"]}, %y: memref<?x?xf32> {transformer.dims = ["source", "batch"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?xf32>
  %source = memref.dim %x, %c1 : memref<?x?xf32>
  %a = memref.alloc(%batch, %source) : memref<?x?xf32>
  %b = memref.alloc(%source, %batch) : memref<?x?xf32>
  transformer.activation relu %x into %a : (memref<?x?xf32>, memref<?x?xf32>) -> ()
  transformer.activation relu %y into %b : (memref<?x?xf32>, memref<?x?xf32>) -> ()
  return
}

// -----

// A buffer lives as long as its views.

// CHECK-LABEL: func.func private @user_of_a_view(
// CHECK: memref.view %{{.*}}[%c0][] : memref<?xi8> to memref<32xf32>
// CHECK: memref.view %{{.*}}[%c128][] : memref<?xi8> to memref<32xf32>
// CHECK: return
func.func private @user_of_a_view(%x: memref<32xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<32xf32>
  transformer.activation relu %x into %a : (memref<32xf32>, memref<32xf32>) -> ()
  %cast = memref.cast %a : memref<32xf32> to memref<?xf32>
  %part = memref.subview %cast[16] [16] [1] : memref<?xf32> to memref<16xf32, strided<[1], offset: 16>>
  %b = memref.alloc() : memref<32xf32>
  transformer.activation gelu %x into %b : (memref<32xf32>, memref<32xf32>) -> ()
  transformer.add %part, %part into %y : (memref<16xf32, strided<[1], offset: 16>>, memref<16xf32, strided<[1], offset: 16>>, memref<16xf32>) -> ()
  return
}

// -----

// A buffer lives as long as what a selection or a branch makes of it.

// CHECK-LABEL: func.func private @user_of_a_selection(
// CHECK-DAG: memref.view %{{.*}}[%c0][]
// CHECK-DAG: memref.view %{{.*}}[%c64][]
// CHECK-DAG: memref.view %{{.*}}[%c128][]
// CHECK: return
func.func private @user_of_a_selection(%x: memref<16xf32>, %y: memref<16xf32>, %condition: i1) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  transformer.activation relu %x into %a : (memref<16xf32>, memref<16xf32>) -> ()
  transformer.activation gelu %x into %b : (memref<16xf32>, memref<16xf32>) -> ()
  %either = arith.select %condition, %a, %b : memref<16xf32>
  transformer.activation silu %x into %c : (memref<16xf32>, memref<16xf32>) -> ()
  transformer.add %either, %c into %y : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @user_of_a_branch(
// CHECK-DAG: memref.view %{{.*}}[%c0][]
// CHECK-DAG: memref.view %{{.*}}[%c64][]
// CHECK-DAG: memref.view %{{.*}}[%c128][]
// CHECK: return
func.func private @user_of_a_branch(%x: memref<16xf32>, %y: memref<16xf32>, %condition: i1) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  transformer.activation relu %x into %a : (memref<16xf32>, memref<16xf32>) -> ()
  transformer.activation gelu %x into %b : (memref<16xf32>, memref<16xf32>) -> ()
  %either = scf.if %condition -> memref<16xf32> {
    transformer.activation tanh %x into %y : (memref<16xf32>, memref<16xf32>) -> ()
    scf.yield %a : memref<16xf32>
  } else {
    scf.yield %b : memref<16xf32>
  }
  transformer.activation silu %x into %c : (memref<16xf32>, memref<16xf32>) -> ()
  transformer.add %either, %c into %y : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// A region that reads a buffer uses it where the region's op stands.

// CHECK-LABEL: func.func private @user_inside_a_loop(
// CHECK-DAG: memref.view %{{.*}}[%c0][]
// CHECK-DAG: memref.view %{{.*}}[%c64][]
// CHECK: return
func.func private @user_inside_a_loop(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  transformer.activation relu %x into %a : (memref<16xf32>, memref<16xf32>) -> ()
  transformer.activation gelu %x into %b : (memref<16xf32>, memref<16xf32>) -> ()
  scf.for %i = %c0 to %c16 step %c1 {
    %v = memref.load %a[%i] : memref<16xf32>
    %w = memref.load %b[%i] : memref<16xf32>
    %sum = arith.addf %v, %w : f32
    memref.store %sum, %y[%i] : memref<16xf32>
  }
  return
}

// -----

// Elements take whole bytes: 100 of i1 are two lines of 64.

// CHECK-LABEL: func.func private @narrow_elements.arena(
// CHECK: %[[BYTES:.*]] = arith.constant 128
// CHECK: return %[[BYTES]]
func.func private @narrow_elements(%at: index, %value: i1) {
  %a = memref.alloc() : memref<100xi1>
  memref.store %value, %a[%at] : memref<100xi1>
  return
}

// CHECK-LABEL: func.func private @indices.arena(
// CHECK: %[[BYTES:.*]] = arith.constant 832
// CHECK: return %[[BYTES]]
func.func private @indices(%at: index) {
  %a = memref.alloc() : memref<100xindex>
  memref.store %at, %a[%at] : memref<100xindex>
  return
}

// -----

// CHECK-LABEL: func.func private @unused_buffer_takes_no_memory(
// CHECK-NOT: memref.alloc
// CHECK: return
// CHECK-LABEL: func.func private @unused_buffer_takes_no_memory.arena(
// CHECK: %[[BYTES:.*]] = arith.constant 0
// CHECK: return %[[BYTES]]
func.func private @unused_buffer_takes_no_memory() {
  %a = memref.alloc() : memref<16xf32>
  return
}

// -----

// Rows of a chunk are bounded; what is not has the larger size at some time.

// CHECK-LABEL: func.func private @bounded_rows.arena(
// CHECK-SAME: %[[BATCH:[^:]*]]: index, %[[SOURCE:[^:]*]]: index)
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %[[BATCH]], %[[SOURCE]]
// CHECK: %[[SOME:.*]] = arith.minui %[[ROWS]], %c64
// CHECK: %[[BYTES:.*]] = arith.muli %[[SOME]], %c32
// CHECK: arith.ceildivui %[[BYTES]], %c64
// CHECK: return
func.func private @bounded_rows(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %rows = arith.muli %batch, %source : index
  %most = arith.minui %rows, %c64 : index
  %a = memref.alloc(%most) : memref<?x8xf32>
  scf.for %i = %c0 to %rows step %c64 {
    %part = transformer.rows %a[%c0 for %most] : memref<?x8xf32>
    transformer.activation relu %part into %part : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  }
  return
}

// -----

// Attention writes over queries that nothing reads later.

// CHECK-LABEL: func.func private @result_over_queries(
// CHECK: transformer.activation relu %{{.*}} into %[[Q:.*]] :
// CHECK: transformer.attention %[[Q]], %[[K:.*]], %[[K]] into %[[Q]]
// CHECK: transformer.activation relu %[[Q]] into

// CHECK-LABEL: func.func private @queries_that_are_keys(
// CHECK: transformer.attention %[[K:.*]], %[[K]], %[[K]] into %[[R:.*]] {heads
// CHECK: transformer.activation relu %[[R]] into

// CHECK-LABEL: func.func private @queries_that_are_read_later(
// CHECK: transformer.attention %[[Q:.*]], %[[K:.*]], %[[K]] into %[[R:.*]] {heads
// CHECK: transformer.add %[[Q]], %[[R]] into
func.func private @result_over_queries(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %q = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  %r = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.activation relu %x into %q : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.attention %q, %x, %x into %r {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.activation relu %r into %x : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}
func.func private @queries_that_are_keys(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %q = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  %r = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.activation relu %x into %q : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.attention %q, %q, %q into %r {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.activation relu %r into %x : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}
func.func private @queries_that_are_read_later(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %q = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  %r = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.activation relu %x into %q : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.attention %q, %x, %x into %r {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.add %q, %r into %x : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// The memory of a result is free until it is written: of two buffers that meet
// one takes it, and none that the result is made of.

// CHECK-LABEL: func.func private @memory_of_a_result(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32> {{[^,]*}}, %[[Y:[^:]*]]: memref<?x8xf32>
// CHECK: %[[B:.*]] = memref.view %{{.*}}[%c0]
// CHECK: transformer.activation relu %[[X]] into %[[Y]]
// CHECK: transformer.activation relu %[[Y]] into %[[B]]
// CHECK: transformer.activation gelu %[[B]] into %[[C:.*]] :
// CHECK: transformer.add %[[B]], %[[C]] into %[[Y]]
func.func private @memory_of_a_result(%x: memref<?x8xf32> {transformer.dims = ["rows"]}, %y: memref<?x8xf32> {transformer.dims = ["rows"], transformer.output}) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%rows) : memref<?x8xf32>
  %b = memref.alloc(%rows) : memref<?x8xf32>
  %c = memref.alloc(%rows) : memref<?x8xf32>
  transformer.activation relu %x into %a : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation relu %a into %b : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation gelu %b into %c : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.add %b, %c into %y : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @memory_of_other_rows(
// CHECK: %[[A:.*]] = memref.view
// CHECK: transformer.activation relu %[[X:.*]] into %[[A]] :
// CHECK: transformer.activation relu %[[A]] into %[[X]]
func.func private @memory_of_other_rows(%x: memref<?x8xf32> {transformer.dims = ["rows"]}, %y: memref<?x8xf32> {transformer.dims = ["others"], transformer.output}) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%rows) : memref<?x8xf32>
  transformer.activation relu %x into %a : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation relu %a into %x : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation relu %y into %y : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func private @declaration_is_left_alone(memref<16xf32>)
// CHECK-NOT: func.func
func.func private @declaration_is_left_alone(memref<16xf32>)
