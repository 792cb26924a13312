//===- Weights.cpp - What parameters and their readers may be -------------===//
//
// Verifiers check the numbered constraints of Weights.td. A parameter that is
// made of others is typed by one function, derivedType, which those who make
// one ask as well.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

LogicalResult
SourceAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   StringRef file, int64_t offset, Encoding encoding,
                   FloatAttr inputMultiplier,
                   std::optional<int64_t> multipliers) {
  if (offset < 0)
    return emitError() << "expects an offset of at least 0 into '" << file
                       << "', found " << offset;
  if (multipliers && *multipliers < 0)
    return emitError() << "expects multipliers at an offset of at least 0 into "
                       << "'" << file << "', found " << *multipliers;
  if (multipliers
          ? encoding != Encoding::Int8Rows && encoding != Encoding::Int16
          : encoding == Encoding::Int8Rows)
    return emitError() << "of encoding '" << stringifyEncoding(encoding)
                       << "' expects " << (multipliers ? "no " : "")
                       << "multipliers";
  if (!inputMultiplier)
    return success();
  if (encoding != Encoding::IntGemm8)
    return emitError() << "expects an input multiplier beside 'intgemm8' only";
  APFloat value = inputMultiplier.getValue();
  if (!inputMultiplier.getType().isF32() || !value.isFiniteNonZero() ||
      value.isNegative())
    return emitError() << "expects a positive f32 as input multiplier, found "
                       << inputMultiplier;
  return success();
}

static bool takesNumbers(Derivation derivation) {
  return derivation == Derivation::Columns ||
         derivation == Derivation::RelativeBuckets ||
         derivation == Derivation::RotaryFrequencies ||
         derivation == Derivation::RowNorms ||
         derivation == Derivation::LogBuckets ||
         derivation == Derivation::Sinusoids ||
         derivation == Derivation::SplitPairs ||
         derivation == Derivation::Shifted;
}

LogicalResult ParameterOp::verify() {
  // parameter_c1
  if (!getTensorType().hasStaticShape())
    return emitOpError("expects a static shape, found ") << getTensorType();
  constexpr int64_t limit = int64_t(1) << 40;
  int64_t elements = 1;
  for (int64_t size : getTensorType().getShape()) {
    if (size != 0 && elements > limit / size)
      return emitOpError("expects at most ")
             << limit << " elements, found " << getTensorType();
    elements *= size;
  }
  // parameter_c2
  if (getTransposed() && !getPacked() && getTensorType().getRank() != 2)
    return emitOpError("is transposed and expects rank 2, found rank ")
           << getTensorType().getRank();
  // parameter_c3
  if (IntegerAttr placed = getPlacedAttr();
      placed && (placed.getInt() < 0 || placed.getInt() % 64 != 0))
    return emitOpError("expects a place that is a multiple of 64, found ")
           << placed.getInt();
  // parameter_c4
  if (bool(getSource()) + bool(getParts()) + getZeros() > 1)
    return emitOpError("expects at most one of a source, parts and zeros");
  if (bool(getDerivation()) != bool(getParts()))
    return emitOpError("expects a derivation exactly if it has parts");
  if (getNumbers() && !getDerivation())
    return emitOpError("has numbers and expects a derivation");
  if (getNumbers() && !takesNumbers(*getDerivation()))
    return emitOpError("has numbers, which '")
           << stringifyDerivation(*getDerivation()) << "' does not take";
  if (!isStored() && getTransposed())
    return emitOpError("has parts or zeros and cannot be transposed");
  // parameter_c6
  if (FloatAttr factor = getFactorAttr();
      factor && !factor.getValue().isFinite())
    return emitOpError("expects a finite factor, found ")
           << factor.getValueAsDouble();
  if (getFactor() && !getTensorType().getElementType().isF32())
    return emitOpError("is scaled and expects type f32, found ")
           << getTensorType();
  // parameter_c7
  if (std::optional<ArrayRef<int64_t>> parts = getPacked()) {
    for (int64_t columns : *parts)
      if (columns < 1)
        return emitOpError("expects parts of at least 1 column, found ")
               << columns;
    PanelLayout layout(getWeightFormat(), *parts);
    ArrayRef<int64_t> shape = getTensorType().getShape();
    std::optional<int64_t> room = layout.depthOf(shape);
    if (!room)
      return emitOpError("expects panels ")
             << layout.describe() << ", found " << getTensorType();
    if (getDepth() &&
        (getDepthAttr().getInt() < 1 ||
         layout.rows(getDepthAttr().getInt()) != layout.rows(*room)))
      return emitOpError("of type ")
             << getTensorType() << " cannot have a depth of "
             << getDepthAttr().getInt();
  } else if (getDepth()) {
    return emitOpError("is not packed and expects no depth");
  }
  if (getDerivation() == Derivation::WithScales && !getPacked())
    return emitOpError("has scales and expects panels, found ")
           << getTensorType();
  // parameter_c8
  if (isStoredAsIntegers() && getSource() &&
      getSource()->getEncoding() != Encoding::IntGemm8)
    return emitOpError("of type ")
           << getTensorType() << " expects a source of encoding 'intgemm8'";
  if (isShortFloat(getTensorType().getElementType()) && !getDerivation())
    return emitOpError("of type ")
           << getTensorType() << " expects a derivation";
  return success();
}

SmallVector<ParameterOp, 0> ParameterOp::getPartOps() {
  SmallVector<ParameterOp, 0> parts;
  if (getParts())
    for (auto name : getPartsAttr().getAsRange<FlatSymbolRefAttr>())
      parts.push_back(
          SymbolTable::lookupNearestSymbolFrom<ParameterOp>(*this, name));
  return parts;
}

static bool isWhole(double number, double least, double most) {
  return number >= least && number <= most && std::fmod(number, 1) == 0;
}

/// A concatenation: parts with the leading dimensions and the element type of
/// the whole, and widths that add up to its.
static LogicalResult verifyColumns(ParameterOp op, RankedTensorType type,
                                   ArrayRef<ParameterOp> parts) {
  int64_t columns = 0;
  for (ParameterOp part : parts) {
    RankedTensorType partType = part.getTensorType();
    if (partType.getRank() == 0 || type.getRank() == 0 ||
        partType.getElementType() != type.getElementType() ||
        partType.getShape().drop_back() != type.getShape().drop_back())
      return op.emitOpError("of type ")
             << type << " has the part '" << part.getSymName() << "' of type "
             << partType
             << ", expected the same leading dimensions and element type";
    columns += partType.getShape().back();
  }
  if (parts.empty() || columns != type.getShape().back())
    return op.emitOpError("of type ")
           << type << " has parts of " << columns << " columns";
  if (!op.getNumbers())
    return success();
  ArrayRef<double> numbers = *op.getNumbers();
  bool areEqual = llvm::all_of(parts, [&](ParameterOp part) {
    return part.getTensorType() == ParameterOp(parts.front()).getTensorType();
  });
  if (!areEqual || numbers.size() != 1 || !isWhole(numbers[0], 1, columns) ||
      columns % (int64_t(numbers[0]) * int64_t(parts.size())) != 0)
    return op.emitOpError("expects parts of equal width, a multiple of the "
                          "columns that each has in turn");
  return success();
}

/// Numbers of `rotary_frequencies`.
static bool areFrequencies(ArrayRef<double> numbers) {
  auto isFinite = [](double number) { return std::isfinite(number); };
  if (numbers.empty() || !llvm::all_of(numbers, isFinite) || numbers[0] <= 1)
    return false;
  bool isByParts = numbers.size() == 5 && numbers[2] > 0 &&
                   numbers[3] > numbers[2] && numbers[4] > 0;
  return numbers.size() == 1 ||
         (numbers[1] > 0 && (numbers.size() == 2 || isByParts));
}

/// One vector of f32, of no parts and of a base, which may be scaled.
static LogicalResult verifyFrequencies(ParameterOp op, RankedTensorType type,
                                       size_t parts) {
  std::optional<ArrayRef<double>> numbers = op.getNumbers();
  if (parts == 0 && type.getRank() == 1 && type.getDimSize(0) > 0 &&
      type.getElementType().isF32() && numbers && areFrequencies(*numbers))
    return success();
  return op.emitOpError("of type ")
         << type
         << " cannot be rotary frequencies: they are a vector of f32 and have "
            "a base above 1 and, if they are scaled, a factor above 0 or a "
            "factor, low < high above 0 and a length";
}

static constexpr double kFarthest = 1 << 20;

/// A table of f32, of no parts and of the row that is zero.
static LogicalResult verifySinusoids(ParameterOp op, RankedTensorType type,
                                     size_t parts) {
  std::optional<ArrayRef<double>> numbers = op.getNumbers();
  if (parts == 0 && type.getRank() == 2 && type.getElementType().isF32() &&
      type.getDimSize(1) % 2 == 0 && type.getDimSize(1) >= 4 && numbers &&
      numbers->size() == 1 &&
      isWhole(numbers->front(), 0, double(type.getDimSize(0) - 1)))
    return success();
  return op.emitOpError("of type ")
         << type
         << " cannot be sinusoids: they are a table of f32 of an even width of "
            "at least 4 and have the number of the row that is zero";
}

/// One vector of f32, of no parts and no numbers.
static LogicalResult verifySlopes(ParameterOp op, RankedTensorType type,
                                  size_t parts) {
  if (parts == 0 && type.getRank() == 1 && type.getDimSize(0) > 0 &&
      type.getElementType().isF32() && !op.getNumbers())
    return success();
  return op.emitOpError("of type ")
         << type
         << " cannot be the slopes of ALiBi: they are a vector of f32 and have "
            "no numbers";
}

/// A vector or matrix of f32 whose columns are heads with pairs.
static RankedTensorType typeOfPairs(ArrayRef<ParameterOp> parts,
                                    ArrayRef<double> numbers) {
  if (parts.size() != 1 || numbers.size() != 2)
    return nullptr;
  RankedTensorType type = ParameterOp(parts[0]).getTensorType();
  if (type.getRank() < 1 || type.getRank() > 2 ||
      !type.getElementType().isF32())
    return nullptr;
  int64_t columns = type.getShape().back();
  bool areNumbers = isWhole(numbers[0], 2, double(columns)) &&
                    isWhole(numbers[1], 1, std::floor(numbers[0] / 2));
  return areNumbers && columns % int64_t(numbers[0]) == 0 ? type : nullptr;
}

/// A part of f32 and what is added to it.
static RankedTensorType typeOfShifted(ArrayRef<ParameterOp> parts,
                                      ArrayRef<double> numbers) {
  if (parts.size() != 1 || numbers.size() != 1 || !std::isfinite(numbers[0]))
    return nullptr;
  RankedTensorType type = ParameterOp(parts[0]).getTensorType();
  return type.getElementType().isF32() ? type : nullptr;
}

/// Numbers of `relative_buckets` that a table of so many rows has.
static bool areBuckets(ArrayRef<double> numbers, int64_t rows) {
  bool hasDirection = numbers.size() == 3 && numbers[2] == 1;
  double step = hasDirection ? 2 : 4;
  return (numbers.size() == 2 || hasDirection) && numbers[0] >= step &&
         numbers[0] <= double(rows) && std::fmod(numbers[0], step) == 0 &&
         numbers[1] > numbers[0] / step && isWhole(numbers[1], 0, kFarthest);
}

/// Numbers of `log_buckets`.
static bool areLogBuckets(ArrayRef<double> numbers) {
  return numbers.size() == 3 && isWhole(numbers[0], 0, kFarthest) &&
         isWhole(numbers[1], 0, kFarthest) &&
         isWhole(numbers[2], 1, kFarthest) &&
         (numbers[0] == 0 ||
          (numbers[0] >= 2 && numbers[1] > std::floor(numbers[0] / 2) + 1));
}

/// x of f32 and two other parts that are f32; null if they are not.
static RankedTensorType typeOfThree(Derivation derivation,
                                    ArrayRef<ParameterOp> parts,
                                    ArrayRef<double> numbers) {
  auto type = [&](size_t part) {
    return ParameterOp(parts[part]).getTensorType();
  };
  if (parts.size() != 3 || type(0).getRank() != 2 ||
      !type(0).getElementType().isF32())
    return nullptr;
  auto vectorOf = [&](int64_t size) { return type(0).clone(size); };
  int64_t width = type(0).getDimSize(1);
  if (derivation == Derivation::RowNorms) {
    bool isEpsilon =
        numbers.size() == 1 && std::isfinite(numbers[0]) && numbers[0] >= 0;
    return isEpsilon && type(1) == vectorOf(width) && type(2) == type(1)
               ? type(0)
               : nullptr;
  }
  if (!numbers.empty() || type(1).getRank() != 2)
    return nullptr;
  int64_t columns = type(1).getDimSize(1);
  return type(1) == type(0).clone({width, columns}) &&
                 type(2) == vectorOf(columns)
             ? type(0).clone({type(0).getDimSize(0), columns})
             : nullptr;
}

/// Scales of each column of a weight [in, out].
static int64_t blocksOf(RankedTensorType weight) {
  return llvm::divideCeil(weight.getDimSize(0), kScaledInputs);
}

/// Integers with their scales.
static RankedTensorType typeOfScaled(ArrayRef<ParameterOp> parts,
                                     ArrayRef<double> numbers) {
  if (parts.size() != 2 || !numbers.empty())
    return nullptr;
  RankedTensorType integers = ParameterOp(parts[0]).getTensorType(),
                   scales = ParameterOp(parts[1]).getTensorType();
  if (integers.getRank() != 2 || !integers.getElementType().isInteger(8) ||
      scales.getShape() !=
          ArrayRef<int64_t>{blocksOf(integers), integers.getDimSize(1)} ||
      !scales.getElementType().isF32())
    return nullptr;
  return integers;
}

RankedTensorType ParameterOp::derivedType(Derivation derivation,
                                          ArrayRef<ParameterOp> parts,
                                          int64_t length,
                                          ArrayRef<double> numbers) {
  if (derivation == Derivation::RowNorms || derivation == Derivation::Product)
    return typeOfThree(derivation, parts, numbers);
  if (derivation == Derivation::WithScales)
    return typeOfScaled(parts, numbers);
  if (derivation == Derivation::SplitPairs)
    return typeOfPairs(parts, numbers);
  if (derivation == Derivation::Shifted)
    return typeOfShifted(parts, numbers);
  bool isBias = derivation == Derivation::ColumnShiftedBias ||
                derivation == Derivation::RowShiftedBias;
  if (parts.size() != (isBias ? 2 : 1) ||
      numbers.empty() == takesNumbers(derivation))
    return nullptr;
  ParameterOp matrix = parts.back();
  RankedTensorType type = matrix.getTensorType();
  bool isOfIntegers = isBias || derivation == Derivation::Multiplier ||
                      derivation == Derivation::InputMultiplier ||
                      derivation == Derivation::ProductScales;
  if (type.getRank() != 2 || (isOfIntegers ? !matrix.isStoredAsIntegers()
                                           : !type.getElementType().isF32()))
    return nullptr;
  Builder builder(type.getContext());
  auto vectorOf = [&](int64_t size) {
    return RankedTensorType::get(size, builder.getF32Type());
  };
  switch (derivation) {
  case Derivation::Columns:
  case Derivation::WithScales:
  case Derivation::RotaryFrequencies:
  case Derivation::Sinusoids:
  case Derivation::SplitPairs:
  case Derivation::Shifted:
  case Derivation::AlibiSlopes:
  case Derivation::RowNorms:
  case Derivation::Product:
    return nullptr;
  case Derivation::ColumnIntegers:
  case Derivation::RowIntegers:
  case Derivation::BlockIntegers:
    return type.clone(builder.getI8Type());
  case Derivation::Rounded:
    return type.clone(builder.getBF16Type());
  case Derivation::RoundedToF16:
    return type.clone(builder.getF16Type());
  case Derivation::ColumnScales:
    return vectorOf(type.getDimSize(1));
  case Derivation::RowScales:
    return vectorOf(type.getDimSize(0));
  case Derivation::BlockScales:
    return type.clone({blocksOf(type), type.getDimSize(1)});
  case Derivation::AsColumnI8:
  case Derivation::AsRowI8:
  case Derivation::AsBlockI8:
  case Derivation::AsBF16:
  case Derivation::AsF16:
  case Derivation::Rotated:
    return type;
  case Derivation::RelativeBuckets:
    return areBuckets(numbers, type.getDimSize(0))
               ? type.clone({type.getDimSize(1), 2 * int64_t(numbers[1]) + 1})
               : nullptr;
  case Derivation::LogBuckets:
    return areLogBuckets(numbers) && type.getDimSize(0) > 0 &&
                   type.getDimSize(0) % 2 == 0
               ? type.clone({type.getDimSize(1), 2 * int64_t(numbers[2]) + 1})
               : nullptr;
  case Derivation::One:
  case Derivation::Multiplier:
    return vectorOf(1);
  case Derivation::InputMultiplier:
    return matrix.getSource() && matrix.getSource()->getInputMultiplier()
               ? vectorOf(1)
               : nullptr;
  case Derivation::ProductScales:
    return vectorOf(length);
  case Derivation::ColumnShiftedBias:
  case Derivation::RowShiftedBias:
    RankedTensorType bias = ParameterOp(parts.front()).getTensorType();
    int64_t size =
        type.getDimSize(derivation == Derivation::ColumnShiftedBias ? 1 : 0);
    return bias == vectorOf(size) ? bias : nullptr;
  }
  llvm_unreachable("all derivations are covered");
}

LogicalResult ParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getParts())
    return success();
  // parameter_c5
  SmallVector<ParameterOp> parts;
  for (auto name : getPartsAttr().getAsRange<FlatSymbolRefAttr>()) {
    auto part = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, name);
    // A part that stands before cannot be made of this one.
    if (!part || part->getBlock() != (*this)->getBlock() ||
        !part->isBeforeInBlock(*this))
      return emitOpError("has the part '")
             << name.getValue() << "', which is not declared before it";
    parts.push_back(part);
  }
  auto type = getTensorType().clone(getLogicalShape());
  Derivation derivation = *getDerivation();
  if (derivation == Derivation::Columns)
    return verifyColumns(*this, type, parts);
  if (derivation == Derivation::RotaryFrequencies)
    return verifyFrequencies(*this, type, parts.size());
  if (derivation == Derivation::Sinusoids)
    return verifySinusoids(*this, type, parts.size());
  if (derivation == Derivation::AlibiSlopes)
    return verifySlopes(*this, type, parts.size());
  int64_t length = type.getRank() == 1 ? type.getDimSize(0) : 0;
  ArrayRef<double> numbers = getNumbers().value_or(ArrayRef<double>());
  if (type == derivedType(derivation, parts, length, numbers))
    return success();
  InFlightDiagnostic error = emitOpError("of type ")
                             << type << " cannot be the "
                             << stringifyDerivation(derivation)
                             << " of its parts";
  if (derivation == Derivation::RelativeBuckets)
    error << " (expected numbers n, a multiple of 4, and far above n / 4, or "
             "n, even, far above n / 2 and 1, a table [n or more, heads] of "
             "f32, and type tensor<heads x 2 far + 1>)";
  if (derivation == Derivation::LogBuckets)
    error << " (expected numbers n, 0 or at least 2, most above n / 2 + 1, and "
             "far, a table [2 s, d] of f32, and type tensor<d x 2 far + 1>)";
  if (derivation == Derivation::SplitPairs)
    error
        << " (expected numbers w, a divisor of the columns, and n, at least 1 "
           "and at most w / 2, a vector or matrix of f32, and its type)";
  return error;
}

SmallVector<int64_t> ParameterOp::getLogicalShape() {
  ArrayRef<int64_t> shape = getTensorType().getShape();
  if (std::optional<ArrayRef<int64_t>> parts = getPacked()) {
    PanelLayout layout(getWeightFormat(), *parts);
    int64_t depth =
        getDepth() ? getDepthAttr().getInt() : *layout.depthOf(shape);
    return {depth, llvm::sum_of(*parts)};
  }
  return SmallVector<int64_t>(shape);
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("reads parameter '")
           << getParameter() << "', which is not declared";
  // weight_c1
  auto type = cast<ShapedType>(getValue().getType());
  if (type.getShape() != parameter.getTensorType().getShape() ||
      type.getElementType() != parameter.getTensorType().getElementType()) {
    InFlightDiagnostic error = emitOpError("has type ")
                               << type << " but parameter '" << getParameter()
                               << "' is declared as "
                               << parameter.getTensorType();
    error.attachNote(parameter.getLoc()) << "declared here";
    return error;
  }
  return success();
}
