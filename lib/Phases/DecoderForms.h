//===- DecoderForms.h - The forms of a decoder, as functions ----*- C++ -*-===//
//
// What split-phases derives from the marks of a decoder @f. Each function
// stands right behind it, so that the one built last comes first, and carries
// its role (`transformer.role`, `transformer.decoder`) if the target are
// ids: the runtime calls no others.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PHASES_DECODERFORMS_H
#define HEDDLE_LIB_PHASES_DECODERFORMS_H

#include "lib/Phases/DecoderMarks.h"

namespace heddle {

/// Says that `function` is `role` of `decoder`.
void setRole(mlir::func::FuncOp function, llvm::StringRef role,
             llvm::StringRef decoder);

/// @f.prepare: what does not depend on the target, once a sentence.
llvm::LogicalResult buildPrepare(const DecoderMarks &marks);

/// @f.step: one position of each row, whose past stands in its own caches; with
/// `throughHistory` @f.beam, where each position of it may stand in another.
llvm::LogicalResult buildStep(const DecoderMarks &marks, bool throughHistory);

/// Whether it has a chunk: results whose rows can be taken, or whose layers act
/// on rows that can. Logits of candidates made of short vectors have none.
bool hasChunk(const DecoderMarks &marks);

/// @f.chunk: the first positions of each sentence at once, of which it returns
/// the results that are asked for and leaves the states.
llvm::LogicalResult buildChunk(const DecoderMarks &marks);

/// Whether it can extend: a chunk whose states are KV caches alone. Others are
/// those of the position before, which rows of one call do not see.
bool canExtend(const DecoderMarks &marks);

/// @f.extend: any positions of any sentences, a row each, prompts and generated
/// ones. It returns the results of the rows that are asked for.
llvm::LogicalResult buildExtend(const DecoderMarks &marks);

/// @f.align: the queries of all target positions and the keys of all source
/// tokens in the attention that shows alignments, as `transformer.alignment` of
/// the decoder says. None if what it computes is no softmax of their products,
/// or if nothing attends to a memory; an error if that layer is not there.
mlir::FailureOr<bool> buildAlign(const DecoderMarks &marks);

} // namespace heddle

#endif // HEDDLE_LIB_PHASES_DECODERFORMS_H
