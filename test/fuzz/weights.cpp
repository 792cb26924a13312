//===- weights.cpp - Files of weights, of the kind HEDDLE_READER ----------===//
//
// What a reader accepts is read to the last byte, and converted.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Marian/MarianOptions.h"
#include "lib/Weights/StoredTensor.h"
#include "lib/Weights/TensorFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace heddle;

static void use(const TensorFile &file) {
  unsigned char sum = 0;
  for (const TensorInfo &tensor : file.getTensors()) {
    if (llvm::Error error = file.prepare(tensor.offset)) {
      llvm::consumeError(std::move(error));
      continue;
    }
    for (char byte : file.getBytes().substr(tensor.offset, tensor.size))
      sum ^= static_cast<unsigned char>(byte);
    if (!tensor.encoding)
      continue;
    auto stored =
        StoredTensor::create(tensor.name, tensor.shape, *tensor.encoding,
                             /*isTransposed=*/false, file, tensor.offset);
    if (!stored) {
      llvm::consumeError(stored.takeError());
      continue;
    }
    std::vector<float> row(stored->getColumns());
    stored->decodeRows(0, 1, row);
    stored->decodeRows(stored->getRows() - 1, 1, row);
  }
  // Somebody might want to know.
  asm volatile("" : : "r"(sum));
  llvm::consumeError(readMarianOptions(file).takeError());
}

/// Files of torch are several.
[[maybe_unused]] static void use(const std::vector<TensorFile> &files) {
  for (const TensorFile &file : files)
    use(file);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto file =
      HEDDLE_READER(llvm::MemoryBuffer::getMemBufferCopy(bytes, "input"));
  if (file)
    use(*file);
  else
    llvm::consumeError(file.takeError());
  return 0;
}
