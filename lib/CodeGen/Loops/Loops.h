//===- Loops.h - A builder of scalar loops over memrefs ---------*- C++ -*-===//
//
// The vocabulary of the reference lowering: nests and reductions around the
// arithmetic of dialect/Arith.h, so that an op's loops read like its formula.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_LOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_LOOPS_H

#include "dialect/Arith.h"

namespace heddle {

class Loops : public Arith {
public:
  using Arith::Arith;

  /// The size of dimension `axis` of a memref; of the last one by default.
  mlir::Value size(mlir::Value memref, int64_t axis);
  mlir::Value lastSize(mlir::Value memref);

  mlir::Value load(mlir::Value memref, mlir::ValueRange at);
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange at);

  /// for i in [begin, end): body(i).
  void loop(mlir::Value begin, mlir::Value end,
            llvm::function_ref<void(mlir::Value)> body);
  void loop(mlir::Value end, llvm::function_ref<void(mlir::Value)> body);
  /// body(i0, i1, ...) for all i0 < ends[0], i1 < ends[1], ..., in any order
  /// and at the same time.
  void parallel(mlir::ValueRange ends,
                llvm::function_ref<void(mlir::ValueRange)> body);
  /// The same over the first `rank` dimensions of a memref.
  void nest(mlir::Value memref, int64_t rank,
            llvm::function_ref<void(mlir::ValueRange)> body);
  /// carried = body(i, carried) for i in [begin, end), in this order.
  mlir::Value
  fold(mlir::Value begin, mlir::Value end, mlir::Value initial,
       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  /// if condition: then().
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  /// switch (number): body(0), body(1), ..., body(count - 1), in this order in
  /// the code; what is no case is 0.
  void choose(mlir::Value number, int64_t count,
              llvm::function_ref<void(int64_t)> body);
  /// if condition: then() else otherwise.
  mlir::Value ifYield(mlir::Value condition,
                      llvm::function_ref<mlir::Value()> then,
                      mlir::Value otherwise);

  /// Memory on the stack of a task, in whole cache lines; of static shape.
  mlir::Value scratch(mlir::MemRefType type);

  mlir::Value exp(mlir::Value value);
  /// 1 / (1 + exp(-x)).
  mlir::Value sigmoid(mlir::Value value);
};

/// `coordinates` followed by `last`.
llvm::SmallVector<mlir::Value> append(mlir::ValueRange coordinates,
                                      mlir::Value last);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_LOOPS_H
