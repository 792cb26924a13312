//===- SentencePieceTokenizer.cpp - The numbers of SentencePiece's pieces -===//
//
// SentencePieces.h cuts and joins; this file numbers the pieces, and frames
// them as the tokenizer does that a folder has. Marian's own models use the
// numbers of the SentencePiece model, mBART's and Pegasus's those of the
// converted one. The Marian models of Hugging Face number the pieces of two
// SentencePiece models by one vocabulary, in which `>>code<<`, the language to
// translate into, is a piece that no SentencePiece model knows; their tokenizer
// is a slow one. mBART's and Pegasus's are fast: there a space is the mark of a
// piece wherever an added token stands.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/SentencePieces.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/UnicodeTables.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <utility>

using namespace heddle;

namespace {

using Ids = std::vector<int32_t>;

class SentencePieceTokenizer final : public Tokenizer {
public:
  explicit SentencePieceTokenizer(const Manifest &manifest)
      : Tokenizer(manifest), unknown(manifest.tokenizer.unknown.value_or(0)),
        frame(manifest.tokenizer.frame), spaces(manifest.tokenizer.spaces),
        cleansUp(manifest.tokenizer.cleansUp),
        special(manifest.tokenizer.special) {
    std::sort(special.begin(), special.end());
  }

  Status load(const Artifact &artifact);

  std::string decode(const Ids &ids) const override;

private:
  /// One of the models, and the numbers that the vocabulary gives to its
  /// pieces; null if the model numbers them.
  struct Side {
    const SentencePieces &model;
    const int32_t *numbers;
  };

  Result<Ids> pieces(std::string_view text) const override {
    return cut(text, sourceSide());
  }
  Result<Ids> targetPieces(std::string_view text) const override {
    return cut(text, targetSide());
  }
  std::string_view nameOf(int32_t id) const override;

  Side sourceSide() const {
    return {*source, vocabulary ? vocabulary->sourceIds() : nullptr};
  }
  Side targetSide() const {
    return {target ? *target : *source,
            vocabulary ? vocabulary->targetIds() : nullptr};
  }
  Ids cut(std::string_view text, const Side &side) const;

  /// Appends the ids of what a model has cut.
  void number(const CutText &cut, const Side &side, Ids &ids) const;
  int32_t idOf(std::string_view piece) const;

  // As a slow tokenizer, or none.
  void cutPlain(std::string_view text, const Side &side, Ids &ids) const;
  std::string joinPlain(const Ids &ids) const;
  std::string decodeSlowly(const Ids &ids) const;

  // As a fast tokenizer.
  void cutFast(std::string_view text, const Side &side, Ids &ids) const;
  void cutWord(std::string_view word, const Side &side, Ids &ids) const;
  std::string decodeFast(const Ids &ids) const;

  bool isSpecial(int32_t id) const {
    return std::binary_search(special.begin(), special.end(), id);
  }
  /// The texts of pieces, by ids.
  const PieceTexts &texts() const {
    return vocabulary ? vocabulary->texts() : targetSide().model.texts();
  }
  bool isPiece(int32_t id) const {
    return id >= 0 && uint32_t(id) < texts().count;
  }

  int32_t unknown;
  TextFrame frame;
  TextSpaces spaces;
  bool cleansUp;
  Ids special;
  std::optional<SentencePieces> source;
  /// If it differs.
  std::optional<SentencePieces> target;
  std::optional<PieceNumbers> vocabulary;
  AddedTokens added;
};

} // namespace

static Status loadModel(const Artifact &artifact, const char *name,
                        std::optional<SentencePieces> &model) {
  std::optional<std::string_view> bytes = artifact.section(name);
  if (!bytes)
    return Status::error("'", artifact.path(), "' has no section '", name,
                         "', which its tokenizer needs");
  Result<SentencePieces> parsed = SentencePieces::parse(*bytes, name);
  if (!parsed.ok())
    return parsed.status();
  model = *parsed;
  return Status::success();
}

/// What a fast tokenizer's normalizer leaves of a text behind the rules of the
/// model.
static std::string normalizeFast(std::string text, TextSpaces spaces) {
  if (spaces == TextSpaces::Kept)
    return text;
  bool isMarked = spaces == TextSpaces::Marked;
  const std::string_view several = isMarked ? kSpaceMark : " ";
  while (isMarked && !text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && (text[last] & 0xC0) == 0x80)
      --last;
    std::string_view character = std::string_view(text).substr(last);
    if (!isSpace(takeCodePoint(character).value))
      break;
    text.resize(last);
  }
  std::string normalized;
  normalized.reserve(text.size() + text.size() / 4);
  size_t done = 0;
  for (size_t at; (at = text.find("  ", done)) != std::string::npos;) {
    normalized.append(text, done, at - done).append(several);
    done = std::min(text.find_first_not_of(' ', at), text.size());
  }
  normalized.append(text, done, std::string::npos);
  return normalized;
}

Status SentencePieceTokenizer::load(const Artifact &artifact) {
  if (Status status = loadModel(artifact, "tokenizer.source", source);
      !status.ok())
    return status;
  if (artifact.section("tokenizer.target"))
    if (Status status = loadModel(artifact, "tokenizer.target", target);
        !status.ok())
      return status;
  if (std::optional<std::string_view> section =
          artifact.section("tokenizer.added")) {
    Result<AddedTokens> parsed = AddedTokens::parse(*section);
    if (!parsed.ok())
      return parsed.status();
    added = std::move(*parsed);
    if (frame == TextFrame::Fast || frame == TextFrame::FastWords)
      added.spell([&](std::string_view text) {
        return normalizeFast(source->replace(text), spaces);
      });
  }
  if (std::optional<std::string_view> section =
          artifact.section("tokenizer.vocabulary")) {
    Result<PieceNumbers> numbers =
        PieceNumbers::parse(*section, *source, target ? *target : *source);
    if (!numbers.ok())
      return numbers.status();
    vocabulary = *numbers;
  }
  return Status::success();
}

int32_t SentencePieceTokenizer::idOf(std::string_view piece) const {
  int32_t id = vocabulary->find(piece);
  return id < 0 ? unknown : id;
}

std::string_view SentencePieceTokenizer::nameOf(int32_t id) const {
  std::string_view name = added.text(id);
  return name.empty() && isPiece(id) ? texts().text(uint32_t(id)) : name;
}

void SentencePieceTokenizer::number(const CutText &cut, const Side &side,
                                    Ids &ids) const {
  for (const CutText::Piece &piece : cut.pieces) {
    bool isUnknown = piece.id == side.model.unknown();
    if (!side.numbers)
      ids.push_back(piece.id);
    else if (isUnknown) // The vocabulary may know the characters.
      ids.push_back(idOf(cut.textOf(piece)));
    else
      ids.push_back(side.numbers[piece.id] < 0 ? unknown
                                               : side.numbers[piece.id]);
  }
}

Ids SentencePieceTokenizer::cut(std::string_view text, const Side &side) const {
  Ids ids;
  if (frame == TextFrame::Fast || frame == TextFrame::FastWords) {
    cutFast(text, side, ids);
    return ids;
  }
  if (added.isEmpty() || !added.mayBegin(text)) {
    cutPlain(text, side, ids);
    return ids;
  }
  for (const auto &part : added.cutSlowly(repairUtf8(text)))
    if (part.id >= 0)
      ids.push_back(part.id);
    else
      cutPlain(part.text, side, ids);
  return ids;
}

//===----------------------------------------------------------------------===//
// Without a frame, and as slow tokenizers do
//===----------------------------------------------------------------------===//

void SentencePieceTokenizer::cutPlain(std::string_view text, const Side &side,
                                      Ids &ids) const {
  size_t codeEnd = text.find("<<");
  if (vocabulary && text.substr(0, 2) == ">>" &&
      codeEnd != std::string_view::npos) {
    ids.push_back(idOf(text.substr(0, codeEnd + 2)));
    text.remove_prefix(codeEnd + 2);
  }
  number(side.model.cut(text), side, ids);
}

/// Python's str.strip.
static std::string strip(std::string_view text) {
  size_t begin = std::string::npos, end = 0;
  for (std::string_view rest = text; !rest.empty();) {
    size_t at = text.size() - rest.size();
    char32_t c = takeCodePoint(rest).value;
    if (isSpace(c) || (c >= 0x1C && c <= 0x1F))
      continue;
    begin = std::min(begin, at);
    end = text.size() - rest.size();
  }
  return end ? std::string(text.substr(begin, end - begin)) : std::string();
}

std::string SentencePieceTokenizer::joinPlain(const Ids &ids) const {
  std::string text = targetSide().model.join(ids, texts());
  if (!vocabulary)
    return text;
  // MarianTokenizer.convert_tokens_to_string: pieces that the target model
  // does not know keep their mark, and the ends are stripped.
  for (size_t at = 0; (at = text.find(kSpaceMark, at)) != std::string::npos;)
    text.replace(at, kSpaceMark.size(), " ");
  return strip(text);
}

std::string SentencePieceTokenizer::decodeSlowly(const Ids &ids) const {
  std::vector<std::string> parts;
  Ids run;
  for (int32_t id : ids) {
    if (isSpecial(id))
      continue;
    if (std::string_view token = added.text(id); !token.empty()) {
      if (std::string text = joinPlain(run); !text.empty())
        parts.push_back(std::move(text));
      run.clear();
      parts.emplace_back(token);
    } else if (isPiece(id)) {
      run.push_back(id);
    }
  }
  if (!run.empty())
    parts.push_back(joinPlain(run));
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i ? " " : "") + parts[i];
  return text;
}

//===----------------------------------------------------------------------===//
// As fast tokenizers do
//===----------------------------------------------------------------------===//

/// The pre-tokenizer Metaspace, then the model.
void SentencePieceTokenizer::cutWord(std::string_view word, const Side &side,
                                     Ids &ids) const {
  if (word.empty())
    return;
  std::string marked;
  marked.reserve(word.size() + word.size() / 2 + kSpaceMark.size());
  if (word.front() != ' ' && !startsWithMark(word, 0))
    marked += kSpaceMark;
  size_t done = 0;
  for (size_t at; (at = word.find(' ', done)) != std::string_view::npos;
       done = at + 1)
    marked.append(word, done, at - done).append(kSpaceMark);
  marked.append(word, done, std::string_view::npos);
  number(side.model.cutNormalized(std::move(marked)), side, ids);
}

void SentencePieceTokenizer::cutFast(std::string_view damaged, const Side &side,
                                     Ids &ids) const {
  std::string text = repairUtf8(damaged);
  for (const auto &outer : added.cut(text, /*isNormalized=*/false)) {
    if (outer.id >= 0) {
      ids.push_back(outer.id);
      continue;
    }
    std::string normalized =
        normalizeFast(side.model.replace(outer.text), spaces);
    for (const auto &part : added.cut(normalized, /*isNormalized=*/true)) {
      if (part.id >= 0) {
        ids.push_back(part.id);
      } else if (frame == TextFrame::Fast) {
        cutWord(part.text, side, ids);
      } else {
        std::string_view word = part.text;
        for (std::string_view rest = word; !rest.empty();) {
          size_t end = size_t(rest.data() - word.data());
          if (!isSpace(takeCodePoint(rest).value))
            continue;
          cutWord(word.substr(0, end), side, ids);
          word = rest;
        }
        cutWord(word, side, ids);
      }
    }
  }
}

/// The decoder Metaspace: a mark is a space, but nothing in the first token.
std::string SentencePieceTokenizer::decodeFast(const Ids &ids) const {
  std::string text;
  bool isFirst = true;
  for (int32_t id : ids) {
    if (isSpecial(id))
      continue;
    std::string_view piece = nameOf(id);
    if (piece.empty())
      continue;
    for (size_t at; (at = piece.find(kSpaceMark)) != std::string_view::npos;) {
      text.append(piece, 0, at).append(isFirst ? "" : " ");
      piece.remove_prefix(at + kSpaceMark.size());
    }
    text += piece;
    isFirst = false;
  }
  return text;
}

std::string SentencePieceTokenizer::decode(const Ids &ids) const {
  bool isFast = frame == TextFrame::Fast || frame == TextFrame::FastWords;
  std::string text = isFast ? decodeFast(ids) : decodeSlowly(ids);
  return cleansUp ? cleanUpSpaces(std::move(text)) : text;
}

Result<std::unique_ptr<Tokenizer>>
heddle::makeSentencePieceTokenizer(const Artifact &artifact,
                                   const Manifest &manifest) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(manifest);
  if (Status status = tokenizer->load(artifact); !status.ok())
    return status;
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}
