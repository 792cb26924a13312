//===- PrecisionRules.h - What products multiply ----------------*- C++ -*-===//
//
// `--dtype` and the rules of `--keep`, asked weight by weight.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_FUSION_PRECISIONRULES_H
#define HEDDLE_LIB_FUSION_PRECISIONRULES_H

#include "dialect/Transformer.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <optional>

namespace heddle {

/// What a product multiplies. Int8Weights are integers that vectors of f32
/// multiply (weight-only quantization).
enum class Precision { Int8, Int8Weights, BF16, F16, F32 };

/// Of a name such as "bf16"; none of others, "auto" among them.
std::optional<Precision> parsePrecision(llvm::StringRef name);

/// The type of a precision that is a short float; null of others.
mlir::Type shortFloatOf(Precision precision, mlir::MLIRContext *context);

/// Whether the checkpoint holds integers of 8 bits.
bool isStoredQuantised(ParameterOp parameter);

/// Whether it holds integers that have one multiplier, as Marian's have.
bool hasOneMultiplier(ParameterOp parameter);

class PrecisionRules {
public:
  /// `dtype` is a precision or "auto", a rule of `keep` a precision, a colon
  /// and a pattern of names. Texts must outlive the rules.
  static llvm::Expected<PrecisionRules> parse(llvm::StringRef dtype,
                                              llvm::ArrayRef<std::string> keep);

  /// That of the first rule that has the parameter's name, if its weights are
  /// as wide at least as what `dtype` says, and otherwise that.
  Precision precisionOf(ParameterOp parameter);

  /// Fails if a rule had no name of any parameter that was asked about.
  llvm::Error checkMatched() const;

private:
  struct Rule {
    llvm::StringRef names;
    Precision precision;
    llvm::GlobPattern pattern;
    bool isMatched = false;
  };

  std::optional<Precision> dtype;
  llvm::SmallVector<Rule> rules;
};

} // namespace heddle

#endif // HEDDLE_LIB_FUSION_PRECISIONRULES_H
