//===- MaskFunctions.cpp - What the language of masks can call ------------===//
//
// The table, and how a row looks to people.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/MaskFunctions.h"
#include "dialect/Transformer.h"

using namespace mlir;
using namespace heddle;

/// Coordinates are i32.
static constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
static constexpr int64_t kMostSeed = std::numeric_limits<uint32_t>::max();
static constexpr bool kList = true;

ArrayRef<MaskFunction> heddle::getMaskFunctions() {
  using Call = const MaskCall &;
  // Name, parameters (name, least, most, default), the op.
  static const MaskFunction functions[] = {
      {"full", {}, [](Call call) { return call.create<MaskFullOp>(); }},
      {"empty", {}, [](Call call) { return call.create<MaskEmptyOp>(); }},
      {"causal", {}, [](Call call) { return call.create<MaskCausalOp>(); }},
      {"window",
       {{"left", 0, kMost, Required(), kList},
        {"right", 0, kMost, SameAs{"left"}, kList},
        {"dilation", 1, kMost, 1, kList}},
       [](Call call) {
         return call.create<MaskWindowOp>(call.list(0), call.list(1),
                                          call.list(2));
       }},
      {"prefix",
       {{"length", 1, kMost}},
       [](Call call) { return call.create<MaskPrefixOp>(call[0]); }},
      {"global",
       {{"count", 1, kMost}},
       [](Call call) {
         return call.create<MaskGlobalOp>(call.attribute(0), Value(), false);
       }},
      {"random_blocks",
       {{"block", 1, kMost}, {"count", 1, kMost}, {"seed", 0, kMostSeed, 0}},
       [](Call call) {
         return call.create<MaskRandomBlocksOp>(call.lengths, call[0], call[1],
                                                call[2]);
       }},
      {"random_tokens",
       {{"count", 1, kMost}, {"seed", 0, kMostSeed, 0}},
       [](Call call) {
         return call.create<MaskRandomTokensOp>(call.lengths, call[0], call[1]);
       }},
  };
  return functions;
}

ArrayRef<StringLiteral> heddle::getMasksOfModules() {
  static constexpr StringLiteral names[] = {"blocks", "dense",    "padding",
                                            "pairs",  "segments", "where"};
  return names;
}

std::string heddle::formatSignature(const MaskFunction &function) {
  std::string text = function.name.str();
  for (const MaskParameter &parameter : function.parameters) {
    text += &parameter == &function.parameters.front() ? "(" : ", ";
    text += parameter.name;
    if (const auto *number = std::get_if<int64_t>(&parameter.otherwise))
      text += "=" + std::to_string(*number);
    else if (const auto *same = std::get_if<SameAs>(&parameter.otherwise))
      text += ("=" + same->parameter).str();
  }
  return text + (function.parameters.empty() ? "" : ")");
}
