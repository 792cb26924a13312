//===- MaskText.cpp - How a mask reads ------------------------------------===//
//
// Brackets stand around what binds less tightly than its surroundings, in the
// order of the language: `!`, `&`, `|`. Masks are a graph, and its text a tree
// that may be far larger, so that writing stops at a limit.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/MaskText.h"
#include "dialect/Transformer.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

static constexpr size_t kMostText = 400;

namespace {
/// How tightly operators bind, the weakest first.
enum Binding { Either, Both, Complement };
} // namespace

std::string heddle::nameOfArgument(BlockArgument argument) {
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (function && argument.getOwner()->isEntryBlock())
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), kNameAttr))
      return name.str();
  if (auto name = argument.getLoc()->findInstanceOf<NameLoc>())
    return name.getName().str();
  return "";
}

static std::string printOperand(Value operand) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  operand.printAsOperand(stream, OpPrintingFlags());
  return text;
}

/// A mask op as it is printed: its name and what is its own.
static std::string printLeaf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  StringRef rest = StringRef(text).split(" = ").second;
  rest = rest.split('\n').first.split(" : ").first.rtrim(" {");
  rest.consume_front("transformer.");
  rest.consume_front("mask.");
  std::string result = rest.str();
  for (Value operand : op->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    std::string name = argument ? nameOfArgument(argument) : "";
    std::string printed = printOperand(operand);
    if (size_t at = result.find(printed); !name.empty() && at != result.npos)
      result.replace(at, printed.size(), "%" + name);
  }
  return result;
}

static void append(std::string &text, Value mask, Binding around) {
  if (text.size() > kMostText)
    return;
  auto operators = [&](Binding binding, StringRef mark, Value lhs, Value rhs) {
    text += binding < around ? "(" : "";
    append(text, lhs, binding);
    text += mark;
    append(text, rhs, binding);
    text += binding < around ? ")" : "";
  };
  llvm::TypeSwitch<Operation *>(mask.getDefiningOp())
      .Case([&](MaskAndOp op) {
        operators(Both, " & ", op.getLhs(), op.getRhs());
      })
      .Case([&](MaskOrOp op) {
        operators(Either, " | ", op.getLhs(), op.getRhs());
      })
      .Case([&](MaskNotOp op) {
        text += "!";
        append(text, op.getOperand(), Complement);
      })
      .Default([&](Operation *op) { text += printLeaf(op); });
}

std::string heddle::formatMask(Value mask) {
  std::string text;
  append(text, mask, Either);
  if (text.size() <= kMostText)
    return text;
  return text.substr(0, kMostText) + "...";
}
