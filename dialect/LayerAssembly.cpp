//===- LayerAssembly.cpp - Parsers and printers of optional clauses -------===//
//
// A keyword opens each clause, so that a parser needs no lookahead: without the
// keyword it reads nothing and leaves the attribute null. bf16 is the default
// type of a rounding: parsers fill it in, and printers leave it out.
//
// The weights of an ffn have no keywords. There a second comma says that the
// operand before it is the first bias, which has no scales.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerAssembly.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

/// A keyword that names a case of an enumeration.
template <typename Attribute>
static ParseResult parseKind(OpAsmParser &parser, Attribute &kind,
                             StringRef expected) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  auto value = symbolizeEnum<decltype(kind.getValue())>(keyword);
  if (!value)
    return parser.emitError(loc, "expected ")
           << expected << ", found '" << keyword << "'";
  kind = Attribute::get(parser.getContext(), *value);
  return success();
}

static ParseResult parseOperand(OpAsmParser &parser,
                                std::optional<ParsedOperand> &operand) {
  return parser.parseOperand(operand.emplace());
}

//===----------------------------------------------------------------------===//
// epilogue
//===----------------------------------------------------------------------===//

static ParseResult parseNorm(OpAsmParser &parser, NormKindAttr &norm,
                             std::optional<ParsedOperand> &gamma,
                             std::optional<ParsedOperand> &beta,
                             FloatAttr &epsilon) {
  if (parser.parseLParen() || parseKind(parser, norm, "layer or rms") ||
      parser.parseComma() || parseOperand(parser, gamma) || parser.parseComma())
    return failure();
  OptionalParseResult parsed = parser.parseOptionalOperand(beta.emplace());
  if (!parsed.has_value())
    beta.reset();
  else if (failed(*parsed) || parser.parseComma())
    return failure();
  Type f32 = parser.getBuilder().getF32Type();
  APFloat value(0.0f);
  if (parser.parseFloat(APFloat::IEEEsingle(), value))
    return failure();
  epsilon = FloatAttr::get(f32, value);
  return parser.parseRParen();
}

/// A residual, or a gate, if there may be one; or `gated` by columns.
static ParseResult parseResidual(OpAsmParser &parser,
                                 std::optional<ParsedOperand> &residual,
                                 UnitAttr *gates) {
  if (gates && succeeded(parser.parseOptionalKeyword("gated"))) {
    *gates = parser.getBuilder().getUnitAttr();
    return success();
  }
  if (gates && succeeded(parser.parseOptionalKeyword("gate")))
    *gates = parser.getBuilder().getUnitAttr();
  else if (failed(parser.parseOptionalKeyword("residual")))
    return success();
  return failure(parser.parseLParen() || parseOperand(parser, residual) ||
                 parser.parseRParen());
}

static ParseResult
parseEpilogueOf(OpAsmParser &parser, ActivationKindAttr &activation,
                std::optional<ParsedOperand> &residual, UnitAttr *gates,
                NormKindAttr &norm, std::optional<ParsedOperand> &gamma,
                std::optional<ParsedOperand> &beta, FloatAttr &epsilon) {
  if (succeeded(parser.parseOptionalKeyword("activation")) &&
      (parser.parseLParen() || parseKind(parser, activation, "an activation") ||
       parser.parseRParen()))
    return failure();
  if (parseResidual(parser, residual, gates))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("norm")))
    return parseNorm(parser, norm, gamma, beta, epsilon);
  return success();
}

ParseResult
heddle::parseEpilogue(OpAsmParser &parser, ActivationKindAttr &activation,
                      std::optional<ParsedOperand> &residual,
                      NormKindAttr &norm, std::optional<ParsedOperand> &gamma,
                      std::optional<ParsedOperand> &beta, FloatAttr &epsilon) {
  return parseEpilogueOf(parser, activation, residual, /*gates=*/nullptr, norm,
                         gamma, beta, epsilon);
}

ParseResult heddle::parseGatedEpilogue(OpAsmParser &parser,
                                       ActivationKindAttr &activation,
                                       std::optional<ParsedOperand> &residual,
                                       UnitAttr &gates, NormKindAttr &norm,
                                       std::optional<ParsedOperand> &gamma,
                                       std::optional<ParsedOperand> &beta,
                                       FloatAttr &epsilon) {
  return parseEpilogueOf(parser, activation, residual, &gates, norm, gamma,
                         beta, epsilon);
}

void heddle::printEpilogue(OpAsmPrinter &printer, Operation *op,
                           ActivationKindAttr activation, Value residual,
                           NormKindAttr norm, Value gamma, Value beta,
                           FloatAttr epsilon) {
  printGatedEpilogue(printer, op, activation, residual, /*gates=*/UnitAttr(),
                     norm, gamma, beta, epsilon);
}

void heddle::printGatedEpilogue(OpAsmPrinter &printer, Operation *,
                                ActivationKindAttr activation, Value residual,
                                UnitAttr gates, NormKindAttr norm, Value gamma,
                                Value beta, FloatAttr epsilon) {
  if (activation)
    printer << " activation(" << stringifyActivationKind(activation.getValue())
            << ")";
  if (residual)
    printer << (gates ? " gate(" : " residual(") << residual << ")";
  else if (gates)
    printer << " gated";
  if (!norm)
    return;
  printer << " norm(" << stringifyNormKind(norm.getValue()) << ", " << gamma
          << ", ";
  if (beta)
    printer << beta << ", ";
  printer.printFloat(epsilon.getValue());
  printer << ")";
}

//===----------------------------------------------------------------------===//
// ragged, ragged_keys
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kRagged = "ragged", kRaggedKeys = "ragged_keys";

ParseResult heddle::parseRaggedLists(OpAsmParser &parser,
                                     std::optional<ParsedOperand> &blocks,
                                     std::optional<ParsedOperand> &starts,
                                     std::optional<ParsedOperand> &lengths) {
  bool hasBlocks = succeeded(parser.parseOptionalKeyword(kRagged));
  if (!hasBlocks && failed(parser.parseOptionalKeyword(kRaggedKeys)))
    return success();
  return failure(parser.parseLParen() ||
                 parseOperand(parser, hasBlocks ? blocks : starts) ||
                 parser.parseComma() || parseOperand(parser, lengths) ||
                 parser.parseRParen());
}

void heddle::printRaggedLists(OpAsmPrinter &printer, Operation *, Value blocks,
                              Value starts, Value lengths) {
  if (lengths)
    printer << " " << (blocks ? kRagged : kRaggedKeys) << "("
            << (blocks ? blocks : starts) << ", " << lengths << ")";
}

//===----------------------------------------------------------------------===//
// round, also
//===----------------------------------------------------------------------===//

/// The short float in parentheses, or bf16.
static ParseResult parseTypeBehindRound(OpAsmParser &parser, TypeAttr &type) {
  type = TypeAttr::get(parser.getBuilder().getBF16Type());
  if (failed(parser.parseOptionalLParen()))
    return success();
  return failure(parser.parseAttribute(type) || parser.parseRParen());
}

static void printTypeBehindRound(OpAsmPrinter &printer, Type type) {
  if (!type.isBF16())
    printer << "(" << type << ")";
}

ParseResult heddle::parseRounds(OpAsmParser &parser, TypeAttr &rounds) {
  if (failed(parser.parseOptionalKeyword("round")))
    return success();
  return parseTypeBehindRound(parser, rounds);
}

void heddle::printRounds(OpAsmPrinter &printer, Operation *, TypeAttr rounds) {
  if (!rounds)
    return;
  printer << " round";
  printTypeBehindRound(printer, rounds.getValue());
}

ParseResult heddle::parseRoundedType(OpAsmParser &parser, TypeAttr &type) {
  type = TypeAttr::get(parser.getBuilder().getBF16Type());
  return succeeded(parser.parseOptionalKeyword("to"))
             ? parser.parseAttribute(type)
             : success();
}

void heddle::printRoundedType(OpAsmPrinter &printer, Operation *,
                              TypeAttr type) {
  if (!type.getValue().isBF16())
    printer << " to " << type.getValue();
}

ParseResult heddle::parseAlso(OpAsmParser &parser, ShorteningAttr &also,
                              std::optional<ParsedOperand> &multiplier) {
  if (failed(parser.parseOptionalKeyword("also")))
    return success();
  if (parseKind(parser, also, "quantize or round"))
    return failure();
  if (also.getValue() == Shortening::Quantize &&
      succeeded(parser.parseOptionalKeyword("rotated")))
    also =
        ShorteningAttr::get(parser.getContext(), Shortening::QuantizeRotated);
  if (isQuantized(also.getValue()))
    return failed(parser.parseOptionalLParen())
               ? success()
               : failure(parseOperand(parser, multiplier) ||
                         parser.parseRParen());
  SMLoc loc = parser.getCurrentLocation();
  TypeAttr type;
  if (parseTypeBehindRound(parser, type))
    return failure();
  if (!isShortFloat(type.getValue()))
    return parser.emitError(loc, "expected bf16 or f16, found ") << type;
  also = ShorteningAttr::get(parser.getContext(), roundingTo(type.getValue()));
  return success();
}

void heddle::printAlso(OpAsmPrinter &printer, Operation *, ShorteningAttr also,
                       Value multiplier) {
  if (!also)
    return;
  if (Type rounded = roundedType(also.getContext(), also.getValue())) {
    printer << " also round";
    return printTypeBehindRound(printer, rounded);
  }
  printer << " also quantize";
  if (also.getValue() == Shortening::QuantizeRotated)
    printer << " rotated";
  if (multiplier)
    printer << "(" << multiplier << ")";
}

//===----------------------------------------------------------------------===//
// positions
//===----------------------------------------------------------------------===//

static ParseResult parseInteger(OpAsmParser &parser, IntegerAttr &attribute) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  attribute = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

ParseResult heddle::parsePositions(OpAsmParser &parser,
                                   std::optional<ParsedOperand> &table,
                                   IntegerAttr &timescales,
                                   PositionLayoutAttr &layout,
                                   IntegerAttr &offset) {
  if (failed(parser.parseOptionalKeyword("positions")))
    return success();
  StringRef kind;
  SMLoc loc;
  if (parser.parseLParen() || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&kind))
    return failure();
  if (kind != "sinusoidal" && kind != "learned")
    return parser.emitError(loc, "expected sinusoidal or learned, found '")
           << kind << "'";
  if (parser.parseComma())
    return failure();
  if (kind == "learned"
          ? parseOperand(parser, table) || parser.parseComma() ||
                parseInteger(parser, offset)
          : parseInteger(parser, timescales) || parser.parseComma() ||
                parseKind(parser, layout, "halves or interleaved"))
    return failure();
  return parser.parseRParen();
}

void heddle::printPositions(OpAsmPrinter &printer, Operation *, Value table,
                            IntegerAttr timescales, PositionLayoutAttr layout,
                            IntegerAttr offset) {
  if (timescales)
    printer << " positions(sinusoidal, " << timescales.getInt() << ", "
            << stringifyPositionLayout(layout.getValue()) << ")";
  else if (table)
    printer << " positions(learned, " << table << ", " << offset.getInt()
            << ")";
}

//===----------------------------------------------------------------------===//
// weights of ffn
//===----------------------------------------------------------------------===//

/// A weight, perhaps with scales.
static ParseResult parseWeight(OpAsmParser &parser, ParsedOperand &weight,
                               std::optional<ParsedOperand> &scales) {
  if (parser.parseOperand(weight))
    return failure();
  if (failed(parser.parseOptionalKeyword("scales")))
    return success();
  return failure(parser.parseLParen() || parseOperand(parser, scales) ||
                 parser.parseRParen());
}

ParseResult heddle::parseFfnWeights(OpAsmParser &parser, ParsedOperand &weight1,
                                    std::optional<ParsedOperand> &scales1,
                                    std::optional<ParsedOperand> &bias1,
                                    ParsedOperand &weight2,
                                    std::optional<ParsedOperand> &scales2,
                                    std::optional<ParsedOperand> &bias2) {
  if (parseWeight(parser, weight1, scales1) || parser.parseComma() ||
      parseWeight(parser, weight2, scales2))
    return failure();
  if (scales2 || failed(parser.parseOptionalComma()))
    return success();
  bias1 = weight2;
  return failure(parseWeight(parser, weight2, scales2) || parser.parseComma() ||
                 parseOperand(parser, bias2));
}

void heddle::printFfnWeights(OpAsmPrinter &printer, Operation *, Value weight1,
                             Value scales1, Value bias1, Value weight2,
                             Value scales2, Value bias2) {
  auto print = [&](Value weight, Value scales) {
    printer << weight;
    if (scales)
      printer << " scales(" << scales << ")";
  };
  print(weight1, scales1);
  printer << ", ";
  if (bias1)
    printer << bias1 << ", ";
  print(weight2, scales2);
  if (bias2)
    printer << ", " << bias2;
}

//===----------------------------------------------------------------------===//
// derivations of parameters
//===----------------------------------------------------------------------===//

ParseResult heddle::parseDerivation(OpAsmParser &parser,
                                    DerivationAttr &derivation,
                                    DenseF64ArrayAttr &numbers,
                                    ArrayAttr &parts) {
  SmallVector<StringRef> keywords;
  for (uint64_t i = 0; i <= getMaxEnumValForDerivation(); ++i)
    keywords.push_back(stringifyDerivation(Derivation(i)));
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword, keywords)))
    return success();
  derivation =
      DerivationAttr::get(parser.getContext(), *symbolizeDerivation(keyword));
  SmallVector<double> values;
  auto parseNumber = [&]() -> ParseResult {
    int64_t integer;
    OptionalParseResult parsed = parser.parseOptionalInteger(integer);
    if (!parsed.has_value())
      return parser.parseFloat(values.emplace_back());
    values.push_back(double(integer));
    return *parsed;
  };
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseCommaSeparatedList(parseNumber) || parser.parseRParen())
      return failure();
    numbers = parser.getBuilder().getDenseF64ArrayAttr(values);
  }
  SmallVector<Attribute> names;
  auto parseName = [&] {
    StringAttr name;
    if (parser.parseSymbolName(name))
      return failure();
    names.push_back(FlatSymbolRefAttr::get(name));
    return success();
  };
  bool isOfNone = derivation.getValue() == Derivation::RotaryFrequencies ||
                  derivation.getValue() == Derivation::Sinusoids ||
                  derivation.getValue() == Derivation::AlibiSlopes;
  if (!isOfNone && (parser.parseKeyword("of") ||
                    parser.parseCommaSeparatedList(
                        OpAsmParser::Delimiter::Square, parseName)))
    return failure();
  parts = parser.getBuilder().getArrayAttr(names);
  return success();
}

void heddle::printDerivation(OpAsmPrinter &printer, Operation *,
                             DerivationAttr derivation,
                             DenseF64ArrayAttr numbers, ArrayAttr parts) {
  if (!derivation)
    return;
  printer << " " << stringifyDerivation(derivation.getValue());
  if (numbers) {
    auto printNumber = [&](double number) {
      if (std::fmod(number, 1) == 0 && std::abs(number) < 0x1p53)
        printer << int64_t(number);
      else
        printer.printFloat(APFloat(number));
    };
    printer << "(";
    llvm::interleaveComma(numbers.asArrayRef(), printer, printNumber);
    printer << ")";
  }
  if (parts.empty())
    return;
  printer << " of ";
  printer.printAttributeWithoutType(parts);
}

//===----------------------------------------------------------------------===//
// modes of pooling
//===----------------------------------------------------------------------===//

ParseResult heddle::parseModes(OpAsmParser &parser, ArrayAttr &modes) {
  SmallVector<Attribute> names;
  auto parseMode = [&]() -> ParseResult {
    PoolingAttr mode;
    if (parseKind(parser, mode, "a mode of pooling"))
      return failure();
    names.push_back(mode);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseMode))
    return failure();
  modes = parser.getBuilder().getArrayAttr(names);
  return success();
}

void heddle::printModes(OpAsmPrinter &printer, Operation *, ArrayAttr modes) {
  printer << "[";
  llvm::interleaveComma(
      modes.getAsRange<PoolingAttr>(), printer,
      [&](PoolingAttr mode) { printer << stringifyPooling(mode.getValue()); });
  printer << "]";
}
