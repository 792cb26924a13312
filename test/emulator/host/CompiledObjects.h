//===- CompiledObjects.h - Code of modules, for other processes -*- C++ -*-===//
//
// Most of the time of a small kernel is that of compiling it, and a test starts
// many processes with one artifact: the first one keeps the object of each
// module in a folder, and the others load it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_HOST_COMPILEDOBJECTS_H
#define HEDDLE_TEST_EMULATOR_HOST_COMPILEDOBJECTS_H

#include "llvm/ExecutionEngine/ObjectCache.h"

#include <string>

namespace heddle::emulator {

/// The objects in the folder of HEDDLE_EMULATOR_OBJECTS, by the bitcode of
/// their modules and how these are compiled; nothing is kept without that
/// variable. Processes may share the folder. A file that cannot be written is
/// none. One of these compiles one module.
class CompiledObjects : public llvm::ObjectCache {
public:
  /// `code`: the CPU and the effort.
  explicit CompiledObjects(std::string code);

  std::unique_ptr<llvm::MemoryBuffer>
  getObject(const llvm::Module *module) override;
  void notifyObjectCompiled(const llvm::Module *module,
                            llvm::MemoryBufferRef object) override;

private:
  std::string folder, code;
  /// Where the object stands: named before code generation changes the module.
  std::string path;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_HOST_COMPILEDOBJECTS_H
