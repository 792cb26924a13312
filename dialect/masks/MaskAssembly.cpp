//===- MaskAssembly.cpp - One number, or a list of them -------------------===//
//
// The parser tries a number first and then a list in brackets. Either becomes
// an array, so that ops handle one form: an array of one number holds for all
// heads. It is printed without brackets, however it was written.
//
//===----------------------------------------------------------------------===//

#include "dialect/masks/MaskAssembly.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace heddle;

ParseResult heddle::parsePerHead(OpAsmParser &parser,
                                 DenseI64ArrayAttr &values) {
  SmallVector<int64_t> numbers;
  auto parseNumber = [&] {
    return parser.parseInteger(numbers.emplace_back());
  };
  int64_t single;
  OptionalParseResult parsed = parser.parseOptionalInteger(single);
  if (parsed.has_value())
    numbers.push_back(single);
  if (parsed.has_value() ? failed(*parsed)
                         : failed(parser.parseCommaSeparatedList(
                               OpAsmParser::Delimiter::Square, parseNumber)))
    return failure();
  values = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

void heddle::printPerHead(OpAsmPrinter &printer, Operation *,
                          DenseI64ArrayAttr values) {
  if (values.size() == 1)
    printer << values[0];
  else
    printer << "[" << values.asArrayRef() << "]";
}
