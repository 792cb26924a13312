//===- MaskFormula.h - Masks beside their definitions -----------*- C++ -*-===//
//
// Builds a mask as IR and, independently, the set that it denotes as a C++
// predicate written from the definitions in Masks.td; and evaluates what the
// IR says on constants.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_MASKS_MASKFORMULA_H
#define HEDDLE_TEST_MASKS_MASKFORMULA_H

#include "dialect/Transformer.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <random>

namespace heddle::test {

inline constexpr int kSentences = 3, kHeads = 2, kPositions = 7;

/// A mask as IR and as the set that it should be.
struct MaskFormula {
  mlir::Value mask;
  std::function<bool(int b, int h, int i, int j)> contains;
  /// What it is, for messages.
  std::string text;
};

struct ConstantRange {
  int64_t begin, end, fullBegin, fullEnd;
};

/// Keys [begin, end) that a block sees alike; `cover` is one of Cover.
struct ConstantSegment {
  int64_t begin, end, cover;
};

/// A module in which masks are built and asked.
class MaskBuilder {
public:
  MaskBuilder();

  MaskFormula full();
  MaskFormula empty();
  MaskFormula causal();
  /// Sentences of `lengths` keys; one for each of kSentences.
  MaskFormula padding(std::vector<int32_t> lengths);
  MaskFormula window(int64_t left, int64_t right,
                     std::vector<int64_t> dilation = {1});
  MaskFormula prefix(int64_t length);
  /// Global tokens: [0, count), or a list for each sentence, or one for all
  /// where only columns are asked for.
  MaskFormula firstTokens(int64_t count, bool columns);
  MaskFormula tokens(std::vector<int32_t> tokens, bool columns);
  MaskFormula segments(int64_t length);
  /// Compressed rows, whatever stands in them.
  MaskFormula blocks(int64_t block, std::vector<int32_t> offsets,
                     std::vector<int32_t> listed);
  MaskFormula pairs(std::vector<int32_t> offsets, std::vector<int32_t> keys);
  MaskFormula dense(int64_t queries, int64_t keys);
  /// A predicate, in a window or not.
  MaskFormula where(std::optional<int64_t> left, std::optional<int64_t> right);
  /// Without lengths what is before the query.
  MaskFormula randomBlocks(std::vector<int32_t> lengths, int64_t block,
                           int64_t count, uint32_t seed);
  MaskFormula randomTokens(std::vector<int32_t> lengths, int64_t count,
                           uint32_t seed);
  MaskFormula both(const MaskFormula &lhs, const MaskFormula &rhs);
  MaskFormula either(const MaskFormula &lhs, const MaskFormula &rhs);
  MaskFormula negate(const MaskFormula &operand);

  /// One of each kind of leaf, with several parameters.
  std::vector<MaskFormula> leaves();
  /// A random expression of at most `depth` operators above its leaves.
  MaskFormula random(std::mt19937 &generator, int depth);

  /// What `contains` says for coordinates of one or several lanes each; one
  /// element a lane. Empty when it cannot be evaluated.
  std::vector<bool> contains(mlir::Value mask, int b, int h,
                             std::vector<int32_t> i, std::vector<int32_t> j);
  /// What `keyRanges` says; null when it cannot be evaluated, or there is no
  /// closed form.
  std::optional<std::vector<ConstantRange>>
  keyRanges(mlir::Value mask, int b, int h, int begin, int end, int keyCount);
  /// What `segmentAt` says from key 0 on; null when it cannot be evaluated,
  /// or goes on nowhere.
  std::optional<std::vector<ConstantSegment>>
  segments(mlir::Value mask, int b, int h, int begin, int end, int keyCount);
  Reach reach(mlir::Value mask);

private:
  std::vector<MaskFormula> listedLeaves();
  mlir::Value table(std::vector<int64_t> shape, std::vector<int32_t> elements);
  mlir::Value list(const std::vector<int32_t> &elements);
  /// Removes the ops that a question has left behind.
  void forget();
  mlir::Value coordinate(const std::vector<int32_t> &lanes);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Block questions;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_MASKS_MASKFORMULA_H
