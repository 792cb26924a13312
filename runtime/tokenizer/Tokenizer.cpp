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
    : stages(std::move(stages)), cleansUp(manifest.tokenizer.cleansUp),
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
  if (!manifest.tokenizer.languages.empty() &&
      !stages->sourceTemplate().hasLanguage())
    return Status::error("'", artifact.path(),
                         "' names languages, but its tokenizer has no place "
                         "for one");
  return std::make_unique<Tokenizer>(std::move(*stages), manifest);
}

std::vector<Piece> Tokenizer::cut(std::string_view text, Side side,
                                  bool tracks) const {
  std::vector<Piece> pieces;
  stages.cut(text, side, tracks, pieces);
  return pieces;
}

/// A tokenizer's pieces may be more than the model has rows for.
Status Tokenizer::check(const std::vector<int32_t> &ids, Side side) const {
  bool isSource = side == Side::Source;
  int32_t count = isSource ? sourceCount : targetCount;
  for (int32_t id : ids)
    if (id >= count)
      return Status::error("has the piece '", stages.tokenNames().nameOf(id),
                           "' with the id ", id, ", but the model's ",
                           isSource ? "source" : "target",
                           " vocabulary ends at ", count - 1);
  return Status::success();
}

Result<std::vector<int32_t>>
Tokenizer::encode(std::string_view text,
                  std::optional<int32_t> sourceLanguage) const {
  std::vector<Piece> pieces = cut(text, Side::Source, /*tracks=*/false);
  if (pieces.empty())
    return std::vector<int32_t>();
  std::vector<int32_t> ids =
      stages.sourceTemplate().buildIds(pieces, sourceLanguage);
  Status status = check(ids, Side::Source);
  return status.ok() ? Result(std::move(ids)) : status;
}

Result<std::vector<TextEncoding>>
Tokenizer::encodeWindows(const TextPair &texts,
                         const std::optional<Truncation> &truncation,
                         bool tracks) const {
  std::vector<Piece> first = cut(texts.first, Side::Source, tracks), second;
  std::optional<size_t> secondSize;
  if (texts.second) {
    second = cut(*texts.second, Side::Source, tracks);
    secondSize = second.size();
  }
  const TextTemplate &around = stages.sourceTemplate();
  std::vector<TextWindow> windows = {{{0, first.size()}, {0, second.size()}}};
  if (truncation) {
    auto cuts =
        truncate(first.size(), secondSize,
                 around.specialCount(texts.second.has_value()), *truncation);
    if (!cuts.ok())
      return cuts.status();
    windows = std::move(*cuts);
  }
  auto take = [&](const std::vector<Piece> &pieces, const TokenRange &range,
                  std::string_view text) {
    std::vector<Piece> taken(pieces.begin() + ptrdiff_t(range.begin),
                             pieces.begin() + ptrdiff_t(range.end));
    if (tracks)
      around.trim(text, stages.tokenNames(), taken);
    return taken;
  };
  std::vector<TextEncoding> encodings;
  for (const TextWindow &window : windows) {
    std::vector<Piece> a = take(first, window.first, texts.first), b;
    if (texts.second)
      b = take(second, window.second, *texts.second);
    encodings.push_back(around.build(a, texts.second ? &b : nullptr));
    if (Status status = check(encodings.back().ids, Side::Source); !status.ok())
      return status;
  }
  return encodings;
}

Result<TextEncoding> Tokenizer::encodeBeginning(std::string_view text,
                                                std::optional<size_t> most,
                                                bool tracks,
                                                bool &isCut) const {
  const TextTemplate &around = stages.sourceTemplate();
  std::vector<Piece> pieces = cut(text, Side::Source, tracks);
  isCut = false;
  if (most) {
    auto windows = truncate(pieces.size(), std::nullopt,
                            around.specialCount(/*isPair=*/false), {*most});
    if (!windows.ok())
      return windows.status();
    size_t kept = windows->front().first.end;
    isCut = kept < pieces.size();
    pieces.resize(kept);
  }
  if (tracks)
    around.trim(text, stages.tokenNames(), pieces);
  TextEncoding encoding = around.build(pieces, nullptr);
  Status status = check(encoding.ids, Side::Source);
  return status.ok() ? Result(std::move(encoding)) : status;
}

Result<std::vector<int32_t>>
Tokenizer::encodeTarget(std::string_view text) const {
  std::vector<int32_t> ids;
  for (const Piece &piece : cut(text, Side::Target, /*tracks=*/false))
    ids.push_back(piece.id);
  Status status = check(ids, Side::Target);
  return status.ok() ? Result(std::move(ids)) : status;
}

std::string_view Tokenizer::nameOf(int32_t id) const {
  return stages.tokenNames().nameOf(id);
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
