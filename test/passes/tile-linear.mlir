// RUN: heddle-opt %s -transformer-tile-linear=isa=x86-64-v3 -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: heddle-opt %s -transformer-tile-linear=isa=x86-64-v4 -split-input-file | FileCheck %s --check-prefixes=CHECK,V4
// RUN: not heddle-opt %s -transformer-tile-linear=isa=amx 2>&1 | FileCheck %s --check-prefix=AMX

// AMX: error: ISA level 'amx' is not supported yet

// Whole tiles fill the registers; rows that are left over make all tiles a
// little smaller; few rows take more columns.
// CHECK-LABEL: @fills_registers
func.func private @fills_registers(%x: memref<?x256xf32>,
    %w: memref<48x256x32xf32>, %b: memref<1536xf32>, %y: memref<?x1536xf32>) {
  // CHECK: scf.forall
  // CHECK: scf.index_switch
  // CHECK: case 1
  // CHECK: rows 1 columns
  // V3-SAME: 64
  // V4-SAME: 128
  // V3: case 5
  // V3: transformer.linear.tile %arg0, %arg1, %arg2 into %arg3 at[%{{.*}}, %{{.*}}] rows 6 columns 16
  // V3: transformer.linear.tile %{{.*}} rows 5 columns 16
  // V4: case 7
  // V4: transformer.linear.tile %arg0, %arg1, %arg2 into %arg3 at[%{{.*}}, %{{.*}}] rows 8 columns 32
  // V4: transformer.linear.tile %{{.*}} rows 7 columns 32
  // CHECK: default
  // V3: rows 6 columns 16
  // V4: rows 8 columns 32
  // CHECK-NOT: partial
  transformer.linear %x, %w, %b into %y
    : (memref<?x256xf32>, memref<48x256x32xf32>, memref<1536xf32>,
       memref<?x1536xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: @cuts_the_last_panel
func.func private @cuts_the_last_panel(%x: memref<?x5xf32>,
    %w: memref<2x5x32xf32>, %y: memref<?x33xf32>) {
  // CHECK: rows 1 columns 32 :
  // CHECK: rows 1 columns 32 partial
  transformer.linear %x, %w into %y
    : (memref<?x5xf32>, memref<2x5x32xf32>, memref<?x33xf32>) -> ()
  return
}

// -----

// Weights in rows are left to the reference lowering.
// CHECK-LABEL: @leaves_rows
func.func private @leaves_rows(%x: memref<?x8xf32>, %w: memref<8x8xf32>,
                               %y: memref<?x8xf32>) {
  // CHECK: transformer.linear %
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
  return
}
