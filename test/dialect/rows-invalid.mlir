// The constraint of Rows.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @rows_c1_width(%x: memref<?x?xf32>, %n: index) {
  // expected-error @below {{expects a dense buffer with only the first dimension dynamic, found 'memref<?x?xf32>'}}
  %y = transformer.rows %x[%n for %n] : memref<?x?xf32>
  return
}

// -----

func.func @rows_c1_count(%x: memref<4x8xf32>, %n: index) {
  // expected-error @below {{expects a dense buffer with only the first dimension dynamic, found 'memref<4x8xf32>'}}
  %y = transformer.rows %x[%n for %n] : memref<4x8xf32>
  return
}

// -----

func.func @rows_c1_dense(%x: memref<?x8xf32, strided<[16, 1]>>, %n: index) {
  // expected-error @below {{expects a dense buffer with only the first dimension dynamic, found 'memref<?x8xf32, strided<[16, 1]>>'}}
  %y = transformer.rows %x[%n for %n] : memref<?x8xf32, strided<[16, 1]>>
  return
}
