//===- AttentionSpecs.h - What attention is built of ------------*- C++ -*-===//
//
// An op with many operands is built from structs that name them, filled by
// statements: a member that is null, false or empty is left out. Shapes and
// types are those of the ops, see Attention.td, LinearAttention.td and
// Online.td. Regions are not among them: they are filled after the op is built.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ATTENTION_ATTENTIONSPECS_H
#define HEDDLE_DIALECT_ATTENTION_ATTENTIONSPECS_H

#include "dialect/Attributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace heddle {

/// An `attention`; its result follows from its operands.
struct AttentionSpec {
  mlir::Value query, key, value, mask;
  /// Of keys and values of i8.
  mlir::Value keyScales, valueScales;
  /// Of the step form.
  mlir::Value positions, sentences, caches, history, prefill, parts;
  bool isShared = false;
  int64_t pinned = 0;
  /// Of ragged keys: how many a sequence has, and, beside positions and
  /// sentences, the blocks of ragged queries, or where its keys begin.
  mlir::Value lengths, blocks, starts;
  /// Vectors of relative positions.
  mlir::Value relativeKeys, relativeQueries;
  /// Null on tensors.
  mlir::Value destination;
  int64_t heads = 0;
  mlir::IntegerAttr kvHeads;
  mlir::FloatAttr scale;
  mlir::TypeAttr rounds;
  Normalizer normalizer = Normalizer::Softmax;
};

/// A `linear_attention`; its results follow from its operands.
struct LinearAttentionSpec {
  mlir::Value query, key, value, lengths;
  llvm::SmallVector<mlir::Value, 3> destinations;
  int64_t heads = 0;
  mlir::IntegerAttr kvHeads;
  bool isCausal = false, isStep = false;
  FeatureMap features = FeatureMap::Elu;
};

/// A `mask.tile_runs`.
struct TileRunsSpec {
  mlir::Value mask, batch, head;
  mlir::Value queryBegin, queryEnd, keyBegin, keyEnd;
  /// Of strided positions.
  mlir::Value remainder;
  int64_t stride = 1;
  mlir::Value runs;
  int64_t tile = 0;
};

/// A `mask.listed_keys`.
struct ListedKeysSpec {
  mlir::Value keys, begin, end, where;
  mlir::Value batch, head, query, keyBegin, keyEnd;
  mlir::Value list;
};

/// Scratch memory of a block of queries, or of one row.
struct QueryScratch {
  OnlineKind kind = OnlineKind::Block;
  mlir::Value queries, probabilities, sums, state;
  /// The values of a tile of keys in pairs, for a block whose probabilities are
  /// short floats; and as f32, if they are integers.
  mlir::Value pairs, widened;
  /// Of short floats the scores of a row or, of bf16, of a group of keys, which
  /// has memory for the last ones.
  mlir::Value scores, last;
  /// The keys of a tile as a similarity region, products with vectors of
  /// relative positions or a block of queries beside integers read them, if
  /// they are not stored so.
  mlir::Value copies;
};

/// The keys [begin, end) of a tile; a mask has all of [fullBegin, fullEnd).
struct TileBounds {
  mlir::Value begin, end, fullBegin, fullEnd;
};

/// Where the keys of an online op are stored: number j in row j, or at the
/// position that a list gives (i32); position j in a ring behind pinned rows,
/// if `origin` is not null; in the cache that a history gives (i32), if rows
/// are those of several caches of `cacheRows` each.
struct KeyPlaces {
  mlir::Value origin, list, history, cacheRows;
  int64_t pinned = 0;
};

/// An `online.probabilities`.
struct OnlineProbabilitiesSpec {
  QueryScratch scratch;
  mlir::Value keys;
  /// Of keys of integers.
  mlir::Value scales;
  /// Vectors of relative positions, of this head.
  mlir::Value relativeKeys, relativeQueries;
  TileBounds tile;
  /// Keys whose scores stay in registers.
  int64_t tileKeys = 0;
  KeyPlaces places;
  mlir::Value mask, batch, head, first;
  /// Of strided positions.
  mlir::Value remainder;
  int64_t stride = 1;
  /// Values to prefetch beside the keys of a list.
  mlir::Value fetched;
  float factor = 1, scale = 1;
  Normalizer normalizer = Normalizer::Softmax;
};

/// An `online.update`.
struct OnlineUpdateSpec {
  QueryScratch scratch;
  mlir::Value values;
  /// Of values of integers.
  mlir::Value scales;
  TileBounds tile;
  /// As many as of `online.probabilities`.
  int64_t tileKeys = 0;
  KeyPlaces places;
  /// Values in groups, from `online.columns`.
  mlir::Value columns, slots;
};

} // namespace heddle

#endif // HEDDLE_DIALECT_ATTENTION_ATTENTIONSPECS_H
