//===- JoinWords.cpp - Words with spaces between them ---------------------===//
//
// The decoder WordPiece of the library tokenizers, which cleans up each token
// by itself; and what it does without a decoder.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class JoinWords final : public TextJoiner {
public:
  JoinWords(bool cleansUp, std::string_view mark)
      : cleansUp(cleansUp), mark(mark) {}

  std::string join(const std::vector<int32_t> &ids,
                   const TokenNames &names) const override {
    std::string text;
    bool isFirst = true;
    for (int32_t id : ids) {
      if (!names.has(id) || names.isSpecial(id))
        continue;
      std::string_view piece = names.nameOf(id);
      if (isFirst)
        text += piece;
      else if (!mark.empty() && piece.substr(0, mark.size()) == mark)
        text += piece.substr(mark.size());
      else
        text.append(cleansUp && takesSpaceBack(piece) ? "" : " ").append(piece);
      isFirst = false;
    }
    return text;
  }

private:
  /// Whether a space in front of a token is none.
  static bool takesSpaceBack(std::string_view token) {
    for (std::string_view start :
         {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"})
      if (token.substr(0, start.size()) == start)
        return true;
    return false;
  }

  bool cleansUp;
  std::string_view mark;
};
} // namespace

stages::MadeJoiner stages::makeJoinWords(std::string_view table) {
  TableReader reader(table);
  const format::WordJoinHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view mark = reader.takeRest();
  if (!reader.isWhole() || header->markBytes != mark.size() ||
      header->cleansUp > 1)
    return Status::error("is not a whole table of a joiner");
  return std::unique_ptr<TextJoiner>(
      std::make_unique<JoinWords>(header->cleansUp, mark));
}
