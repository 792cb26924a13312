// Functions that the runtime could not call.
// RUN: heddle-opt %s -transformer-build-host-functions -verify-diagnostics -split-input-file

// expected-error @below {{returns 1 values that bufferisation could not write in place}}
func.func private @result(%x: memref<4xf32> {transformer.name = "x"}) -> memref<4xf32> attributes {transformer.dims = []} {
  return %x : memref<4xf32>
}

// -----

// expected-error @below {{argument #0 of type 'memref<4xf32>' cannot be passed by the runtime: expected a dense memref with 'transformer.name'}}
func.func private @argument_without_a_name(%x: memref<4xf32>) attributes {transformer.dims = []} {
  return
}

// -----

// expected-error @below {{argument #1 of type 'index' cannot be passed by the runtime}}
func.func private @scalar_argument(%x: memref<4xf32> {transformer.name = "x"}, %n: index {transformer.name = "n"}) attributes {transformer.dims = []} {
  return
}

// -----

// expected-error @below {{argument #0 of type 'memref<4x4xf32, strided<[8, 1]>>' cannot be passed by the runtime}}
func.func private @strided_argument(%x: memref<4x4xf32, strided<[8, 1]>> {transformer.name = "x"}) attributes {transformer.dims = []} {
  return
}

// -----

// expected-error @below {{argument 'ids' has elements of type 'i64', expected f32, bf16, f16, i32 or i8}}
func.func private @wide_elements(%ids: memref<4xi64> {transformer.name = "ids"}) attributes {transformer.dims = []} {
  return
}

// -----

// expected-error @below {{has two arguments named 'x'}}
func.func private @names_are_unique(%x: memref<4xf32> {transformer.name = "x"}, %y: memref<4xf32> {transformer.name = "x"}) attributes {transformer.dims = []} {
  return
}

// -----

// expected-error @below {{has no planned memory: 'transformer.dims' is missing}}
func.func private @memory_without_a_plan(%x: memref<4xf32> {transformer.name = "x"}) {
  return
}

// -----

transformer.parameter @w : tensor<4xf32>
func.func private @parameter_without_a_place(%x: memref<4xf32> {transformer.name = "x"}) attributes {transformer.dims = []} {
  // expected-error @below {{'transformer.weight' op reads parameter 'w', which has no place in the artifact}}
  %w = transformer.weight @w : memref<4xf32>
  return
}

// -----

// expected-error @below {{has 'transformer.arena' and expects sizes of type index and one result, found '() -> ()'}}
func.func private @arena_without_a_size() attributes {transformer.arena = @f} {
  return
}

// -----

func.func private @op_without_a_lowering(%x: memref<4xf32> {transformer.name = "x"}) attributes {transformer.dims = []} {
  // expected-error @below {{'linalg.exp' op has no lowering to machine code}}
  linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

func.func private @assembly(%x: memref<4xf32> {transformer.name = "x"}) attributes {transformer.dims = []} {
  // expected-error @below {{'llvm.inline_asm' op has no lowering to machine code}}
  llvm.inline_asm has_side_effects "bogus", "" : () -> ()
  return
}

// -----

func.func private @assertion(%x: memref<4xf32> {transformer.name = "x"}) attributes {transformer.dims = []} {
  %no = arith.constant false
  // expected-error @below {{'cf.assert' op has no lowering to machine code}}
  cf.assert %no, "an entry point cannot fail"
  return
}

// -----

// expected-error @below {{'llvm.func' op is no part of a model: expected functions and parameters}}
llvm.func @foreign_function()
