//===- AttentionRules.h - Which attention gets which mask -------*- C++ -*-===//
//
//   rules  ::= rule (`;` rule)*
//   rule   ::= target `:` expression
//   target ::= (`encoder.self` | `decoder.self` | `decoder.cross`) (`.` layer)?
//
// AttentionSites.h says what targets are; layers count from 1. `encoder.self:
// window(128); encoder.self.6: full` is a window in all layers but the sixth.
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
  /// The target as it is written, and where.
  std::string target;
  size_t place;
};

/// At least one rule; the error is a TextError.
llvm::Expected<std::vector<AttentionRule>>
parseAttentionRules(llvm::StringRef text);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_ATTENTIONRULES_H
