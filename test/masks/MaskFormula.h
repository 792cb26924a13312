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
  /// What `keyRanges` says; null when it cannot be evaluated.
  std::optional<std::vector<ConstantRange>>
  keyRanges(mlir::Value mask, int b, int h, int begin, int end, int keyCount);
  Reach reach(mlir::Value mask);

private:
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
