//===- Tokenizer.cpp - From text to ids and back --------------------------===//
//
// Around what the stages do: special tokens, ids that the model lacks, and
// spaces that are taken back.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include <utility>

using namespace heddle;

Tokenizer::Tokenizer(TokenizerStages stages, const Manifest &manifest)
    : stages(std::move(stages)), bos(manifest.tokenizer.bos),
      eos(manifest.tokenizer.eos), language(manifest.tokenizer.language),
      cleansUp(manifest.tokenizer.cleansUp),
      sourceCount(manifest.sourceVocabulary),
      targetCount(manifest.targetVocabulary) {}

Result<std::unique_ptr<Tokenizer>> Tokenizer::make(const Artifact &artifact,
                                                   const Manifest &manifest) {
  if (manifest.tokenizer.kind == "none")
    return std::unique_ptr<Tokenizer>();
  std::optional<std::string_view> section = artifact.section("tokenizer");
  if (!section)
    return Status::error("'", artifact.path(),
                         "' has no section 'tokenizer', "
                         "which its tokenizer needs");
  Result<TokenizerStages> stages =
      TokenizerStages::parse(*section, manifest.tokenizer.special);
  if (!stages.ok())
    return stages.status();
  return std::make_unique<Tokenizer>(std::move(*stages), manifest);
}

std::vector<int32_t> Tokenizer::cut(std::string_view text, Side side) const {
  std::vector<Piece> pieces;
  stages.cut(text, side, /*tracks=*/false, pieces);
  std::vector<int32_t> ids;
  ids.reserve(pieces.size() + 3); // For what encode adds.
  for (const Piece &piece : pieces)
    ids.push_back(piece.id);
  return ids;
}

/// A tokenizer's pieces may be more than the model has rows for.
Result<std::vector<int32_t>> Tokenizer::check(std::vector<int32_t> ids,
                                              Side side) const {
  bool isSource = side == Side::Source;
  int32_t count = isSource ? sourceCount : targetCount;
  for (int32_t id : ids)
    if (id >= count)
      return Status::error("has the piece '", stages.nameOf(id),
                           "' with the id ", id, ", but the model's ",
                           isSource ? "source" : "target",
                           " vocabulary ends at ", count - 1);
  return ids;
}

Result<std::vector<int32_t>>
Tokenizer::encode(std::string_view text,
                  std::optional<int32_t> sourceLanguage) const {
  std::vector<int32_t> ids = cut(text, Side::Source);
  if (ids.empty())
    return ids;
  // The language is behind the end, or else what begins a source.
  std::optional<int32_t> first = bos, last = language;
  if (sourceLanguage)
    (language ? last : first) = sourceLanguage;
  if (first)
    ids.insert(ids.begin(), *first);
  if (eos)
    ids.push_back(*eos);
  if (last)
    ids.push_back(*last);
  return check(std::move(ids), Side::Source);
}

Result<std::vector<int32_t>>
Tokenizer::encodeTarget(std::string_view text) const {
  return check(cut(text, Side::Target), Side::Target);
}

std::string Tokenizer::decode(const std::vector<int32_t> &ids) const {
  std::string text = stages.join(ids);
  return cleansUp ? cleanUpSpaces(std::move(text)) : text;
}

std::string heddle::cleanUpSpaces(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},     {" ?", "?"},     {" !", "!"},   {" ,", ","},
      {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"},
      {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &[from, to] : kRules) {
    std::string replaced;
    size_t begin = 0;
    for (size_t at; (at = text.find(from, begin)) != std::string::npos;
         begin = at + from.size())
      replaced.append(text, begin, at - begin).append(to);
    text = replaced.append(text, begin, std::string::npos);
  }
  return text;
}
