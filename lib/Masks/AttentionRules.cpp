//===- AttentionRules.cpp - Which attention gets which mask ---------------===//
//
// Layers are one word with points in it; MaskExpression parses masks.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/AttentionRules.h"
#include "dialect/NearestName.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace heddle;

static Error parseLayers(TextReader &reader, AttentionRule &rule) {
  size_t place = reader.place();
  StringRef name = reader.takeWord(".");
  if (name.empty())
    return reader.expected("layers such as 'encoder.self'");
  rule.layers = name.str();
  rule.place = place;
  size_t behind = reader.place();
  if (name.ends_with(".") && reader.take('-'))
    if (StringRef number = reader.takeWord();
        !number.empty() && all_of(number, isDigit))
      return reader.error(behind, "there is no layer -" + number +
                                      ": layers count from 1");
  auto [front, back] = name.rsplit('.');
  if (!back.empty() && all_of(back, isDigit)) {
    int64_t layer;
    // What does not fit has no layer either.
    if (back.getAsInteger(10, layer) || layer < 1 ||
        layer > std::numeric_limits<int32_t>::max())
      return reader.error(place + front.size() + 1,
                          "there is no layer " + back +
                              ": layers count from 1");
    rule.layer = layer;
    name = front;
  }
  const auto *kind = find(kAttentionKinds, name);
  if (kind == std::end(kAttentionKinds))
    return reader.error(place, "the unknown layers '" + name + "'" +
                                   suggestNearest(name, kAttentionKinds));
  rule.kind = static_cast<AttentionKind>(kind - kAttentionKinds);
  if (!reader.take(':'))
    return reader.expected("':' after the layers");
  return Error::success();
}

Expected<std::vector<AttentionRule>>
heddle::parseAttentionRules(StringRef text) {
  TextReader reader(text);
  std::vector<AttentionRule> rules;
  do {
    AttentionRule &rule = rules.emplace_back();
    if (Error error = parseLayers(reader, rule))
      return std::move(error);
    Expected<MaskExpression> mask = MaskExpression::parse(reader);
    if (!mask)
      return mask.takeError();
    rule.mask = std::move(*mask);
  } while (reader.take(';'));
  if (!reader.isAtEnd())
    return reader.expected("'|', '&' or ';'");
  return rules;
}
