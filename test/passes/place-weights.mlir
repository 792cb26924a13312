// Offsets in the weights section, in the order of declaration.
// RUN: heddle-opt %s -transformer-place-weights -split-input-file | FileCheck %s

// CHECK-LABEL: module @unused_parameter_is_dropped
// CHECK-NEXT: transformer.parameter @w : tensor<8x8xf32> placed at 0
// CHECK-NOT: @unused
module @unused_parameter_is_dropped {
  transformer.parameter @w : tensor<8x8xf32>
  transformer.parameter @unused : tensor<8xf32>
  func.func private @f() {
    %w = transformer.weight @w : memref<8x8xf32>
    return
  }
}

// -----

// Declaration decides, not the order of reading; 4 bytes take a line of 64 and
// 68 bytes take two. What stands in the file stays as it was.

// CHECK-LABEL: module @order_and_alignment
// CHECK-NEXT: transformer.parameter @b : tensor<1xf32> placed at 0
// CHECK-NEXT: transformer.parameter @a : tensor<17xf32> from <"model.bin", offset = 12, encoding = f16> placed at 64
// CHECK-NEXT: transformer.parameter @c : tensor<4x4xf32> transposed placed at 192
// CHECK-NEXT: transformer.parameter @d : tensor<2xf32> placed at 256
module @order_and_alignment {
  transformer.parameter @b : tensor<1xf32>
  transformer.parameter @a : tensor<17xf32> from <"model.bin", offset = 12, encoding = f16>
  transformer.parameter @c : tensor<4x4xf32> transposed
  transformer.parameter @d : tensor<2xf32>
  func.func private @f() {
    %d = transformer.weight @d : tensor<2xf32>
    %c = transformer.weight @c : tensor<4x4xf32>
    %a = transformer.weight @a : tensor<17xf32>
    %b = transformer.weight @b : tensor<1xf32>
    return
  }
}

// -----

// Read twice, by two functions, is stored once.

// CHECK-LABEL: module @read_twice
// CHECK-COUNT-1: transformer.parameter @shared : tensor<4xf32> placed at 0
// CHECK-NEXT: transformer.parameter @last : tensor<4xf32> placed at 64
// CHECK-NOT: transformer.parameter
module @read_twice {
  transformer.parameter @shared : tensor<4xf32>
  transformer.parameter @last : tensor<4xf32>
  func.func private @f() {
    %0 = transformer.weight @shared : tensor<4xf32>
    %1 = transformer.weight @shared : tensor<4xf32>
    return
  }
  func.func private @g() {
    %0 = transformer.weight @shared : tensor<4xf32>
    %1 = transformer.weight @last : tensor<4xf32>
    return
  }
}

// -----

// An older place is only a proposal.

// CHECK-LABEL: module @placed_again
// CHECK-NEXT: transformer.parameter @w : tensor<4xf32> placed at 0
module @placed_again {
  transformer.parameter @w : tensor<4xf32> placed at 640
  func.func private @f() {
    %0 = transformer.weight @w : tensor<4xf32>
    return
  }
}

// -----

// A parameter that another is made of is stored only where something reads it.

// CHECK-LABEL: module @parts
// CHECK-NEXT: transformer.parameter @q : tensor<8x4xf32> placed at 0
// CHECK-NEXT: transformer.parameter @k : tensor<8x4xf32>{{$}}
// CHECK-NEXT: transformer.parameter @half : tensor<8x4xf32> columns of [@k] scaled by 5.000000e-01{{$}}
// CHECK-NEXT: transformer.parameter @qk : tensor<8x8xf32> columns of [@q, @half] placed at 128
// CHECK-NOT: transformer.parameter
module @parts {
  transformer.parameter @q : tensor<8x4xf32>
  transformer.parameter @k : tensor<8x4xf32> placed at 64
  transformer.parameter @half : tensor<8x4xf32> columns of [@k] scaled by 0.5
  transformer.parameter @qk : tensor<8x8xf32> columns of [@q, @half]
  transformer.parameter @unused : tensor<8x8xf32> columns of [@q, @half]
  func.func private @f() {
    %q = transformer.weight @q : tensor<8x4xf32>
    %qk = transformer.weight @qk : tensor<8x8xf32>
    return
  }
}
