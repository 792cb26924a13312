//===- JoinSentencePieces.cpp - Text of pieces, as SentencePiece ----------===//
//
// What SentencePieceProcessor::Decode does with a run of pieces. Between runs
// stand added tokens, and spaces around them, as transformers' slow tokenizers
// write them.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/SpaceMark.h"
#include "runtime/tokenizer/TextRules.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class JoinSentencePieces final : public TextJoiner {
public:
  JoinSentencePieces(uint32_t flags, const TextRules &denormalizer,
                     std::string_view unknown)
      : flags(flags), denormalizer(denormalizer), unknown(unknown) {}

  std::string join(const std::vector<int32_t> &ids,
                   const TokenNames &names) const override;

private:
  std::string joinRun(const std::vector<int32_t> &ids,
                      const PieceTexts &texts) const;
  std::string finishRun(std::string text) const;

  uint32_t flags;
  TextRules denormalizer;
  std::string_view unknown;
};
} // namespace

static void appendWithSpaces(std::string &text, std::string_view piece) {
  for (size_t at; (at = piece.find(kSpaceMark)) != std::string_view::npos;) {
    text.append(piece, 0, at).append(" ");
    piece.remove_prefix(at + kSpaceMark.size());
  }
  text += piece;
}

std::string JoinSentencePieces::joinRun(const std::vector<int32_t> &ids,
                                        const PieceTexts &texts) const {
  const bool removesSpaces = flags & format::kRemovesSpaces,
             dropsFirstMark =
                 flags & (format::kAddsSpace | format::kRemovesSpaces);
  std::string text, bytes;
  auto takeBytes = [&] {
    for (std::string_view rest = bytes; !rest.empty();)
      text += takeCharacter(rest);
    bytes.clear();
  };
  // Whether a mark in front of the next piece is the one that cutting added:
  // of several that begin the text one is, unless they are all removed.
  bool isFirst = true, droppedMark = false;
  for (int32_t id : ids) {
    uint16_t joining = texts.joining(id);
    if (joining >= format::kJoinsAsByte) {
      bytes += char(joining & 0xFF);
      continue;
    }
    takeBytes();
    isFirst &= !droppedMark && text.empty();
    droppedMark = false;
    std::string_view piece = texts.text(id);
    if (joining == format::kJoinsAsNothing)
      continue;
    if (joining == format::kJoinsAsUnknown) {
      text += unknown;
    } else if (joining == format::kJoinsAsIs) {
      text += piece;
    } else {
      if (isFirst && dropsFirstMark &&
          piece.substr(0, kSpaceMark.size()) == kSpaceMark) {
        piece.remove_prefix(kSpaceMark.size());
        droppedMark = !removesSpaces;
      }
      appendWithSpaces(text, piece);
    }
  }
  takeBytes();
  return finishRun(std::move(text));
}

std::string JoinSentencePieces::finishRun(std::string text) const {
  if (flags & format::kDenormalizes) {
    TextPart whole{text};
    TextWriter writer(whole, /*tracks=*/false);
    denormalizer.normalize(whole, writer);
    text = writer.written();
  }
  if (!(flags & format::kStripsText))
    return text;
  // MarianTokenizer.convert_tokens_to_string: pieces that the target model
  // does not know keep their mark, and the ends are stripped.
  for (size_t at = 0; (at = text.find(kSpaceMark, at)) != std::string::npos;)
    text.replace(at, kSpaceMark.size(), " ");
  return std::string(stripLeft(stripRight(text, /*isPython=*/true),
                               /*isPython=*/true));
}

std::string JoinSentencePieces::join(const std::vector<int32_t> &ids,
                                     const TokenNames &names) const {
  std::string text;
  bool hasPart = false;
  auto append = [&](std::string_view part) {
    text.append(hasPart ? " " : "").append(part);
    hasPart = true;
  };
  std::vector<int32_t> run;
  for (int32_t id : ids) {
    if (names.isSpecial(id))
      continue;
    if (std::string_view token = names.addedText(id); !token.empty()) {
      if (std::string joined = joinRun(run, names.pieces); !joined.empty())
        append(joined);
      run.clear();
      append(token);
    } else if (names.pieces.has(id)) {
      run.push_back(id);
    }
  }
  if (!run.empty())
    append(joinRun(run, names.pieces));
  return text;
}

stages::MadeJoiner stages::makeJoinSentencePieces(std::string_view table) {
  TableReader reader(table);
  const format::JoinHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view rest = reader.takeRest();
  if (!reader.isWhole())
    return Status::error("is not a whole table of a joiner");
  Result<TextRules> rules = TextRules::take(rest);
  if (!rules.ok())
    return rules.status();
  if (rest.size() != header->unknownBytes)
    return Status::error("is not a whole table of a joiner");
  return std::unique_ptr<TextJoiner>(
      std::make_unique<JoinSentencePieces>(header->flags, *rules, rest));
}
