//===- OperandValues.h - What operands of masks are in pictures -*- C++ -*-===//
//
//   values ::= value (`;` value)*
//   value  ::= name `=` number (`,` number)*
//
// Names are those of arguments: `transformer.name`, the name in their location,
// or `argN` for argument N.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_OPERANDVALUES_H
#define HEDDLE_LIB_MASKS_OPERANDVALUES_H

#include "lib/Masks/Evaluator.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace heddle {

/// The numbers of such a text.
class OperandValues {
public:
  /// The empty text has none; the error is a TextError.
  static llvm::Expected<OperandValues> parse(llvm::StringRef text);

  /// Tells `evaluator` what arguments are that `mask` reads, for one sentence
  /// of `length` tokens: dynamic dimensions are `length`, but the first of
  /// operands of sentences, which is 1, and that of a list of all sentences,
  /// which is as long as its numbers. Elements are the numbers in their order,
  /// the last of which stands for all that follow. Arguments that the text does
  /// not name are the length itself if they have one number a sentence, and
  /// unknown otherwise.
  void bind(mlir::Value mask, int64_t length, Evaluator &evaluator);

  /// A name that no mask has needed; empty if there is none.
  llvm::StringRef findUnused() const;

private:
  struct Entry {
    std::string name;
    std::vector<int64_t> numbers;
    bool isUsed = false;
  };

  llvm::ArrayRef<int64_t> use(mlir::BlockArgument argument);
  void bindArgument(mlir::BlockArgument argument, bool isOfSentences,
                    int64_t length, Evaluator &evaluator);

  std::vector<Entry> entries;
};

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_OPERANDVALUES_H
