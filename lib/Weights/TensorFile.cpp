//===- TensorFile.cpp - The tensors of a checkpoint file ------------------===//
//
// What both readers share: element counts that cannot overflow, and the index
// by name.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/TensorFile.h"
#include "lib/Support/Error.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

uint64_t storedSize(Encoding encoding, uint64_t elements) {
  switch (encoding) {
  case Encoding::F32:
    return 4 * elements;
  case Encoding::F16:
  case Encoding::BF16:
  case Encoding::Int16:
    return 2 * elements;
  case Encoding::IntGemm8:
    return elements + sizeof(float);
  case Encoding::Int8Rows:
    return elements;
  }
  llvm_unreachable("all encodings have a size");
}

std::optional<uint64_t> countElements(ArrayRef<int64_t> shape) {
  constexpr uint64_t limit = uint64_t(1) << 48;
  uint64_t count = 1;
  bool isEmpty = false;
  for (int64_t extent : shape) {
    if (extent < 0 || uint64_t(extent) >= limit / count)
      return std::nullopt;
    isEmpty |= extent == 0;
    count *= std::max<int64_t>(extent, 1);
  }
  return isEmpty ? 0 : count;
}

Expected<TensorFile> TensorFile::create(std::unique_ptr<MemoryBuffer> buffer,
                                        std::vector<TensorInfo> tensors,
                                        Prepare prepare) {
  TensorFile file;
  for (auto [index, tensor] : enumerate(tensors))
    if (!file.indices.try_emplace(tensor.name, index).second)
      return makeError("'" + buffer->getBufferIdentifier() +
                       "' has the tensor '" + tensor.name + "' twice");
  file.buffer = std::move(buffer);
  file.name = sys::path::filename(file.getPath()).str();
  file.tensors = std::move(tensors);
  file.prepareBytes = std::move(prepare);
  return file;
}

void TensorFile::addPrefix(StringRef prefix) {
  name = prefix.str() + name;
  indices.clear();
  for (auto [index, tensor] : enumerate(tensors)) {
    tensor.name = prefix.str() + tensor.name;
    indices[tensor.name] = index;
  }
}

const TensorInfo *TensorFile::find(StringRef name) const {
  auto entry = indices.find(name);
  return entry == indices.end() ? nullptr : &tensors[entry->second];
}

} // namespace heddle
