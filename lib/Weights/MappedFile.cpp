//===- MappedFile.cpp - Files as bytes ------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/MappedFile.h"
#include "lib/Support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace heddle {

/// What a clone without Git LFS has in place of a large file begins with it.
static constexpr StringLiteral kLfsPointer = "version https://git-lfs.";

Expected<std::unique_ptr<MemoryBuffer>> mapFile(const Twine &path) {
  std::string name = path.str();
  sys::fs::file_status status;
  std::error_code reason = sys::fs::status(name, status);
  if (!reason && !sys::fs::is_regular_file(status))
    return makeError("'" + name + "' is not a regular file");
  if (!reason) {
    auto buffer = MemoryBuffer::getFile(name, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (buffer && (*buffer)->getBuffer().starts_with(kLfsPointer))
      return makeError("'" + name + "' is only a pointer to the file, which " +
                       "'git lfs pull' fetches");
    if (buffer)
      return std::move(*buffer);
    reason = buffer.getError();
  }
  return makeError("cannot read '" + name + "': " + reason.message());
}

} // namespace heddle
