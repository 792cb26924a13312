//===- Longformer.h - Attention to windows and global tokens ----*- C++ -*-===//
//
// Longformer's attention (arXiv:2004.05150): a token attends to its window and
// to the global tokens. Rows of global tokens are computed by projections of
// their own, over the whole text, and replace the others.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_LONGFORMER_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_LONGFORMER_H

#include "lib/Import/Blocks.h"
#include "lib/Import/HuggingFace/ConfigReader.h"

namespace heddle {

/// `attention_window` of config.json, a number for each of `depth` layers: how
/// many neighbours a token attends to, half of them on either side.
std::vector<int64_t> readWindows(ConfigReader &config, int64_t depth);

/// Self-attention of one encoder.
class LongformerAttention {
public:
  /// `tokens` are the positions of global tokens, i32 [batch, globals], or null
  /// for none.
  LongformerAttention(LayerBuilder &layers, mlir::Value tokens)
      : layers(layers), tokens(tokens),
        columns(tokens ? layers.globalColumns(tokens) : mlir::Value()) {}

  /// Restricts attention, which has a mask, to a window and global tokens. The
  /// linears of their rows have names with "_global" behind.
  void restrict(AttentionBlock &block, int64_t window) const;

private:
  LayerBuilder &layers;
  /// The mask `columns` is that of tokens as keys.
  mlir::Value tokens, columns;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_LONGFORMER_H
