// RUN: not heddle-opt %s -transformer-tile-attention=isa=sparc 2>&1 | FileCheck %s
// CHECK: error: unknown target 'sparc' (supported: native, portable, x86-64-v3, avx-vnni, x86-64-v4, avx512-vnni, avx512-bf16, amx)
func.func private @f() {
  return
}
