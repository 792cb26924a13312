// RUN: not heddle-opt %s -transformer-emit-kernels=isa=amx 2>&1 | FileCheck %s --check-prefix=AMX
// RUN: not heddle-opt %s -transformer-emit-kernels=isa=avx2 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// AMX: error: ISA level 'amx' is not supported yet
// UNKNOWN: error: unknown target 'avx2' (supported: native, portable, x86-64-v3, x86-64-v4, avx512-bf16)
module {}
