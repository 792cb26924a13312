//===- LinearAmx.h - Sums of a linear by tiles ------------------*- C++ -*-===//
//
// Levels with tiles (AMX) have registers of 16 rows of 64 bytes, and one
// instruction that multiplies two of them: x as it stands by a panel as it
// stands, whose rows hold 16 columns and, 128 bytes further, the next group of
// inputs. Sums of i8 are exact, of bf16 in an order of their own: the products
// of even inputs of 64 bytes, those of odd ones, both together, then what was
// before; denormals are zeros.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_LINEARAMX_H
#define HEDDLE_LIB_KERNELS_LINEAR_LINEARAMX_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

/// Rows of a tile of the machine, and of sums that are built of two by two.
inline constexpr int64_t kTileRows = 16, kMostTileRows = 2 * kTileRows;
/// Of a row of a tile.
inline constexpr int64_t kTileBytes = 64;

/// Of an amx.tile_load whose memory need not stay in the L1 cache.
inline constexpr llvm::StringLiteral kNontemporalAttr = "nontemporal";

/// Bytes of a row of x, a memref [rows, in].
int64_t rowBytes(mlir::Value input);

/// Whether a level multiplies rows of x, a memref [rows, in], in tiles: those
/// of i8 and bf16 that are whole words long, of at most 32 KB.
bool hasAmxProduct(mlir::Value input, const IsaLevel &isa);

/// Builds the code of sums of 16 or 32 rows by a panel of such an x in front of
/// the op, which stays. All of these rows are read.
void emitAmxSums(LinearSumsOp op, const IsaLevel &isa);
/// The same of integers with scales, of which one panel is unpacked.
void emitScaledAmxSums(LinearSumsOp op, const IsaLevel &isa);

/// Builds the code of the region beside the op, where sums are built by none
/// of these, in front of it.
void emitBeside(LinearSumsOp op, const IsaLevel &isa);
/// Clones what runs beside tile `number` along the depth; nothing of none.
void cloneBeside(mlir::Region &beside, mlir::Value number,
                 mlir::OpBuilder &builder);

/// Builds the code of a panel of integers as bf16, on any level.
void emitLinearUnpack(LinearUnpackOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_LINEARAMX_H
