//===- MaskExpression.cpp - A text that says which pairs attend -----------===//
//
// A parser by recursive descent, one method a line of the grammar, which writes
// an expression down in postfix order: building is one loop with a stack.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/MaskExpression.h"
#include "dialect/NearestName.h"
#include "dialect/Transformer.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;
using llvm::Error;
using llvm::Expected;

namespace heddle {
class MaskParser {
public:
  explicit MaskParser(TextReader &reader) : reader(reader) {}

  Error parseExpression();
  MaskExpression take() { return std::move(expression); }

private:
  using Part = MaskExpression::Part;
  using ParseOperand = Error (MaskParser::*)();

  Error parseOperators(char mark, Part::Kind kind, ParseOperand parseOperand);
  Error parseBoth();
  Error parseOne();
  Error parseCall();
  Error parseArguments(const MaskFunction &function, Part &call);
  Error parseArgument(const MaskFunction &function, Part &call, size_t &given);
  Error parseNumbers(const MaskFunction &function,
                     const MaskParameter &parameter,
                     std::vector<int64_t> &numbers);
  Error parseNumber(const MaskParameter &parameter,
                    std::vector<int64_t> &numbers);
  Error fillDefaults(const MaskFunction &function, Part &call);
  Error checkLists(const MaskFunction &function, const Part &call);
  Error append(Part part);

  TextReader &reader;
  MaskExpression expression;
  /// Brackets and complements around what is parsed.
  size_t depth = 0;
};
} // namespace heddle

Error MaskParser::append(Part part) {
  if (expression.parts.size() == kMostMaskParts)
    return reader.error(part.place, "the mask has more than " +
                                        Twine(kMostMaskParts) +
                                        " functions and operators");
  expression.parts.push_back(std::move(part));
  return Error::success();
}

Error MaskParser::parseOperators(char mark, Part::Kind kind,
                                 ParseOperand parseOperand) {
  if (Error error = (this->*parseOperand)())
    return error;
  for (size_t place = reader.place(); reader.take(mark);
       place = reader.place()) {
    if (Error error = (this->*parseOperand)())
      return error;
    if (Error error = append({kind, place}))
      return error;
  }
  return Error::success();
}

Error MaskParser::parseExpression() {
  return parseOperators('|', Part::Or, &MaskParser::parseBoth);
}

Error MaskParser::parseBoth() {
  return parseOperators('&', Part::And, &MaskParser::parseOne);
}

Error MaskParser::parseOne() {
  size_t place = reader.place();
  bool isComplement = reader.take('!');
  if (!isComplement && !reader.take('('))
    return parseCall();
  if (++depth > kMostMaskParts)
    return reader.error(place, "the mask nests more than " +
                                   Twine(kMostMaskParts) + " deep");
  if (isComplement) {
    if (Error error = parseOne())
      return error;
    --depth;
    return append({Part::Not, place});
  }
  if (Error error = parseExpression())
    return error;
  --depth;
  if (!reader.take(')'))
    return reader.expected("')'");
  return Error::success();
}

template <typename Named>
static std::string suggestName(StringRef name, ArrayRef<Named> all) {
  return suggestNearest(name, llvm::map_to_vector(all, [](const Named &each) {
                          return StringRef(each.name);
                        }));
}

Error MaskParser::parseCall() {
  size_t place = reader.place();
  StringRef name = reader.takeWord();
  if (name.empty())
    return reader.expected("a mask");
  const MaskFunction *function =
      llvm::find_if(getMaskFunctions(), [&](const MaskFunction &each) {
        return each.name == name;
      });
  if (llvm::is_contained(getMasksOfModules(), name))
    return reader.error(place, "the mask '" + name +
                                   "' takes more than numbers and belongs in a "
                                   "module, as 'transformer.mask." +
                                   name + "'");
  if (function == getMaskFunctions().end())
    return reader.error(place, "the unknown mask '" + name + "'" +
                                   suggestName(name, getMaskFunctions()));
  Part call{Part::Call, place, function};
  call.arguments.resize(function->parameters.size());
  if (reader.take('('))
    if (Error error = parseArguments(*function, call))
      return error;
  if (Error error = fillDefaults(*function, call))
    return error;
  if (Error error = checkLists(*function, call))
    return error;
  return append(std::move(call));
}

/// What stands behind the opening bracket, with the closing one.
Error MaskParser::parseArguments(const MaskFunction &function, Part &call) {
  size_t given = 0;
  if (reader.take(')'))
    return Error::success();
  do {
    // Nothing but the bracket can follow then.
    if (reader.isAtEnd() && given >= function.parameters.size())
      return reader.expected("')'");
    if (Error error = parseArgument(function, call, given))
      return error;
  } while (reader.take(','));
  if (!reader.take(')'))
    return reader.expected("',' or ')'");
  return Error::success();
}

/// An argument by its name, or the next one of those without: `given` of them
/// stand before it.
Error MaskParser::parseArgument(const MaskFunction &function, Part &call,
                                size_t &given) {
  ArrayRef<MaskParameter> parameters = function.parameters;
  TextReader ahead(reader);
  StringRef name = ahead.takeWord();
  bool isNamed = ahead.take('=') && !name.empty();
  const MaskParameter *parameter = llvm::find_if(
      parameters, [&](const MaskParameter &each) { return each.name == name; });
  if (!isNamed && parameter != parameters.end())
    return ahead.expected("'=' after '" + name + "'");
  if (!isNamed)
    parameter = parameters.begin() + given;
  if (isNamed) {
    if (parameter == parameters.end())
      return reader.error(reader.place(), "'" + formatSignature(function) +
                                              "' has no parameter '" + name +
                                              "'" +
                                              suggestName(name, parameters));
    // Those that are left have names, too.
    given = parameters.size() + 1;
  } else if (given > parameters.size()) {
    return reader.error(
        reader.place(),
        "an argument without a name follows one that has a name");
  } else if (given++ == parameters.size()) {
    return reader.error(reader.place(),
                        "'" + formatSignature(function) +
                            "' has no parameter for this argument");
  }
  std::vector<int64_t> &numbers =
      call.arguments[parameter - parameters.begin()];
  if (!numbers.empty())
    return reader.error(reader.place(),
                        "'" + parameter->name + "' is given twice");
  if (isNamed)
    reader = ahead;
  return parseNumbers(function, *parameter, numbers);
}

Error MaskParser::parseNumbers(const MaskFunction &function,
                               const MaskParameter &parameter,
                               std::vector<int64_t> &numbers) {
  size_t place = reader.place();
  if (!reader.take('['))
    return parseNumber(parameter, numbers);
  if (!parameter.isList)
    return reader.error(place, "'" + parameter.name +
                                   "' is one number, not a list" +
                                   (function.name == "global"
                                        ? ": tokens that are listed belong in "
                                          "a module, as "
                                          "'transformer.mask.global'"
                                        : ""));
  do {
    if (Error error = parseNumber(parameter, numbers))
      return error;
  } while (reader.take(','));
  if (!reader.take(']'))
    return reader.expected("',' or ']'");
  return Error::success();
}

Error MaskParser::parseNumber(const MaskParameter &parameter,
                              std::vector<int64_t> &numbers) {
  size_t place = reader.place();
  bool isNegative = reader.take('-');
  TextReader ahead(reader);
  StringRef digits = ahead.takeWord();
  if (digits.empty() || !llvm::all_of(digits, llvm::isDigit))
    return reader.expected("a number");
  reader = ahead;
  int64_t value;
  // What does not fit is in no range.
  bool fits = !digits.getAsInteger(10, value);
  if (isNegative)
    value = -value;
  if (!fits || value < parameter.least || value > parameter.most)
    return reader.error(place, "'" + parameter.name + "' is " +
                                   reader.textBetween(place, reader.lastEnd()) +
                                   ", expected " + Twine(parameter.least) +
                                   " to " + Twine(parameter.most));
  numbers.push_back(value);
  return Error::success();
}

Error MaskParser::fillDefaults(const MaskFunction &function, Part &call) {
  ArrayRef<MaskParameter> parameters = function.parameters;
  for (auto [parameter, numbers] : llvm::zip(parameters, call.arguments)) {
    if (!numbers.empty())
      continue;
    if (std::holds_alternative<Required>(parameter.otherwise))
      return reader.error(call.place, "'" + formatSignature(function) +
                                          "' needs '" + parameter.name + "'");
    if (const auto *number = std::get_if<int64_t>(&parameter.otherwise)) {
      numbers = {*number};
      continue;
    }
    StringRef same = std::get<SameAs>(parameter.otherwise).parameter;
    const auto *source =
        llvm::find_if(parameters, [&](const MaskParameter &each) {
          return each.name == same;
        });
    numbers = call.arguments[source - parameters.begin()];
  }
  return Error::success();
}

/// The number of heads that a call tells apart: the length of its longest list.
static size_t countHeads(ArrayRef<std::vector<int64_t>> arguments) {
  size_t heads = 1;
  for (const std::vector<int64_t> &numbers : arguments)
    heads = std::max(heads, numbers.size());
  return heads;
}

/// Lists of a call have one length: a number for each head.
Error MaskParser::checkLists(const MaskFunction &function, const Part &call) {
  size_t heads = countHeads(call.arguments);
  for (auto [parameter, numbers] :
       llvm::zip(function.parameters, call.arguments))
    if (numbers.size() != 1 && numbers.size() != heads)
      return reader.error(
          call.place, "'" + parameter.name + "' has " + Twine(numbers.size()) +
                          " numbers, expected one for each of " + Twine(heads) +
                          " heads, or one");
  return Error::success();
}

std::optional<MaskExpression::HeadCount>
MaskExpression::findOtherHeads(int64_t heads) const {
  for (const Part &part : parts)
    if (int64_t own = countHeads(part.arguments); own != 1 && own != heads)
      return HeadCount{part.function->name, own, part.place};
  return std::nullopt;
}

Expected<MaskExpression> MaskExpression::parse(TextReader &reader) {
  MaskParser parser(reader);
  if (Error error = parser.parseExpression())
    return std::move(error);
  return parser.take();
}

Value MaskExpression::Part::build(OpBuilder &builder, Value lengths) const {
  Location loc = NameLoc::get(builder.getStringAttr(function->name));
  return function->build({builder, loc, arguments, lengths});
}

std::optional<MaskExpression::Mistake>
MaskExpression::findMistake(MLIRContext &context) const {
  std::string sentence;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (sentence.empty())
      sentence = diagnostic.str();
  });
  // Each op is verified by itself, then dropped.
  Block block;
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(&block);
  for (const Part &part : parts) {
    if (part.kind != Part::Call)
      continue;
    Value mask = part.build(builder, /*lengths=*/Value());
    if (failed(verify(mask.getDefiningOp())))
      // Behind the name of the op, which nobody wrote.
      return Mistake{("'" + part.function->name + "' " +
                      StringRef(sentence).split("' op ").second)
                         .str(),
                     part.place};
  }
  return std::nullopt;
}

bool MaskExpression::isFull() const {
  return parts.size() == 1 && parts.front().function->name == "full";
}

Value MaskExpression::build(OpBuilder &builder, Location loc,
                            Value lengths) const {
  SmallVector<Value> stack;
  for (const Part &part : parts) {
    if (part.kind == Part::Call) {
      stack.push_back(part.build(builder, lengths));
      continue;
    }
    Value rhs = stack.pop_back_val();
    if (part.kind == Part::Not) {
      stack.push_back(MaskNotOp::create(builder, loc, rhs));
      continue;
    }
    Value lhs = stack.pop_back_val();
    stack.push_back(part.kind == Part::And
                        ? Value(MaskAndOp::create(builder, loc, lhs, rhs))
                        : Value(MaskOrOp::create(builder, loc, lhs, rhs)));
  }
  return stack.front();
}
