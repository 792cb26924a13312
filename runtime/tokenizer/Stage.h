//===- Stage.h - What a tokenizer is made of --------------------*- C++ -*-===//
//
// A tokenizer is a list of stages, as the library tokenizers has them: some
// rewrite a text or cut it into parts (normalizers, pre-tokenizers, added
// tokens), one, the model, cuts parts into pieces, and one joins pieces to text
// again. Each is made of a table of the section `tokenizer`, which must outlive
// it; all are immutable.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_STAGE_H
#define HEDDLE_RUNTIME_TOKENIZER_STAGE_H

#include "runtime/tokenizer/TextParts.h"
#include "runtime/tokenizer/TokenNames.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Rewrites parts of a text, or cuts them.
class TextStage {
public:
  virtual ~TextStage() = default;

  virtual void apply(TextParts &parts) const = 0;
};

/// A piece of a text and its bytes.
struct Piece {
  int32_t id;
  TextRange range;
  /// Whether it was found as a token, not by a model.
  bool isToken = false;
  /// The part of the text that it was cut from: by number, if ranges count.
  uint32_t word = 0;
};

/// Cuts the parts that are left into pieces.
class PieceModel {
public:
  virtual ~PieceModel() = default;

  /// Appends the pieces of a text that is not empty, in the order of the text.
  virtual void cut(std::string_view text, std::vector<Piece> &pieces) const = 0;
};

/// Makes text of ids. Ids that are special, or unknown to `names`, are nothing.
class TextJoiner {
public:
  virtual ~TextJoiner() = default;

  virtual std::string join(const std::vector<int32_t> &ids,
                           const TokenNames &names) const = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_STAGE_H
