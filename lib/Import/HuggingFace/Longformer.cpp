//===- Longformer.cpp - Attention to windows and global tokens ------------===//
//
// A global token in a window is one key, as in transformers: masks are sets.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Longformer.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"

using namespace mlir;

namespace heddle {

std::vector<int64_t> readWindows(ConfigReader &config, int64_t depth) {
  constexpr int64_t byDefault = 512;
  const llvm::json::Value *value = config.readNonNull("attention_window");
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  bool isOfLayers = list && int64_t(list->size()) == depth;
  std::vector<int64_t> windows;
  for (int64_t layer = 0; layer < depth; ++layer) {
    const llvm::json::Value *own = isOfLayers ? &(*list)[size_t(layer)] : value;
    std::optional<int64_t> window =
        own ? own->getAsInteger() : std::optional(byDefault);
    if (!window || *window < 2 || *window % 2 != 0 || *window > kMaxWidth) {
      config.fail("attention_window",
                  "an even number from 2 to " + llvm::Twine(kMaxWidth) +
                      ", or a list of " + llvm::Twine(depth) + " of them");
      return std::vector<int64_t>(size_t(depth), byDefault);
    }
    windows.push_back(*window);
  }
  return windows;
}

void LongformerAttention::restrict(AttentionBlock &block,
                                   int64_t window) const {
  Value all = block.mask, seen = layers.windowMask(window / 2, window / 2);
  if (tokens) {
    GlobalRows rows = {block.query, block.key, block.value, tokens, all};
    for (LinearBlock *linear : {&rows.query, &rows.key, &rows.value})
      linear->name += "_global";
    block.global = rows;
    seen = layers.either(seen, columns);
  }
  block.mask = layers.both(seen, all);
}

} // namespace heddle
