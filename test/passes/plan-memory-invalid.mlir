// Memory that cannot be planned.
// RUN: heddle-opt %s -transformer-plan-memory -verify-diagnostics -split-input-file

func.func private @allocation_inside_a_region(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{'memref.alloc' op allocates inside a region: scratch of a loop has to be planned outside of it}}
    %a = memref.alloc() : memref<16xf32>
    transformer.activation relu %x into %a : (memref<16xf32>, memref<16xf32>) -> ()
  }
  return
}

// -----

func.func private @size_that_is_computed(%x: memref<?xf32> {transformer.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?xf32>
  %more = arith.addi %rows, %rows : index
  // expected-error @below {{'memref.alloc' op has a size that is no product of named dimensions}}
  %a = memref.alloc(%more) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  return
}

// -----

func.func private @size_that_is_an_argument(%x: memref<?xf32> {transformer.dims = ["rows"]}, %n: index) {
  // expected-error @below {{'memref.alloc' op has a size that is no product of named dimensions}}
  %a = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  return
}

// -----

func.func private @size_that_overflows(%x: memref<4294967296x4294967296xf32>) {
  // expected-error @below {{'memref.alloc' op has more than 1099511627776 bytes, of type 'memref<4294967296x4294967296xf32>'}}
  %a = memref.alloc() : memref<4294967296x4294967296xf32>
  memref.copy %x, %a : memref<4294967296x4294967296xf32> to memref<4294967296x4294967296xf32>
  return
}

// -----

func.func private @elements_of_unknown_size(%x: memref<4xcomplex<f32>>) {
  // expected-error @below {{'memref.alloc' op has elements of unknown size, of type 'complex<f32>'}}
  %a = memref.alloc() : memref<4xcomplex<f32>>
  memref.copy %x, %a : memref<4xcomplex<f32>> to memref<4xcomplex<f32>>
  return
}

// -----

// expected-error @below {{argument #1 of type 'memref<?x?xf32>' does not name its dynamic dimensions in 'transformer.dims'}}
func.func private @argument_that_names_too_few(%x: memref<?xf32> {transformer.dims = ["rows"]}, %y: memref<?x?xf32> {transformer.dims = ["rows"]}) {
  return
}

// -----

// expected-error @below {{expects one block to plan the memory of, found 2}}
func.func private @two_blocks() {
  cf.br ^exit
^exit:
  return
}

// -----

func.func private @freed_memory(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  // expected-error @below {{'memref.dealloc' op frees memory, which the arena holds until the call ends}}
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

func.func private @two_bounds(%x: memref<?x?xf32> {transformer.dims = ["rows", "columns"]}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %some = arith.minui %rows, %c8 : index
  // expected-error @below {{'memref.alloc' op has a size that is no product of named dimensions}}
  %a = memref.alloc(%some, %some) : memref<?x?xf32>
  memref.copy %x, %a : memref<?x?xf32> to memref<?x?xf32>
  return
}
