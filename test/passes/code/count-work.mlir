// What a kernel has to do, as a function of its arguments.
// RUN: heddle-opt %s -transformer-count-work -split-input-file | FileCheck %s
// RUN: heddle-opt %s -transformer-count-work -transformer-lower-to-loops -canonicalize -split-input-file | FileCheck %s --check-prefix=LOOPS

// Two flops a multiply-add, of the result's rows; every operand once.

// CHECK-LABEL: func.func private @linear(
// CHECK-SAME: attributes {transformer.kernel, transformer.work = @linear.work}
// CHECK: transformer.linear
// CHECK-LABEL: func.func private @linear.work(
// CHECK-SAME: -> (index, index) attributes {llvm.linkage = #llvm.linkage<internal>, transformer.kernel}
// CHECK-NOT: transformer.linear
// CHECK: return

// LOOPS-LABEL: func.func private @linear.work(
// LOOPS: %[[ROWS:.*]] = memref.dim %{{.*}}, %c0
// LOOPS: %[[FLOPS:.*]] = arith.muli %[[ROWS]], %c256
// LOOPS: return %[[FLOPS]], %{{.*}} : index, index
func.func private @linear(%x: memref<?x8xf32>, %w: memref<8x16xf32>, %y: memref<?x16xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<8x16xf32>, memref<?x16xf32>) -> ()
  return
}

// -----

// Attention counts the pairs that its mask's ranges allow, query by query. The
// mask itself is not needed any more.

// CHECK-LABEL: func.func private @attention.work(
// CHECK-NOT: transformer.{{mask|attention}}
// CHECK: scf.for %[[HEAD:.*]] = %c0{{[_0-9]*}} to %c2
// CHECK: scf.for %[[SENTENCE:.*]] = %c0{{[_0-9]*}} to
// CHECK: scf.for %[[QUERY:.*]] = %c0{{[_0-9]*}} to
// CHECK: memref.load %{{.*}}[%[[SENTENCE]]] : memref<?xi32>
// CHECK: return
func.func private @attention(%q: memref<?x?x8xf32>, %k: memref<?x?x8xf32>, %v: memref<?x?x8xf32>, %lengths: memref<?xi32>, %y: memref<?x?x8xf32>) attributes {transformer.kernel} {
  %mask = transformer.mask.padding %lengths : memref<?xi32>
  transformer.attention %q, %k, %v mask(%mask) into %y {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, !transformer.mask, memref<?x?x8xf32>) -> ()
  return
}

// -----

// Queries of a list see as many keys as their sequence has.

// CHECK-LABEL: func.func private @ragged_keys.work(
// CHECK-SAME: %{{[^:]*}}: memref<?xi32>, %[[LENGTHS:[^:]*]]: memref<?xi32>
// CHECK: scf.for %[[SENTENCE:.*]] = %c0{{[_0-9]*}} to
// CHECK: memref.load %[[LENGTHS]][%{{.*}}] : memref<?xi32>
// CHECK: scf.for
// CHECK: return
func.func private @ragged_keys(%q: memref<?x?x8xf32>, %k: memref<?x8xf32>, %v: memref<?x8xf32>, %starts: memref<?xi32>, %lengths: memref<?xi32>, %y: memref<?x?x8xf32>) attributes {transformer.kernel} {
  transformer.attention %q, %k, %v ragged_keys(%starts, %lengths) into %y {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?xi32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// A region counts what it computes and adds up, an element each: 12 and 1 of a
// pair here, beside 8 of its value.

// CHECK-LABEL: func.func private @similarity.work(
// CHECK: arith.muli %{{.*}}, %c21{{[_0-9]*}}
// CHECK: return

// LOOPS-LABEL: func.func private @similarity.work(
func.func private @similarity(%x: memref<?x?x8xf32>, %y: memref<?x?x8xf32>) attributes {transformer.kernel} {
  transformer.attention %x, %x, %x into %y {heads = 2 : i64} similarity {
  ^bb0(%q: vector<4xf32>, %k: vector<4xf32>):
    %d = arith.subf %q, %k : vector<4xf32>
    %p = math.absf %d : vector<4xf32>
    %sum = vector.reduction <add>, %p : vector<4xf32> into f32
    %s = arith.negf %sum : f32
    transformer.yield %s : f32
  } : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// A candidate's row has the bytes of its type, and a logit, a bias and, of i8, a
// scale beside; an embedding reads the rows of its table that it takes.

// CHECK-LABEL: func.func private @embedding.work(
// CHECK: return

// LOOPS-LABEL: func.func private @candidates.work(
// LOOPS: arith.muli %{{.*}}, %c76{{[_0-9]*}}
// LOOPS-LABEL: func.func private @candidates_of_bf16.work(
// LOOPS: arith.muli %{{.*}}, %c136{{[_0-9]*}}
// LOOPS-LABEL: func.func private @embedding.work(
// LOOPS: arith.muli %{{.*}}, %c16{{[_0-9]*}}
func.func private @candidates(%x: memref<?x64xi8>, %s: memref<?xf32>, %t: memref<900x64xi8>, %scales: memref<900xf32>, %b: memref<900xf32>, %counts: memref<?xi32>, %ids: memref<?x?xi32>, %of: memref<?xi32>, %y: memref<?x?xf32>) attributes {transformer.kernel} {
  transformer.candidate_logits %x scales(%s), %t scales(%scales), %b, %counts gather(%ids) of %of into %y : (memref<?x64xi8>, memref<?xf32>, memref<900x64xi8>, memref<900xf32>, memref<900xf32>, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?x?xf32>) -> ()
  return
}
func.func private @candidates_of_bf16(%x: memref<?x64xbf16>, %t: memref<900x64xbf16>, %b: memref<900xf32>, %counts: memref<?xi32>, %ids: memref<?x?xi32>, %of: memref<?xi32>, %y: memref<?x?xf32>) attributes {transformer.kernel} {
  transformer.candidate_logits %x, %t, %b, %counts gather(%ids) of %of into %y : (memref<?x64xbf16>, memref<900x64xbf16>, memref<900xf32>, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?x?xf32>) -> ()
  return
}
func.func private @embedding(%ids: memref<?xi32>, %t: memref<9x8xbf16>, %y: memref<?x8xf32>) attributes {transformer.kernel} {
  transformer.embedding %ids, %t widen into %y : (memref<?xi32>, memref<9x8xbf16>, memref<?x8xf32>) -> ()
  return
}

// -----

// What is no layer op alone has no work to speak of.

// CHECK-NOT: transformer.work
// CHECK-NOT: .work
func.func private @loops(%x: memref<4xf32>) attributes {transformer.kernel} {
  return
}
func.func private @two(%x: memref<?x8xf32>) attributes {transformer.kernel} {
  transformer.activation relu %x into %x : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation tanh %x into %x : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
func.func private @no_kernel(%x: memref<?x8xf32>) {
  transformer.activation relu %x into %x : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// A key and a query each pass over the sums of a head and its totals: 2 * 4 * 5
// flops. Keys behind a length are none.

// CHECK-LABEL: func.func private @linear_attention(
// CHECK: transformer.linear_attention
// CHECK-LABEL: func.func private @linear_attention.work(
// CHECK-NOT: transformer.linear_attention
// CHECK: return

// LOOPS-LABEL: func.func private @linear_attention.work(
// LOOPS: %[[KEYS:.*]] = scf.for
// LOOPS: memref.load
// LOOPS: arith.minsi
// LOOPS: arith.muli %[[KEYS]], %c80
// LOOPS: arith.muli %{{.*}}, %c160
func.func private @linear_attention(%q: memref<?x?x16xf32>, %k: memref<?x?x8xf32>, %n: memref<?xi32>, %y: memref<?x?x16xf32>) attributes {transformer.kernel} {
  transformer.linear_attention %q, %k, %k lengths(%n) into %y {heads = 4 : i64, kv_heads = 2 : i64} : (memref<?x?x16xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?xi32>, memref<?x?x16xf32>) -> ()
  return
}

// -----

// A projection multiplies each element by as many numbers as it has rows, and
// reads as many columns as there are positions.

// CHECK-LABEL: func.func private @project_sequence.work(
// CHECK: return

// LOOPS-LABEL: func.func private @project_sequence.work(
// LOOPS: arith.muli %{{.*}}, %c64
// LOOPS: arith.muli %{{.*}}, %c16
func.func private @project_sequence(%x: memref<?x?x8xf32>, %e: memref<4x16xf32>, %y: memref<?x4x8xf32>) attributes {transformer.kernel} {
  transformer.project_sequence %x, %e into %y : (memref<?x?x8xf32>, memref<4x16xf32>, memref<?x4x8xf32>) -> ()
  return
}

// -----

// Rows are read and written, with their lists; what they are taken from, or put
// into, may be any size.

// CHECK-LABEL: func.func private @take_rows.work(
// CHECK: return

// LOOPS-LABEL: func.func private @take_rows.work(
// LOOPS-SAME: %[[X:[^:]*]]: memref<?x?x8xf32>
// LOOPS-NOT: memref.dim %[[X]]
// LOOPS: arith.muli %{{.*}}, %c64
// LOOPS: return
func.func private @take_rows(%x: memref<?x?x8xf32>, %at: memref<?x?xi32>, %y: memref<?x?x8xf32>) attributes {transformer.kernel} {
  transformer.take_rows %x at %at into %y : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  return
}

// LOOPS-LABEL: func.func private @put_rows.work(
// LOOPS-SAME: memref<?x?x8xf32>, %{{.*}}: memref<?x?xi32>, %[[X:[^:]*]]: memref<?x?x8xf32>
// LOOPS-NOT: memref.dim %[[X]]
// LOOPS: arith.muli %{{.*}}, %c64
// LOOPS: return
func.func private @put_rows(%r: memref<?x?x8xf32>, %at: memref<?x?xi32>, %x: memref<?x?x8xf32>) attributes {transformer.kernel} {
  transformer.put_rows %r at %at into %x : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  return
}
