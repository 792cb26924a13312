//===- MaskAlgebra.h - What masks made of others answer ---------*- C++ -*-===//

#ifndef HEDDLE_DIALECT_MASKS_MASKALGEBRA_H
#define HEDDLE_DIALECT_MASKS_MASKALGEBRA_H

#include "dialect/Transformer.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle {

/// A question to a mask: two functions that join the answers of the operands of
/// `and` and of `or`, and one that asks any other mask. The functions must
/// outlive it.
template <typename Answer> class MaskAlgebra {
public:
  MaskAlgebra(llvm::function_ref<Answer(Answer, Answer)> both,
              llvm::function_ref<Answer(Answer, Answer)> either,
              llvm::function_ref<Answer(MaskOpInterface)> leaf)
      : both(both), either(either), leaf(leaf) {}

  /// The answer of `mask`. Each mask in it is asked once.
  Answer ask(mlir::Value mask) {
    auto found = known.find(mask);
    if (found != known.end())
      return found->second;
    Answer answer =
        llvm::TypeSwitch<mlir::Operation *, Answer>(mask.getDefiningOp())
            .Case([&](MaskAndOp op) {
              return both(ask(op.getLhs()), ask(op.getRhs()));
            })
            .Case([&](MaskOrOp op) {
              return either(ask(op.getLhs()), ask(op.getRhs()));
            })
            .Default([&](mlir::Operation *op) {
              return leaf(llvm::cast<MaskOpInterface>(op));
            });
    known.insert({mask, answer});
    return answer;
  }

private:
  llvm::function_ref<Answer(Answer, Answer)> both, either;
  llvm::function_ref<Answer(MaskOpInterface)> leaf;
  llvm::DenseMap<mlir::Value, Answer> known;
};

} // namespace heddle

#endif // HEDDLE_DIALECT_MASKS_MASKALGEBRA_H
