//===- OperandValues.cpp - What operands of a mask are in a picture -------===//
//
// Masks are a graph, of which each op is looked at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/OperandValues.h"
#include "dialect/Transformer.h"
#include "lib/Masks/MaskText.h"
#include "lib/Masks/TextReader.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;
using llvm::Error;
using llvm::Expected;

static Error parseNumbers(TextReader &reader, std::vector<int64_t> &numbers) {
  do {
    TextReader ahead(reader);
    bool isNegative = ahead.take('-');
    int64_t number;
    if (ahead.takeWord().getAsInteger(10, number) || !llvm::isInt<32>(number))
      return reader.expected("a number of 32 bits");
    reader = ahead;
    numbers.push_back(isNegative ? -number : number);
  } while (reader.take(','));
  return Error::success();
}

Expected<OperandValues> OperandValues::parse(StringRef text) {
  TextReader reader(text);
  OperandValues values;
  while (!reader.isAtEnd()) {
    size_t place = reader.place();
    std::string name = reader.takeWord(".").str();
    if (name.empty())
      return reader.expected("the name of an argument");
    if (!reader.take('='))
      return reader.expected("'='");
    if (llvm::any_of(values.entries,
                     [&](const Entry &each) { return each.name == name; }))
      return reader.error(place, "'" + name + "' is given twice");
    Entry &entry = values.entries.emplace_back();
    entry.name = name;
    if (Error error = parseNumbers(reader, entry.numbers))
      return std::move(error);
    if (!reader.isAtEnd() && !reader.take(';'))
      return reader.expected("',' or ';'");
  }
  return values;
}

StringRef OperandValues::findUnused() const {
  for (const Entry &entry : entries)
    if (!entry.isUsed)
      return entry.name;
  return "";
}

/// The numbers of an argument, or none.
ArrayRef<int64_t> OperandValues::use(BlockArgument argument) {
  std::string name = nameOfArgument(argument);
  std::string number = "arg" + std::to_string(argument.getArgNumber());
  for (Entry &entry : entries)
    if (entry.name == name || entry.name == number) {
      entry.isUsed = true;
      return entry.numbers;
    }
  return {};
}

void OperandValues::bindArgument(BlockArgument argument, bool isOfSentences,
                                 int64_t length, Evaluator &evaluator) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || !type.getElementType().isIntOrIndex())
    return;
  ArrayRef<int64_t> numbers = use(argument);
  if (numbers.empty() && isOfSentences && type.getRank() == 1)
    numbers = length;
  if (numbers.empty())
    return;
  SmallVector<int64_t> shape(type.getShape());
  // A list of all sentences is as long as it is given.
  bool isList = !isOfSentences && shape.size() == 1;
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent))
      extent = isList                       ? numbers.size()
               : isOfSentences && axis == 0 ? 1
                                            : length;
  SmallVector<Attribute> elements;
  for (int64_t i = 0; i < ShapedType::getNumElements(shape); ++i)
    elements.push_back(
        IntegerAttr::get(type.getElementType(),
                         numbers[std::min<size_t>(i, numbers.size() - 1)]));
  evaluator.bind(argument, DenseElementsAttr::get(type.clone(shape), elements));
}

void OperandValues::bind(Value mask, int64_t length, Evaluator &evaluator) {
  llvm::SetVector<Value> masks;
  masks.insert(mask);
  for (size_t index = 0; index < masks.size(); ++index) {
    auto op = cast<MaskOpInterface>(masks[index].getDefiningOp());
    SmallVector<Value> ofSentences = op.operandsOfSentences();
    for (Value operand : op->getOperands()) {
      if (isa<MaskType>(operand.getType()))
        masks.insert(operand);
      else if (auto argument = dyn_cast<BlockArgument>(operand))
        bindArgument(argument, llvm::is_contained(ofSentences, operand), length,
                     evaluator);
    }
  }
}
