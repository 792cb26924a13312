// One case per constraint of Tiles.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @linear_tile_c1(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %y: memref<?x32xf32>, %i: index) {
  // expected-error @below {{expects 8 or 16 columns, or a multiple of 32, found 12}}
  transformer.linear.tile %x, %w into %y at [%i, %i] rows 1 columns 12 : (memref<?x8xf32>, memref<1x8x32xf32>, memref<?x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_tile_c1_panels(%x: memref<?x8xf32>, %w: memref<2x8x32xf32>, %y: memref<?x64xf32>, %i: index) {
  // expected-error @below {{expects 8 or 16 columns, or a multiple of 32, found 48}}
  transformer.linear.tile %x, %w into %y at [%i, %i] rows 1 columns 48 : (memref<?x8xf32>, memref<2x8x32xf32>, memref<?x64xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_tile_c2(%x: memref<?x7xf32>, %w: memref<1x8x32xf32>, %y: memref<?x32xf32>, %i: index) {
  // expected-error @below {{expects x [rows, in], panels of [in, out], a bias [out], a residual and y [rows, out]}}
  transformer.linear.tile %x, %w into %y at [%i, %i] rows 1 columns 32 : (memref<?x7xf32>, memref<1x8x32xf32>, memref<?x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_tile_c3(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %y: memref<?x32xf32>, %i: index) {
  // expected-error @below {{expects next and fetched together}}
  "transformer.linear.tile"(%x, %w, %y, %i, %i, %i) <{columns = 32 : i64, rows = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0>}> : (memref<?x8xf32>, memref<1x8x32xf32>, memref<?x32xf32>, index, index, index) -> ()
  return
}

// -----

func.func @linear_tile_c3_ahead(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %y: memref<?x32xf32>, %i: index) {
  // expected-error @below {{expects either next or ahead}}
  transformer.linear.tile %x, %w into %y at [%i, %i] next %i fetched %i ahead rows 1 columns 32 : (memref<?x8xf32>, memref<1x8x32xf32>, memref<?x32xf32>, index, index, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c1(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects 8 or 16 columns, or a multiple of 32, found 12}}
  transformer.linear.sums %x, %w into %s at [%i, %i] rows 1 columns 12 : (memref<?x8xf32>, memref<1x8x32xf32>, memref<1x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c2(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects x [rows, in], panels of [in, out] and sums of at least 2 x 32}}
  transformer.linear.sums %x, %w into %s at [%i, %i] rows 2 columns 32 : (memref<?x8xf32>, memref<1x8x32xf32>, memref<1x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c2_depth(%x: memref<?x7xf32>, %w: memref<1x8x32xf32>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects x [rows, in], panels of [in, out] and sums of at least 1 x 32}}
  transformer.linear.sums %x, %w into %s at [%i, %i] rows 1 columns 32 : (memref<?x7xf32>, memref<1x8x32xf32>, memref<1x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c3(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects next and fetched together}}
  "transformer.linear.sums"(%x, %w, %s, %i, %i, %i) <{columns = 32 : i64, rows = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 1, 1, 0, 0>}> ({}) : (memref<?x8xf32>, memref<1x8x32xf32>, memref<1x32xf32>, index, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c3_from(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects from and inputs together}}
  "transformer.linear.sums"(%x, %w, %s, %i, %i, %i) <{columns = 32 : i64, rows = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 1, 0, 0, 1>}> ({}) : (memref<?x8xf32>, memref<1x8x32xf32>, memref<1x32xf32>, index, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c4(%x: memref<?x8xbf16>, %w: memref<1x4x32x2xbf16>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects inputs in groups of 2, no more than 8, found 3}}
  transformer.linear.sums %x, %w into %s at [%i, %i] from %i inputs 3 rows 1 columns 32 : (memref<?x8xbf16>, memref<1x4x32x2xbf16>, memref<1x32xf32>, index, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c4_depth(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects inputs in groups of 1, no more than 8, found 9}}
  transformer.linear.sums %x, %w into %s at [%i, %i] from %i inputs 9 rows 1 columns 32 : (memref<?x8xf32>, memref<1x8x32xf32>, memref<1x32xf32>, index, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c5(%x: memref<?x64xf32>, %w: memref<1x68x32xi8>, %p: memref<32x32x2xbf16>, %s: memref<16x32xf32>, %i: index) {
  // expected-error @below {{expects x of bf16, 32 columns and a multiple of 16 rows beside an unpacked panel}}
  transformer.linear.sums %x, %w unpacked(%p) into %s at [%i, %i] rows 16 columns 32 : (memref<?x64xf32>, memref<1x68x32xi8>, memref<32x32x2xbf16>, memref<16x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c5_rows(%x: memref<?x64xbf16>, %w: memref<1x68x32xi8>, %p: memref<32x32x2xbf16>, %s: memref<16x32xf32>, %i: index) {
  // expected-error @below {{expects x of bf16, 32 columns and a multiple of 16 rows beside an unpacked panel}}
  transformer.linear.sums %x, %w unpacked(%p) into %s at [%i, %i] rows 3 columns 32 : (memref<?x64xbf16>, memref<1x68x32xi8>, memref<32x32x2xbf16>, memref<16x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c5_groups(%x: memref<?x64xbf16>, %w: memref<1x68x32xi8>, %p: memref<16x32x2xbf16>, %s: memref<16x32xf32>, %i: index) {
  // expected-error @below {{expects an unpacked panel [32, 32, 2], found 'memref<16x32x2xbf16>'}}
  transformer.linear.sums %x, %w unpacked(%p) into %s at [%i, %i] rows 16 columns 32 : (memref<?x64xbf16>, memref<1x68x32xi8>, memref<16x32x2xbf16>, memref<16x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_sums_c6(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %s: memref<1x32xf32>, %i: index) {
  // expected-error @below {{expects one argument beside it, an index}}
  transformer.linear.sums %x, %w into %s at [%i, %i] rows 1 columns 32 beside {
  ^bb0(%a: i32):
  } : (memref<?x8xf32>, memref<1x8x32xf32>, memref<1x32xf32>, index, index) -> ()
  return
}

// -----

func.func @linear_unpack_c1(%w: memref<1x67x32xi8>, %p: memref<32x32x2xbf16>, %i: index) {
  // expected-error @below {{expects panels [1, 34 in / 32, 32] of i8 to unpack, found 'memref<1x67x32xi8>'}}
  transformer.linear.unpack %w into %p at %i : (memref<1x67x32xi8>, memref<32x32x2xbf16>, index) -> ()
  return
}

// -----

func.func @linear_finish_c1(%s: memref<1x32xf32>, %y: memref<?x32xf32>, %i: index) {
  // expected-error @below {{expects 8 or 16 columns, or a multiple of 32, found 24}}
  transformer.linear.finish %s into %y at [%i, %i] rows %i columns 24 : (memref<1x32xf32>, memref<?x32xf32>, index, index, index) -> ()
  return
}

// -----

func.func @linear_finish_c2(%s: memref<1x16xf32>, %y: memref<?x32xf32>, %i: index) {
  // expected-error @below {{expects sums of at least 32 columns, a bias [out], a residual and y [rows, out]}}
  transformer.linear.finish %s into %y at [%i, %i] rows %i columns 32 : (memref<1x16xf32>, memref<?x32xf32>, index, index, index) -> ()
  return
}

// -----

func.func @linear_finish_c2_bias(%s: memref<1x32xf32>, %b: memref<31xf32>, %y: memref<?x32xf32>, %i: index) {
  // expected-error @below {{expects sums of at least 32 columns, a bias [out], a residual and y [rows, out]}}
  transformer.linear.finish %s, %b into %y at [%i, %i] rows %i columns 32 : (memref<1x32xf32>, memref<31xf32>, memref<?x32xf32>, index, index, index) -> ()
  return
}
