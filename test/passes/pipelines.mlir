// From a small encoder-decoder to loops, and to the LLVM dialect.
// RUN: heddle-opt %s -heddle-reference -o %t
// RUN: FileCheck %s --input-file %t
// RUN: FileCheck %s --input-file %t --check-prefix=LOOPS
// RUN: heddle-opt %t -heddle-llvm | FileCheck %s --check-prefix=LLVM

// With kernels, in parts and in one.
// RUN: heddle-opt %s -heddle-model -o %t.model
// RUN: heddle-opt %t.model -heddle-tiles=isa=x86-64-v4 -o %t.tiles
// RUN: FileCheck %s --input-file %t.tiles --check-prefix=TILES
// RUN: heddle-opt %t.tiles -heddle-kernels=isa=x86-64-v4 -o %t.kernels
// RUN: FileCheck %s --input-file %t.kernels --check-prefix=LOOPS
// RUN: heddle-opt %s -heddle-model -heddle-tiles=isa=x86-64-v4 \
// RUN:   -heddle-kernels=isa=x86-64-v4 | diff - %t.kernels
// RUN: heddle-opt %t.kernels -heddle-llvm | FileCheck %s --check-prefix=LLVM

// TILES: transformer.linear.tile
// TILES: transformer.online.probabilities

// Entry points and their arenas, and behind them what they call.

// CHECK: transformer.parameter @table : tensor<9x8xf32> placed at 0
// CHECK-NEXT: transformer.parameter @key : tensor<8x8xf32> placed at 320
// CHECK-NEXT: func.func @heddle.encode(
// CHECK: func.func @heddle.encode.arena(
// CHECK: func.func @heddle.decode(
// CHECK: func.func @heddle.decode.arena(
// CHECK: func.func @heddle.decode.prepare(
// CHECK: func.func @heddle.decode.prepare.arena(
// CHECK: func.func @heddle.decode.step(
// CHECK-SAME: {dtype = "i32", kind = "input", name = "ids", shape = ["rows"]}
// CHECK-SAME: {dtype = "f32", kind = "prepared", name = "prepared0", shape = ["batch", "source", 8]}
// CHECK-SAME: {dtype = "f32", kind = "state", name = "state0", shape = ["caches", "capacity", 8]}
// CHECK-SAME: {dtype = "f32", kind = "output", name = "logits", shape = ["rows", 8]}
// CHECK-SAME: decoder = "decode", {{.*}}role = "step"
// CHECK: func.func @heddle.decode.step.arena(
// CHECK: func.func @heddle.decode.beam(
// CHECK: func.func @heddle.decode.beam.arena(
// CHECK: func.func @heddle.decode.chunk(
// CHECK: func.func @heddle.decode.chunk.arena(
// CHECK-NOT: @heddle.
// CHECK: func.func private @embedding_8(
// CHECK-NOT: @heddle.
// CHECK: func.func @heddle.scratch() -> i64
// CHECK-NOT: @heddle.

// Parameters are all that is left of the dialect; memory is all planned.

// LOOPS-NOT: {{^ *(%[^ ]+ = )?transformer\.[a-oq-z]}}
// LOOPS-NOT: !transformer.
// LOOPS-NOT: tensor.
// LOOPS-NOT: memref.alloc(
// LOOPS-NOT: memref.copy
// LOOPS-NOT: bufferization.

// LLVM: transformer.parameter @table
// LLVM-NEXT: transformer.parameter @key
// LLVM-NOT: {{^ *(%[^ ]+ = )?(arith|builtin|cf|func|math|memref|scf|vector)\.}}
// LLVM-NOT: unrealized_conversion_cast
// LLVM: llvm.func @heddle.decode.step(
// LLVM-NOT: {{^ *(%[^ ]+ = )?(arith|builtin|cf|func|math|memref|scf|vector)\.}}
// LLVM-NOT: unrealized_conversion_cast

transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @key : tensor<8x8xf32>
transformer.parameter @unused : tensor<8x8xf32>

func.func private @encode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "source"]}) -> (tensor<?x?x8xf32> {transformer.name = "memory"}) attributes {transformer.forms = ["full"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %p = transformer.positions.sinusoidal %x {timescales = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %p : tensor<?x?x8xf32>
}

func.func private @decode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %lengths: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["full", "step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %key = transformer.weight @key : tensor<8x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %k = transformer.linear %x, %key : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  %self = transformer.attention %x, %k, %x mask(%causal) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %c = transformer.recurrence %x, %self : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %mk = transformer.linear %memory, %key : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  %y = transformer.attention %c, %mk, %mk mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %g = transformer.activation gelu %y : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %g : tensor<?x?x8xf32>
}
