//===- Operation.h - What an NVPTX operation does on the host ---*- C++ -*-===//
//
// Intrinsics and the instructions of inline assembly have names in common but
// for spelling: `shfl.sync.bfly.i32` and `shfl.sync.bfly.b32`. Each becomes an
// Operation, which generated code calls with its operands in words of 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_OPERATION_H
#define HEDDLE_TEST_EMULATOR_OPERATION_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::emulator {

struct Context;
struct Operation;

/// Runs an operation for one thread. Operands are zero-extended to words, and
/// so are results.
using Handler = void (*)(Context &context, const Operation &operation,
                         const uint64_t *operands, uint64_t *results);

struct Operation {
  virtual ~Operation() = default;

  Handler handler = nullptr;
  /// As it is written, for sentences.
  std::string name;
  /// Whether threads wait for each other in it, or for copies: the kernel needs
  /// fibers.
  bool waits = false;
  /// What the name says, as its handler counts it.
  int detail[6] = {0, 0, 0, 0, 0, 0};
};

/// The operation of an intrinsic without `llvm.nvvm.`; null where none is
/// known.
std::unique_ptr<Operation> makeIntrinsic(std::string_view name);

/// The operation of inline assembly with these constraints. Null where a part
/// of it is unknown, and `problem` says which.
std::unique_ptr<Operation> makeAssembly(std::string_view text,
                                        std::string_view constraints,
                                        std::string &problem);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_OPERATION_H
