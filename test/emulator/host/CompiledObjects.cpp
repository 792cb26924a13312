//===- CompiledObjects.cpp - Code of modules, for other processes ---------===//
//
// The bitcode says all that an object depends on: addresses of this process are
// symbols in it, and fields of a Context are offsets.
//
//===----------------------------------------------------------------------===//

#include "CompiledObjects.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <sys/time.h>

using namespace heddle::emulator;
using namespace llvm;

CompiledObjects::CompiledObjects(std::string code) : code(std::move(code)) {
  if (const char *value = std::getenv("HEDDLE_EMULATOR_OBJECTS"))
    folder = value;
}

std::unique_ptr<MemoryBuffer>
CompiledObjects::getObject(const llvm::Module *module) {
  if (folder.empty())
    return nullptr;
  SmallString<0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(*module, stream);
  SHA256 hash;
  hash.update(code + " " LLVM_VERSION_STRING "\n");
  hash.update(bitcode);
  path = folder + "/" + toHex(hash.final(), /*LowerCase=*/true) + ".o";
  ErrorOr<std::unique_ptr<MemoryBuffer>> object = MemoryBuffer::getFile(path);
  if (!object)
    return nullptr;
  // tools/check removes what is not used any more.
  utimes(path.c_str(), nullptr);
  return std::move(*object);
}

void CompiledObjects::notifyObjectCompiled(const llvm::Module *,
                                           MemoryBufferRef object) {
  if (path.empty() || sys::fs::create_directories(folder))
    return;
  // A temporary file that is renamed.
  consumeError(writeToOutput(path, [&](raw_ostream &out) {
    out << object.getBuffer();
    return Error::success();
  }));
}
