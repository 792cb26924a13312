//===- ProtocolBuffer.cpp - The wire format of messages -------------------===//
//
// Only the models of SentencePiece have this format, and the protobuf library
// is not linked for them. Files are untrusted: each length is checked against
// what is left of the message; a varint that does not end within ten bytes,
// field number 0 or an unknown wire type (groups are one) makes it malformed.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ProtocolBuffer.h"
#include "lib/Weights/MappedFile.h"

using namespace llvm;

namespace heddle {

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

bool readMessage(StringRef message,
                 function_ref<bool(const MessageField &)> read) {
  using Wire = MessageField::Wire;
  ByteReader reader(message);
  while (reader.remaining()) {
    uint64_t tag, size;
    if (!readVarint(reader, tag) || tag >> 3 == 0)
      return false;
    MessageField field;
    field.number = tag >> 3;
    field.wire = Wire(tag & 7);
    switch (field.wire) {
    case Wire::Integer:
      if (!readVarint(reader, field.integer))
        return false;
      break;
    case Wire::Fixed64:
      if (!reader.take(8, field.bytes))
        return false;
      break;
    case Wire::Bytes:
      if (!readVarint(reader, size) || !reader.take(size, field.bytes))
        return false;
      break;
    case Wire::Fixed32:
      if (!reader.take(4, field.bytes))
        return false;
      break;
    default:
      return false;
    }
    if (!read(field))
      return false;
  }
  return true;
}

} // namespace heddle
