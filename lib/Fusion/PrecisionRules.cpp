//===- PrecisionRules.cpp - What the product of a weight multiplies -------===//
//
// The first rule that has a name counts, and makes nothing narrower.
//
//===----------------------------------------------------------------------===//

#include "lib/Fusion/PrecisionRules.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace heddle;

std::optional<Precision> heddle::parsePrecision(StringRef name) {
  return llvm::StringSwitch<std::optional<Precision>>(name)
      .Case("int8", Precision::Int8)
      .Case("int8w", Precision::Int8Weights)
      .Case("bf16", Precision::BF16)
      .Case("f16", Precision::F16)
      .Case("f32", Precision::F32)
      .Default(std::nullopt);
}

Type heddle::shortFloatOf(Precision precision, MLIRContext *context) {
  switch (precision) {
  case Precision::BF16:
    return BFloat16Type::get(context);
  case Precision::F16:
    return Float16Type::get(context);
  case Precision::Int8:
  case Precision::Int8Weights:
  case Precision::F32:
    return Type();
  }
  llvm_unreachable("no precision");
}

static int bitsOf(Precision precision) {
  switch (precision) {
  case Precision::Int8:
  case Precision::Int8Weights:
    return 8;
  case Precision::BF16:
  case Precision::F16:
    return 16;
  case Precision::F32:
    return 32;
  }
  llvm_unreachable("no precision");
}

static bool isStoredAs(ParameterOp parameter, Encoding encoding) {
  return parameter.isStored() && parameter.getSource() &&
         parameter.getSource()->getEncoding() == encoding &&
         !parameter.getFactor();
}

bool heddle::hasOneMultiplier(ParameterOp parameter) {
  return isStoredAs(parameter, Encoding::IntGemm8);
}

bool heddle::isStoredQuantised(ParameterOp parameter) {
  // Another order of columns, each with its multiplier, changes nothing.
  if (parameter.getDerivation() == Derivation::SplitPairs &&
      !parameter.getFactor())
    return isStoredAs(parameter.getPartOps().front(), Encoding::Int8Rows);
  return hasOneMultiplier(parameter) ||
         isStoredAs(parameter, Encoding::Int8Rows);
}

llvm::Expected<PrecisionRules>
PrecisionRules::parse(StringRef dtype, ArrayRef<std::string> keep) {
  PrecisionRules result;
  result.dtype = parsePrecision(dtype);
  for (StringRef text : keep) {
    auto [type, names] = text.split(':');
    std::optional<Precision> precision = parsePrecision(type);
    llvm::Expected<llvm::GlobPattern> pattern =
        llvm::GlobPattern::create(names);
    if (!pattern || !precision || names.empty()) {
      llvm::consumeError(pattern.takeError());
      return makeError(
          "expected a type and a pattern of names to keep, such as "
          "bf16:encoder_*, found '" +
          text + "'");
    }
    result.rules.push_back({names, *precision, std::move(*pattern)});
  }
  return result;
}

Precision PrecisionRules::precisionOf(ParameterOp parameter) {
  Precision ordered = dtype.value_or(
      isStoredQuantised(parameter) ? Precision::Int8 : Precision::F32);
  std::optional<Precision> kept;
  for (Rule &rule : rules)
    if (rule.pattern.match(parameter.getSymName())) {
      rule.isMatched = true;
      kept = kept.value_or(rule.precision);
    }
  return kept && bitsOf(*kept) >= bitsOf(ordered) ? *kept : ordered;
}

llvm::Error PrecisionRules::checkMatched() const {
  for (const Rule &rule : rules)
    if (!rule.isMatched)
      return makeError(
          "no weight of a product and no table has a name that matches '" +
          rule.names + "', the pattern to keep");
  return llvm::Error::success();
}
