//===- TokenizerStages.h - The stages of a tokenizer ------------*- C++ -*-===//
//
// Reads the section `tokenizer` and runs what it lists.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZERSTAGES_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZERSTAGES_H

#include "runtime/Result.h"
#include "runtime/tokenizer/Stage.h"
#include "runtime/tokenizer/TextTemplate.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Immutable.
class TokenizerStages {
public:
  /// Refuses a section that is not whole, or that lacks a model for sources or
  /// a way to join. It must outlive the stages. `special` ids are left out of
  /// text.
  static Result<TokenizerStages> parse(std::string_view section,
                                       std::vector<int32_t> special);

  enum class Side { Source, Target };
  /// Does what a side's stages do in front of its model.
  void split(TextParts &parts, Side side) const;
  /// Appends the tokens of a text; their ranges are those of its bytes, if
  /// `tracks`, else of no use. Any bytes are text.
  void cut(std::string_view text, Side side, bool tracks,
           std::vector<Piece> &tokens) const;

  /// A text that becomes a vector, as a source. Any bytes are text.
  std::string prepareForVector(std::string_view text) const;

  /// What a model reads of a source.
  const TextTemplate &sourceTemplate() const { return textTemplate; }
  const TokenNames &tokenNames() const { return *names; }

  std::string join(const std::vector<int32_t> &ids) const {
    return joiner->join(ids, *names);
  }

private:
  friend class StageListReader;

  /// What cuts the texts of a side.
  struct Cutter {
    std::vector<const TextStage *> stages;
    const PieceModel *model = nullptr;
  };
  const Cutter &cutterOf(Side side) const {
    return side == Side::Target ? target : source;
  }

  std::vector<std::unique_ptr<const TextStage>> stages;
  std::vector<std::unique_ptr<const PieceModel>> models;
  std::unique_ptr<const TextJoiner> joiner;
  std::unique_ptr<TokenNames> names;
  Cutter source, target;
  std::vector<const TextStage *> vectorStages;
  TextTemplate textTemplate;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZERSTAGES_H
