//===- MaskDrawings.h - The pictures of a module's masks --------*- C++ -*-===//

#ifndef HEDDLE_LIB_MASKS_MASKDRAWINGS_H
#define HEDDLE_LIB_MASKS_MASKDRAWINGS_H

#include "dialect/Transformer.h"
#include "lib/Masks/MaskPicture.h"
#include "lib/Masks/OperandValues.h"

namespace heddle {

struct MaskDrawingOptions {
  /// Queries, and keys.
  int64_t length = 64;
  /// How many heads that differ are drawn.
  size_t heads = 4;
};

/// Attention whose masks look alike: "encode.encoder_l1_self", ....
struct MaskDrawing {
  MaskPicture picture;
  std::vector<std::string> owners;
  /// Those that the checkpoint gives to these, without the function's.
  std::vector<std::string> names;
  /// The first of them.
  AttentionOp op;
  /// Why there is no picture; empty if there is one.
  std::string failure;
};

/// Draws the masks of attention over whole sequences, in program order and
/// each value once; those that come out alike share the picture of the first.
/// `module` is expanded (`transformer-expand-regions`) and not bufferised; its
/// predicates are evaluated as kernels do.
std::vector<MaskDrawing> drawMasks(mlir::ModuleOp module,
                                   const MaskDrawingOptions &options,
                                   OperandValues &values);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_MASKDRAWINGS_H
