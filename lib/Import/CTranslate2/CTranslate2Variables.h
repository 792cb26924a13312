//===- CTranslate2Variables.h - What a network's file says ------*- C++ -*-===//
//
// Reads the options of a network, which stand among its variables, and the
// sizes that shapes say. What nobody has read in the end means something that
// nobody knows: it is refused by its name. Failures are sticky, as those of
// LayerBuilder.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2VARIABLES_H
#define HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2VARIABLES_H

#include "lib/Weights/CTranslate2File.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace heddle {

class CTranslate2Variables {
public:
  /// The file must outlive the object.
  explicit CTranslate2Variables(const TensorFile &file);

  bool has(llvm::StringRef name) const { return file.find(name); }
  const TensorInfo *find(llvm::StringRef name) const { return file.find(name); }
  /// Whether a variable's name begins so.
  bool hasAny(llvm::StringRef prefix) const;

  /// The extents of a matrix; ones if it is none.
  std::pair<int64_t, int64_t> matrix(llvm::StringRef name);

  /// The number that a variable is, or `byDefault`.
  double number(llvm::StringRef name, double byDefault);
  int64_t integer(llvm::StringRef name, int64_t byDefault, int64_t min,
                  int64_t max);
  bool flag(llvm::StringRef name, bool byDefault);
  /// Accepts a number only if it is this one.
  void require(llvm::StringRef name, double supported, llvm::StringRef feature);
  /// Accepts any value.
  void ignore(llvm::StringRef name) { read.insert(name); }

  /// Of the names of one matrix the first one, and counts it as read.
  std::string first(llvm::StringRef name);

  void fail(const llvm::Twine &sentence);
  /// The first failure. Fails, too, if there is a variable that neither was
  /// read nor is a weight of `module`.
  llvm::Error finish(mlir::ModuleOp module);

private:
  const TensorFile &file;
  llvm::DenseMap<uint64_t, llvm::StringRef> names;
  llvm::StringSet<> read;
  std::string failure;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2VARIABLES_H
