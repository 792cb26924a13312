//===- WarpKernels.h - Kernels of one operation -----------------*- C++ -*-===//
//
// A kernel in which each thread reads words of its own, does one operation with
// them, and writes what it gets: for tests of what warps do.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_WARPS_WARPKERNELS_H
#define HEDDLE_TEST_EMULATOR_WARPS_WARPKERNELS_H

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::emulator {

/// A body between loads and stores. It finds operands %i0, %i1, ... and leaves
/// %o0, %o1, ..., all i32; %t is the thread. Parameters are the inputs, by
/// thread and then by word, and the outputs.
std::string wordKernel(int numInputs, int numOutputs, const std::string &body,
                       const std::string &declarations);

/// Such a kernel around one intrinsic with operands and results of these types,
/// of 32 bits each or i1.
std::string intrinsicKernel(const std::string &name,
                            const std::vector<std::string> &inputs,
                            const std::vector<std::string> &outputs);

/// The same around one text of assembly; "$0" is the first result, behind which
/// come the operands.
std::string assemblyKernel(const std::string &text,
                           const std::vector<std::string> &inputs,
                           const std::vector<std::string> &outputs);

/// `count` times the same.
std::vector<std::string> times(int count, const std::string &type);
std::vector<std::string> operator+(std::vector<std::string> a,
                                   const std::vector<std::string> &b);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WARPS_WARPKERNELS_H
