//===- AttentionSites.h - Which attention of a model is which ---*- C++ -*-===//
//
// What an attention is called follows from the arguments of its function that
// its queries and keys are computed from, `target` being the one with
// `transformer.target`:
//
//   decoder.self    both depend on the target
//   decoder.cross   queries depend on it, keys do not
//   encoder.self    neither does, and they have an argument in common
//
// What is none of these, such as queries that are parameters, has no name, and
// neither have rows that are taken from the others.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_ATTENTIONSITES_H
#define HEDDLE_LIB_MASKS_ATTENTIONSITES_H

#include "dialect/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle {

enum class AttentionKind { EncoderSelf, DecoderSelf, DecoderCross };

/// The names above, in the order of the enumeration.
inline constexpr llvm::StringRef kAttentionKinds[] = {
    "encoder.self", "decoder.self", "decoder.cross"};

/// An attention over whole sequences that has a name.
struct AttentionSite {
  AttentionOp op;
  AttentionKind kind;
  /// From 1, among those of its kind in its function.
  int64_t layer;

  llvm::StringRef getKindName() const {
    return kAttentionKinds[static_cast<size_t>(kind)];
  }
  /// "encoder.self.3".
  std::string getName() const {
    return (getKindName() + "." + llvm::Twine(layer)).str();
  }
};

/// Those of the function's body, in program order.
llvm::SmallVector<AttentionSite> findAttention(mlir::func::FuncOp function);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_ATTENTIONSITES_H
