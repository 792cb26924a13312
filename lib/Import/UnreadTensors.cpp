//===- UnreadTensors.cpp - What a checkpoint has and no model reads -------===//
//
// A tensor is read where a parameter begins at its bytes, so that other names
// of the same bytes are read, too. One without elements has no bytes and no
// reader.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/UnreadTensors.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace heddle {

std::vector<std::string>
listUnreadTensors(ModuleOp module, const WeightSource &weights,
                  llvm::function_ref<bool(StringRef)> isUsual) {
  DenseSet<std::pair<StringRef, uint64_t>> read;
  for (auto parameter : module.getOps<ParameterOp>())
    if (std::optional<SourceAttr> source = parameter.getSource())
      read.insert({source->getFile(), source->getOffset()});
  std::vector<std::string> unread;
  for (const TensorFile &file : weights.getFiles())
    for (const TensorInfo &tensor : file.getTensors())
      if ((tensor.size == 0 ||
           !read.contains({file.getName(), tensor.offset})) &&
          !isUsual(tensor.name))
        unread.push_back(tensor.name);
  return unread;
}

llvm::Error refuseUnreadTensors(ModuleOp module, const WeightSource &weights,
                                llvm::function_ref<bool(StringRef)> isUsual,
                                StringRef path,
                                ArrayRef<TensorFeature> features) {
  std::vector<std::string> unread = listUnreadTensors(module, weights, isUsual);
  if (unread.empty())
    return llvm::Error::success();
  StringRef name = unread.front();
  const auto *feature = find_if(features, [&](const TensorFeature &known) {
    return name.contains(known.part);
  });
  return makeError(
      "tensor '" + name + "' of '" + path + "' is not supported" +
      (feature == features.end() ? "" : ": " + feature->words.str()));
}

} // namespace heddle
