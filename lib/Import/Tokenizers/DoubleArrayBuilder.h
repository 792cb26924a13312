//===- DoubleArrayBuilder.h - Writes tries ----------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_DOUBLEARRAYBUILDER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_DOUBLEARRAYBUILDER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle {

/// The double array of keys with values below 2^31, as
/// runtime/tokenizer/TokenizerFormat.h lays it out; empty for none. Keys
/// differ, none is empty or has a byte of zero, and all together have at most
/// 2^28 bytes.
std::vector<uint32_t>
buildDoubleArray(std::vector<std::pair<llvm::StringRef, uint32_t>> keys);
/// The same of pieces: a zero is spelled as format::kZeroKey, and an empty
/// piece is left out.
std::vector<uint32_t>
buildPieceArray(std::vector<std::pair<llvm::StringRef, uint32_t>> pieces);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_DOUBLEARRAYBUILDER_H
