//===- Transformer.h - The transformer dialect ------------------*- C++ -*-===//
//
// The ops, types, attributes and interfaces that the .td files beside this
// header specify.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_TRANSFORMER_H
#define HEDDLE_DIALECT_TRANSFORMER_H

#include "dialect/Attributes.h"
#include "dialect/Forms.h"
#include "dialect/KnownAttributes.h"
#include "dialect/attention/AttentionSpecs.h"
#include "dialect/linear/LinearSpecs.h"
#include "dialect/linear/PanelLayout.h"
#include "dialect/masks/Lanes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "dialect/Dialect.h.inc"
#include "dialect/Interfaces.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Types.h.inc"
#define GET_OP_CLASSES
#include "dialect/Ops.h.inc"

namespace heddle {

/// Discardable attributes; the dialect's description says what they mean.
inline constexpr llvm::StringLiteral kFamilyAttr = "transformer.family";
inline constexpr llvm::StringLiteral kSourceAttr = "transformer.source";
inline constexpr llvm::StringLiteral kTasksAttr = "transformer.tasks";
inline constexpr llvm::StringLiteral kTaskAttr = "transformer.task";
inline constexpr llvm::StringLiteral kFormsAttr = "transformer.forms";
inline constexpr llvm::StringLiteral kRoleAttr = "transformer.role";
inline constexpr llvm::StringLiteral kDecoderAttr = "transformer.decoder";
inline constexpr llvm::StringLiteral kAlignmentAttr = "transformer.alignment";
inline constexpr llvm::StringLiteral kHeadsAttr = "transformer.heads";
/// Keys of kAlignmentAttr.
inline constexpr llvm::StringLiteral kLayerKey = "layer", kHeadsKey = "heads";
inline constexpr llvm::StringLiteral kNameAttr = "transformer.name";
inline constexpr llvm::StringLiteral kDimsAttr = "transformer.dims";
inline constexpr llvm::StringLiteral kTargetAttr = "transformer.target";
inline constexpr llvm::StringLiteral kPreparedAttr = "transformer.prepared";
inline constexpr llvm::StringLiteral kStateAttr = "transformer.state";
inline constexpr llvm::StringLiteral kPinnedAttr = "transformer.pinned";
inline constexpr llvm::StringLiteral kOutputAttr = "transformer.output";
inline constexpr llvm::StringLiteral kArenaAttr = "transformer.arena";
inline constexpr llvm::StringLiteral kEntryAttr = "transformer.entry";
inline constexpr llvm::StringLiteral kKernelAttr = "transformer.kernel";
inline constexpr llvm::StringLiteral kLaunchAttr = "transformer.launch";
inline constexpr llvm::StringLiteral kWorkAttr = "transformer.work";
inline constexpr llvm::StringLiteral kKernelsAttr = "transformer.kernels";
inline constexpr llvm::StringLiteral kKernelTypesAttr =
    "transformer.kernel_types";
inline constexpr llvm::StringLiteral kLayersAttr = "transformer.layers";

/// Rows of the state of online ops: what a query remembers of its keys.
inline constexpr int64_t kOnlineStateRows = 4;
/// Queries of a sequence with which a block of the ragged form begins.
inline constexpr int64_t kQueryBlock = 32;
/// The dimension of ragged values.
inline constexpr llvm::StringLiteral kTokensDim = "tokens";
/// Keys that tiles take at once.
inline constexpr int64_t kKeyGroup = 32;

/// Whether vectors of f32 are rounded to that type, bf16 or f16, to be
/// multiplied: an element has 16 bits, and sums are f32.
inline bool isShortFloat(mlir::Type type) {
  return type.isBF16() || type.isF16();
}

/// Its name, for people and manifests.
inline llvm::StringRef nameOfShortFloat(mlir::Type type) {
  return type.isF16() ? "f16" : "bf16";
}

/// What `also` rounds vectors to; null if it does not. And the other way
/// round, of a short float.
mlir::Type roundedType(mlir::MLIRContext *context,
                       std::optional<Shortening> also);
Shortening roundingTo(mlir::Type type);

/// The largest block of rotated vectors: it stays in registers.
inline constexpr int64_t kMostRotated = 128;
/// The block of vectors of that width, a power of two: see QuantizeOp.
int64_t rotationOf(int64_t width);
/// Whether an element of a block changes its sign before it is added.
bool isNegatedByRotation(int64_t element);
/// Whether `also` quantises vectors, rotated or as they are.
inline bool isQuantized(std::optional<Shortening> also) {
  return also == Shortening::Quantize || also == Shortening::QuantizeRotated;
}

/// Whether a weight stands in panels, as `parameter` says: on memrefs only.
inline bool isPacked(mlir::Value weight) {
  auto type = llvm::dyn_cast<mlir::MemRefType>(weight.getType());
  return type && type.getRank() > 2;
}

/// Attaches BufferizableOpInterface to the ops of the dialect.
void registerBufferization(mlir::DialectRegistry &registry);

} // namespace heddle

#endif // HEDDLE_DIALECT_TRANSFORMER_H
