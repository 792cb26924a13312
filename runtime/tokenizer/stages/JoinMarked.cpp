//===- JoinMarked.cpp - The decoder Metaspace -----------------------------===//
//
// A mark is a space, but nothing in the first token.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/SpaceMark.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class JoinMarked final : public TextJoiner {
public:
  std::string join(const std::vector<int32_t> &ids,
                   const TokenNames &names) const override {
    std::string text;
    bool isFirst = true;
    for (int32_t id : ids) {
      std::string_view piece = names.nameOf(id);
      if (piece.empty() || names.isSpecial(id))
        continue;
      for (size_t at;
           (at = piece.find(kSpaceMark)) != std::string_view::npos;) {
        text.append(piece, 0, at).append(isFirst ? "" : " ");
        piece.remove_prefix(at + kSpaceMark.size());
      }
      text += piece;
      isFirst = false;
    }
    return text;
  }
};
} // namespace

stages::MadeJoiner stages::makeJoinMarked(std::string_view) {
  return std::unique_ptr<TextJoiner>(std::make_unique<JoinMarked>());
}
