//===- MaskParts.h - What a lowering does with a mask -----------*- C++ -*-===//
//
// Heads whose masks differ become different code, and keys that a list gives
// one by one are gathered, apart from tiles of neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_MASKS_MASKPARTS_H
#define HEDDLE_DIALECT_MASKS_MASKPARTS_H

#include "dialect/Transformer.h"

namespace heddle {

/// Heads of one mask, with its parameters as constants.
struct HeadGroup {
  llvm::SmallVector<int64_t> heads;
  /// Null if nothing is masked.
  mlir::Value mask;
};

/// The groups of `heads` heads, in the order of their first ones; masks that
/// are made are built at the builder's place. `mask` may be null.
llvm::SmallVector<HeadGroup> groupHeads(mlir::OpBuilder &builder,
                                        mlir::Value mask, int64_t heads);

/// Whether a mask says the same of all heads, so that they may be asked for
/// together.
bool isOfAllHeads(mlir::Value mask);

/// The lengths of the sentences that a mask keeps keys to, as its padding has
/// them; null for none. `mask` may be null.
mlir::Value paddingLengths(mlir::Value mask);

/// The disjoint parts of a mask.
struct MaskParts {
  /// What tiles hold; null if nothing is masked. `transformer.mask.empty`
  /// if lists hold all.
  mlir::Value tiled;
  /// Keys of a KeyListOpInterface, and the mask that says which of them count.
  struct List {
    mlir::Value keys, where;
  };
  llvm::SmallVector<List> lists;

  bool hasTiles() const {
    return !tiled || !tiled.getDefiningOp<MaskEmptyOp>();
  }
};

/// The parts of `mask`, which may be null; masks that are made are built at the
/// builder's place. A list below a `not` is no part: tiles evaluate it.
MaskParts splitMask(mlir::OpBuilder &builder, mlir::Value mask);

/// Erases the masks below `root` that nothing uses, nor a mask that is used.
void eraseUnusedMasks(mlir::Operation *root);

} // namespace heddle

#endif // HEDDLE_DIALECT_MASKS_MASKPARTS_H
