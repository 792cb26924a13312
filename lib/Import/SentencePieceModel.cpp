//===- SentencePieceModel.cpp - Reads and checks *.spm --------------------===//
//
// The file is a protocol buffer (sentencepiece_model.proto): field 3 is the
// normaliser's specification, whose field 2 is the compiled table: u32 size of
// a double-array trie in bytes, the trie (u32 units, darts-clone), then zero-
// terminated replacements. Of a unit, bit 31 marks a leaf, whose other bits are
// an offset into the replacements; else bits 10 ... 30 are an offset to the
// children, shifted by 8 when bit 9 is set, and bit 8 says that the first child
// is a leaf.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/SentencePieceModel.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/Support/Endian.h"
#include <sentencepiece_processor.h>

using namespace llvm;

namespace heddle {

/// Reads a varint of a protocol buffer.
static bool readVarint(ByteReader &reader, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint8_t byte;
    if (!reader.read(byte))
      return false;
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

/// Finds the last bytes field `number` of a message, as parsers do, in
/// `payload`, which stays empty when there is none; false when the message is
/// malformed.
static bool findField(StringRef message, uint64_t number, StringRef &payload) {
  ByteReader reader(message);
  while (reader.remaining()) {
    uint64_t tag, size;
    if (!readVarint(reader, tag))
      return false;
    StringRef value;
    switch (tag & 7) {
    case 0:
      if (!readVarint(reader, size))
        return false;
      break;
    case 1:
      if (!reader.take(8, value))
        return false;
      break;
    case 2:
      if (!readVarint(reader, size) || !reader.take(size, value))
        return false;
      if (tag >> 3 == number)
        payload = value;
      break;
    case 5:
      if (!reader.take(4, value))
        return false;
      break;
    default:
      return false;
    }
  }
  return true;
}

/// Whether every index that a lookup in the table can follow stays inside.
static bool isSoundTable(StringRef table) {
  if (table.empty())
    return true;
  ByteReader reader(table);
  uint32_t trieSize;
  StringRef trie;
  if (!reader.read(trieSize) || trieSize == 0 || trieSize % 4 != 0 ||
      !reader.take(trieSize, trie) || table.back() != '\0')
    return false;
  uint64_t replacements = reader.remaining(), count = trieSize / 4;
  auto unitAt = [&](uint64_t i) {
    return support::endian::read32le(trie.data() + 4 * i);
  };
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t unit = unitAt(i);
    if (unit >> 31) {
      if ((unit & 0x7fffffff) >= replacements)
        return false;
      continue;
    }
    uint64_t children = i ^ (uint64_t(unit >> 10) << ((unit & 0x200) >> 6));
    if ((children | 0xff) >= count)
      return false;
    if ((unit & 0x100) && !(unitAt(children) >> 31))
      return false;
  }
  return true;
}

Expected<SentencePieceModel> readSentencePieceModel(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  SentencePieceModel model;
  model.bytes = (*buffer)->getBuffer().str();

  StringRef normalizer, table;
  if (!findField(model.bytes, 3, normalizer) ||
      !findField(normalizer, 2, table))
    return makeError("'" + path + "' is not a SentencePiece model");
  if (!isSoundTable(table))
    return makeError("'" + path + "' has a damaged normalisation table");
  sentencepiece::SentencePieceProcessor processor;
  auto status = processor.LoadFromSerializedProto(model.bytes);
  if (!status.ok())
    return makeError("'" + path + "' is not a SentencePiece model that can " +
                     "be loaded: " + StringRef(status.message()).rtrim('.'));
  model.pieceCount = processor.GetPieceSize();
  model.eos = processor.eos_id();
  model.unknown = processor.unk_id();
  return model;
}

} // namespace heddle
