//===- MaskExpression.h - A text that says which pairs attend ---*- C++ -*-===//
//
//   expression ::= both (`|` both)*
//   both       ::= one (`&` one)*
//   one        ::= `!` one | `(` expression `)` | call
//   call       ::= name (`(` (argument (`,` argument)*)? `)`)?
//   argument   ::= (name `=`)? (number | `[` number (`,` number)* `]`)
//
// Names of functions and of their parameters stand in MaskFunctions.cpp. White
// space has no meaning. `window(128) & !causal` is a mask of the dialect,
// `transformer.mask.and` of a window and of the complement of `causal`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_MASKEXPRESSION_H
#define HEDDLE_LIB_MASKS_MASKEXPRESSION_H

#include "lib/Masks/MaskFunctions.h"
#include "lib/Masks/TextReader.h"
#include <optional>

namespace heddle {

/// Functions and operators of an expression are at most so many.
inline constexpr size_t kMostMaskParts = 256;

/// A parsed expression.
class MaskExpression {
public:
  /// Takes an expression from the front of `reader`.
  static llvm::Expected<MaskExpression> parse(TextReader &reader);

  /// Writes it as mask ops: functions under their names, operators at `loc`.
  /// Keys are drawn from sentences of `lengths`, which may be null. What ops
  /// want beyond the ranges of single numbers `findMistake` says.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value lengths) const;

  /// What a verifier says of a call, and where that stands.
  struct Mistake {
    std::string sentence;
    size_t place;
  };
  /// The first call whose numbers do not go together.
  std::optional<Mistake> findMistake(mlir::MLIRContext &context) const;

  /// Whether it is the function `full` alone, which a missing mask is, too.
  bool isFull() const;

  /// A function that tells a number of heads apart.
  struct HeadCount {
    llvm::StringRef function;
    int64_t heads;
    size_t place;
  };
  /// The first one for another number than `heads`.
  std::optional<HeadCount> findOtherHeads(int64_t heads) const;

private:
  /// A call, or an operator on the results of those before it.
  struct Part {
    enum Kind { Call, Not, And, Or } kind;
    /// Where it stands in the text.
    size_t place;
    const MaskFunction *function = nullptr;
    std::vector<std::vector<int64_t>> arguments = {};

    mlir::Value build(mlir::OpBuilder &builder, mlir::Value lengths) const;
  };
  friend class MaskParser;

  /// Operands stand before their operator.
  std::vector<Part> parts;
};

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_MASKEXPRESSION_H
