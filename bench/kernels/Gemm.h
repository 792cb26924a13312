//===- Gemm.h - linear beside oneDNN's matmul -------------------*- C++ -*-===//

#ifndef HEDDLE_BENCH_KERNELS_GEMM_H
#define HEDDLE_BENCH_KERNELS_GEMM_H

#include <string>

namespace heddle::bench {

/// Adds y = x W + b for many shapes and little, compiled for an ISA level,
/// beside oneDNN's f32 matmul with weights in the order that it likes best.
/// Returns an error's sentence, or nothing.
std::string addGemms(const std::string &target);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_GEMM_H
