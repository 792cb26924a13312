//===- AttentionRules.h - Which attention gets which mask -------*- C++ -*-===//
//
//   rules  ::= rule (`;` rule)*
//   rule   ::= target `:` expression
//   target ::= (`encoder.self` | `decoder.self` | `decoder.cross`) (`.` layer)?
//
// Layers count from 1, in the order of the program, the attention of each kind
// by itself. `encoder.self: window(128) | global(1); encoder.self.6: full` says
// what the pass restrict-attention does.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_ATTENTIONRULES_H
#define HEDDLE_LIB_MASKS_ATTENTIONRULES_H

#include "lib/Masks/MaskExpression.h"
#include <optional>

namespace heddle {

/// What attention attends to, and where it stands.
enum class AttentionKind { EncoderSelf, DecoderSelf, DecoderCross };

/// How rules name it.
llvm::StringRef nameOf(AttentionKind kind);

struct AttentionRule {
  AttentionKind kind;
  /// One layer, or none for all.
  std::optional<int64_t> layer;
  MaskExpression mask;
  /// The target as it is written.
  std::string target;
};

/// At least one rule; the error is a TextError.
llvm::Expected<std::vector<AttentionRule>>
parseAttentionRules(llvm::StringRef text);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_ATTENTIONRULES_H
