//===- AttentionRules.h - Which attention gets which mask -------*- C++ -*-===//
//
//   rules  ::= rule (`;` rule)*
//   rule   ::= layers `:` expression
//   layers ::= (`encoder.self` | `decoder.self` | `decoder.cross`) (`.` N)?
//
// AttentionSites.h says which layers have these names; N counts from 1.
// `encoder.self: window(128); encoder.self.6: full` is a window in all layers
// but the sixth.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_ATTENTIONRULES_H
#define HEDDLE_LIB_MASKS_ATTENTIONRULES_H

#include "lib/Masks/AttentionSites.h"
#include "lib/Masks/MaskExpression.h"
#include <optional>

namespace heddle {

struct AttentionRule {
  AttentionKind kind;
  /// One layer, or none for all.
  std::optional<int64_t> layer;
  MaskExpression mask;
  /// The layers as written, and where.
  std::string layers;
  size_t place;
};

/// At least one rule; the error is a TextError.
llvm::Expected<std::vector<AttentionRule>>
parseAttentionRules(llvm::StringRef text);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_ATTENTIONRULES_H
