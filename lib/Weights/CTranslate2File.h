//===- CTranslate2File.h - CTranslate2's model.bin --------------*- C++ -*-===//
//
// Variables of a model by their names, `encoder/layer_0/ffn/linear_0/weight`,
// and what the file says of its specification. A variable without dimensions is
// a number, mostly an option of the network.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_CTRANSLATE2FILE_H
#define HEDDLE_LIB_WEIGHTS_CTRANSLATE2FILE_H

#include "lib/Weights/TensorFile.h"

namespace heddle {

struct CTranslate2File {
  /// The version of the layout, 1 to 6.
  uint32_t version;
  /// "TransformerSpec", and which revision of it.
  std::string specification;
  uint32_t revision;
  /// Variables in the order of the file, then aliases, which have the bytes of
  /// a variable.
  TensorFile variables;
};

/// Whether `bytes` begin as such a file does whose version is above 1.
bool looksLikeCTranslate2(llvm::StringRef bytes);

/// Reads the table of a file of versions 1 to 6.
llvm::Expected<CTranslate2File>
readCTranslate2File(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// The number that a variable of one element is, whatever its type.
std::optional<double> readNumber(const TensorFile &file,
                                 const TensorInfo &variable);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_CTRANSLATE2FILE_H
