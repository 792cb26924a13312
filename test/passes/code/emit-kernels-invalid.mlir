// RUN: not heddle-opt %s -transformer-emit-kernels=isa=avx2 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: unknown target 'avx2' (supported: native, portable, x86-64-v3, avx-vnni, x86-64-v4, avx512-vnni, avx512-bf16, amx)
module {}
