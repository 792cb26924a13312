//===- OmittedCall.h - A bug that is planted in a kernel --------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_OMITTEDCALL_H
#define HEDDLE_TEST_EMULATOR_OMITTEDCALL_H

namespace llvm {
class Module;
}

namespace heddle::emulator {

/// Leaves one call out of a module where HEDDLE_EMULATOR_OMIT is NUMBER:TEXT:
/// that one, from 1, of the calls of intrinsics and inline assembly whose names
/// or text hold TEXT and that return nothing or, as the assembly of a wait
/// does, what they are given. Returns whether there was one.
bool omitCall(llvm::Module &module);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_OMITTEDCALL_H
