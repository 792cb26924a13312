//===- SentencePieceSamples.cpp - Models and texts to cut -----------------===//

#include "SentencePieceSamples.h"
#include "lib/Import/Tokenizers/ProtocolBuffer.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "test/unit/FileBuilders.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

static std::string realText() {
  return readFile(HEDDLE_GOLDENS "/translate/sentences.en") +
         readFile(HEDDLE_GOLDENS "/translate/expected.txt") +
         readFile(HEDDLE_GOLDENS "/../../README.md");
}

std::string heddle::test::trainSentencePiece(const std::string &options) {
  TemporaryFolder folder;
  std::string input = folder.write("input", realText());
  auto status = sentencepiece::SentencePieceTrainer::Train(
      "--input=" + input + " --model_prefix=" + folder.path() +
      "/m --hard_vocab_limit=false --num_threads=1 --minloglevel=2 " + options);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return readFile(folder.path() + "/m.model");
}

static void appendVarint(std::string &bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes += char(value | 0x80);
  bytes += char(value);
}

/// A field of bytes.
static std::string writeField(uint64_t number, llvm::StringRef bytes) {
  std::string field;
  appendVarint(field, number << 3 | 2);
  appendVarint(field, bytes.size());
  return field + bytes.str();
}

std::string heddle::test::markUnused(const std::string &model) {
  std::string changed;
  int64_t id = 0;
  EXPECT_TRUE(readMessage(model, [&](const MessageField &field) {
    std::string bytes = field.bytes.str(), text;
    if (field.number == 1) {
      bool isOrdinary = true;
      readMessage(field.bytes, [&](const MessageField &inner) {
        isOrdinary &= inner.number != 3 || inner.integer == 1;
        if (inner.number == 1)
          text = inner.bytes.str();
        return true;
      });
      if (isOrdinary && text.size() > 3 && ++id % 3 == 0)
        bytes +=
            "\x18\x05"; // The type: of a field given twice the last counts.
    }
    changed += writeField(field.number, bytes);
    return true;
  }));
  return changed;
}

std::string
heddle::test::writeSentencePieces(const std::vector<SentencePiece> &pieces,
                                  SentencePieceModel::Kind kind) {
  std::string model;
  for (const SentencePiece &piece : pieces)
    model +=
        writeField(1, writeField(1, piece.text) + "\x15" +
                          bytesOf(piece.score) + "\x18" + char(piece.type));
  return model + writeField(2, std::string("\x18") + char(kind));
}

StagedModel::StagedModel(const SentencePieceModel &model) {
  StageList list;
  addSentencePieceCutter(model, StageList::kBothSides, list);
  addSentencePieceJoiner(model, /*numbers=*/nullptr, list);
  section = list.build();
  Result<TokenizerStages> parsed = TokenizerStages::parse(section, {});
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  stages = std::move(*parsed);
}

std::vector<int> StagedModel::cut(std::string_view text) const {
  std::vector<Piece> pieces;
  stages->cut(text, TokenizerStages::Side::Source, /*tracks=*/true, pieces);
  std::vector<int> ids;
  uint32_t last = 0;
  for (const Piece &piece : pieces) {
    ids.push_back(piece.id);
    // Pieces are ranges of the text, in its order.
    EXPECT_LE(last, piece.range.begin);
    EXPECT_LE(piece.range.begin, piece.range.end);
    EXPECT_LE(piece.range.end, text.size());
    last = piece.range.begin;
  }
  return ids;
}

LineDrawer::LineDrawer(uint32_t seed, std::vector<std::string> pieces)
    : random(seed), pieces(std::move(pieces)) {
  std::istringstream text(realText());
  for (std::string word; text >> word;)
    words.push_back(word);
}

std::string LineDrawer::drawPart() {
  // First and last character of scripts, marks that combine, forms that
  // normalisation takes apart, spaces, what is not assigned.
  static constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x00, 0x1f},       {0x20, 0x7e},       {0x80, 0xff},
      {0x100, 0x24f},     {0x300, 0x36f},     {0x370, 0x3ff},
      {0x400, 0x4ff},     {0x531, 0x58f},     {0x591, 0x5f4},
      {0x600, 0x6ff},     {0x900, 0x97f},     {0xe01, 0xe5b},
      {0x10a0, 0x10ff},   {0x1100, 0x11ff},   {0x1200, 0x137f},
      {0x1e00, 0x1eff},   {0x2000, 0x206f},   {0x2070, 0x209c},
      {0x2100, 0x214f},   {0x2460, 0x24ff},   {0x2581, 0x2581},
      {0x3000, 0x303f},   {0x3041, 0x30ff},   {0x3300, 0x33ff},
      {0x4e00, 0x9fff},   {0xac00, 0xd7a3},   {0xe000, 0xe0ff},
      {0xf900, 0xfaff},   {0xfb00, 0xfb4f},   {0xfdf0, 0xfdff},
      {0xfe70, 0xfeff},   {0xff01, 0xffee},   {0xfff0, 0xffff},
      {0x10000, 0x1007f}, {0x1d400, 0x1d7ff}, {0x1f300, 0x1f6ff},
      {0x20000, 0x2a6df}, {0xe0100, 0xe01ef}, {0x10ff00, 0x10ffff}};
  static const char *const kSpaces[] = {" ",
                                        "  ",
                                        "\t",
                                        "\xC2\xA0",
                                        "\xE2\x80\x83",
                                        "\xE3\x80\x80",
                                        "\xE2\x96\x81",
                                        "\xE2\x80\x8B",
                                        "\xE1\x9A\x80",
                                        "\r",
                                        "\xE2\x80\xA8",
                                        "\xEF\xBB\xBF"};
  static const char *const kTokens[] = {
      "<s>",    "</s>", "<unk>", "<0x41>",  "<pad>",       "<sep>",
      "[mask]", "<c>",  "<s",    ">>plt<<", "\xE2\x81\x87"};
  static const char *const kDamage[] = {
      "\x80",         "\xBF",         "\xC0\xAF",
      "\xC3",         "\xE2\x96",     "\xE2\x28\xA1",
      "\xED\xA0\x80", "\xF0\x9F\x98", "\xF4\x90\x80\x80",
      "\xF8\x88",     "\xFF",         "\xFE"};
  std::string part;
  switch (below(12)) {
  case 0:
  case 1:
  case 2:
    return words[below(words.size())];
  case 3:
  case 4: {
    auto [first, last] = kRanges[below(std::size(kRanges))];
    for (size_t i = 1 + below(6); i > 0; --i)
      part += toUtf8(first + uint32_t(below(last - first + 1)));
    return part;
  }
  case 5:
    for (size_t i = 1 + below(3); i > 0; --i)
      part += kSpaces[below(std::size(kSpaces))];
    return part;
  case 6:
    return kTokens[below(std::size(kTokens))];
  case 7:
    return kDamage[below(std::size(kDamage))];
  case 8: { // A letter with marks.
    part = toUtf8('A' + uint32_t(below(58)));
    for (size_t i = 1 + below(3); i > 0; --i)
      part += toUtf8(0x300 + uint32_t(below(0x30)));
    return part;
  }
  case 9:
    return std::string(1 + below(9), char(' ' + below(95)));
  default:
    for (size_t i = 1 + below(4); i > 0; --i)
      part += pieces[below(pieces.size())];
    return part;
  }
}

std::string LineDrawer::drawLine() {
  std::string line;
  for (size_t i = below(12); i > 0; --i) {
    line += drawPart();
    if (below(3))
      line += ' ';
  }
  return line;
}

std::string LineDrawer::drawLong(size_t size) {
  std::string line;
  while (line.size() < size) {
    line += drawPart();
    if (below(3))
      line += ' ';
  }
  return line;
}
