//===- SentencePieceModel.cpp - Reads and checks *.spm --------------------===//
//
// The file is a protocol buffer (sentencepiece_model.proto). The table of a
// normaliser is the u32 size of a double-array trie in bytes, the trie (u32
// units, see runtime/tokenizer/TokenizerFormat.h), then zero-terminated
// replacements.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/ProtocolBuffer.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <cmath>

using namespace llvm;

namespace heddle {

using Wire = MessageField::Wire;

/// Real models have at most a few MB; offsets are of 32 bits.
static constexpr uint64_t kMaxModelSize = 1 << 26;

namespace {
/// A model with what is needed only to check it.
struct ReadModel {
  SentencePieceModel model;
  uint64_t kind = uint64_t(SentencePieceModel::Kind::Unigram);
  std::string eosText;
  StringRef rules, backRules;
  /// The first id whose type is none of ours.
  std::optional<std::pair<int64_t, uint64_t>> badType;
};
} // namespace

static bool readPiece(StringRef message, ReadModel &into) {
  SentencePiece piece;
  bool isSound = readMessage(message, [&](const MessageField &field) {
    if (field.is(1, Wire::Bytes))
      piece.text = field.bytes.str();
    else if (field.is(2, Wire::Fixed32))
      piece.score =
          bit_cast<float>(support::endian::read32le(field.bytes.data()));
    else if (field.is(3, Wire::Integer)) {
      if (field.integer < 1 || field.integer > 6)
        into.badType = {into.model.pieceCount(), field.integer};
      else
        piece.type = SentencePiece::Type(field.integer);
    }
    return true;
  });
  into.model.pieces.push_back(std::move(piece));
  return isSound;
}

static bool readTrainer(StringRef message, ReadModel &into) {
  return readMessage(message, [&](const MessageField &field) {
    if (field.is(3, Wire::Integer))
      into.kind = field.integer;
    else if (field.is(24, Wire::Integer))
      into.model.putsSpacesBehind = field.integer;
    else if (field.is(35, Wire::Integer))
      into.model.fallsBackToBytes = field.integer;
    else if (field.is(44, Wire::Bytes)) // Up to a zero, as the library reads.
      into.model.unknownSurface = field.bytes.split('\0').first.str();
    else if (field.is(47, Wire::Bytes))
      into.eosText = field.bytes.split('\0').first.str();
    return true;
  });
}

static bool readNormalizer(StringRef message, SentencePieceNormalizer &into,
                           StringRef &rules) {
  return readMessage(message, [&](const MessageField &field) {
    if (field.is(2, Wire::Bytes))
      rules = field.bytes;
    else if (field.is(3, Wire::Integer))
      into.addsDummyPrefix = field.integer;
    else if (field.is(4, Wire::Integer))
      into.removesExtraSpaces = field.integer;
    else if (field.is(5, Wire::Integer))
      into.escapesSpaces = field.integer;
    return true;
  });
}

static bool readModel(StringRef bytes, ReadModel &into) {
  return readMessage(bytes, [&](const MessageField &field) {
    if (field.is(1, Wire::Bytes))
      return readPiece(field.bytes, into);
    if (field.is(2, Wire::Bytes))
      return readTrainer(field.bytes, into);
    if (field.is(3, Wire::Bytes))
      return readNormalizer(field.bytes, into.model.normalizer, into.rules);
    if (field.is(5, Wire::Bytes))
      return readNormalizer(field.bytes, into.model.denormalizer,
                            into.backRules);
    return true;
  });
}

/// Takes the table of a normaliser apart; false if an index that a lookup
/// can follow leaves it.
bool splitRules(StringRef table, SentencePieceNormalizer &into) {
  if (table.empty())
    return true;
  ByteReader reader(table);
  uint32_t trieSize;
  StringRef trie, replacements;
  if (!reader.read(trieSize) || trieSize == 0 || trieSize % 4 != 0 ||
      !reader.take(trieSize, trie) ||
      !reader.take(reader.remaining(), replacements) ||
      !replacements.ends_with('\0'))
    return false;
  uint64_t count = trieSize / 4;
  auto unitAt = [&](uint64_t i) {
    return support::endian::read32le(trie.data() + 4 * i);
  };
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t unit = unitAt(i);
    if (unit >> 31) {
      if ((unit & 0x7fffffff) >= replacements.size())
        return false;
      continue;
    }
    uint64_t children = i ^ (uint64_t(unit >> 10) << ((unit & 0x200) >> 6));
    if ((children | 0xff) >= count)
      return false;
    if ((unit & 0x100) && !(unitAt(children) >> 31))
      return false;
  }
  into.rules = trie.str();
  into.replacements = replacements.str();
  return true;
}

int byteOf(StringRef piece) {
  unsigned value;
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>' ||
      !to_integer(piece.substr(3, 2), value, 16))
    return -1;
  // Small digits are not those of the library.
  return piece == "<0x" + utohexstr(value, /*LowerCase=*/false, 2) + ">"
             ? int(value)
             : -1;
}

/// Numbers the pieces; what is wrong with one, to stand behind "'PATH' ", or
/// nothing.
static std::string numberPieces(SentencePieceModel &model) {
  StringMap<int64_t> ordinary;
  std::vector<bool> hasByte(256);
  for (auto [index, piece] : enumerate(model.pieces)) {
    int64_t id = int64_t(index);
    std::string at = " at id " + std::to_string(id);
    if (piece.text.empty())
      return "has an empty piece" + at;
    if (StringRef(piece.text).contains('\0'))
      return "has a piece with a zero byte" + at;
    if (!std::isfinite(piece.score))
      return "has a score that is no number" + at;
    auto &ids = piece.isReserved() ? model.ids : ordinary;
    if (auto [other, isNew] = ids.try_emplace(piece.text, id); !isNew)
      return "repeats the piece of id " + std::to_string(other->second) + at;
    if (piece.type == SentencePiece::Type::Unknown) {
      if (model.unknown >= 0)
        return "has a second piece for unknown characters" + at;
      model.unknown = id;
    }
    if (piece.type != SentencePiece::Type::Byte)
      continue;
    if (!model.fallsBackToBytes)
      return "has the piece of a byte" + at + " but no byte_fallback";
    int byte = byteOf(piece.text);
    if (byte < 0)
      return "has a piece for a byte that names no byte" + at;
    hasByte[byte] = true;
  }
  if (model.unknown < 0)
    return "has no piece for unknown characters";
  if (ordinary.empty())
    return "has no pieces that text can be cut into";
  for (const auto &entry : ordinary)
    model.ids.try_emplace(entry.getKey(), entry.second);
  auto missing = llvm::find(hasByte, false);
  if (model.fallsBackToBytes && missing != hasByte.end())
    return "has byte_fallback but no piece of the byte " +
           std::to_string(missing - hasByte.begin());
  return "";
}

Expected<SentencePieceModel> readSentencePieceModel(StringRef path) {
  auto buffer = mapFile(path);
  return buffer ? parseSentencePieceModel((*buffer)->getBuffer(), path)
                : buffer.takeError();
}

Expected<SentencePieceModel> parseSentencePieceModel(StringRef bytes,
                                                     StringRef path) {
  if (bytes.size() > kMaxModelSize)
    return makeError("'" + path + "' has " + Twine(bytes.size()) +
                     " bytes, too many for a SentencePiece model");
  ReadModel read;
  if (!readModel(bytes, read) || read.model.pieces.empty())
    return makeError("'" + path + "' is not a SentencePiece model");
  SentencePieceModel &model = read.model;
  if (read.kind != 1 && read.kind != 2)
    return makeError("'" + path + "' is a SentencePiece model of " +
                     (read.kind == 3   ? "words"
                      : read.kind == 4 ? "characters"
                                       : "type " + Twine(read.kind)) +
                     " (supported: unigram, BPE)");
  model.kind = SentencePieceModel::Kind(read.kind);
  if (read.badType)
    return makeError("'" + path + "' has a piece of type " +
                     Twine(read.badType->second) + " at id " +
                     Twine(read.badType->first) + " (supported: 1 to 6)");
  if (std::string fault = numberPieces(model); !fault.empty())
    return makeError("'" + path + "' " + fault);
  if (!splitRules(read.rules, model.normalizer) ||
      !splitRules(read.backRules, model.denormalizer))
    return makeError("'" + path + "' has a damaged normalisation table");
  auto eos = model.ids.find(read.eosText.empty() ? "</s>" : read.eosText);
  if (eos != model.ids.end() &&
      model.pieces[eos->second].type == SentencePiece::Type::Control)
    model.eos = eos->second;
  return std::move(model);
}

} // namespace heddle
