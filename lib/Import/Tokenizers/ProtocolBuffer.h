//===- ProtocolBuffer.h - The wire format of messages -----------*- C++ -*-===//
//
// A message is a row of fields, each a tag (its number and how it is written)
// and a value. Fields that a reader does not know it passes over.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PROTOCOLBUFFER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PROTOCOLBUFFER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace heddle {

/// A field of a message.
struct MessageField {
  enum class Wire { Integer = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  uint64_t number;
  Wire wire;
  /// Of Wire::Integer.
  uint64_t integer = 0;
  /// Of all others, where it stands in the message.
  llvm::StringRef bytes;

  /// Whether it is the field of that number, written so.
  bool is(uint64_t wanted, Wire how) const {
    return number == wanted && wire == how;
  }
};

/// Calls `read` for each field in order; false when the message is malformed,
/// or if `read` says so.
bool readMessage(llvm::StringRef message,
                 llvm::function_ref<bool(const MessageField &)> read);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PROTOCOLBUFFER_H
