//===- MadeParameters.h - Parameters that passes make of others -*- C++ -*-===//
//
// Derived, scaled and zero parameters are declarations: their bytes are
// computed while the artifact is written. Equal ones are declared once, whoever
// asks, so that two functions over the same layers share them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_FUSION_MADEPARAMETERS_H
#define HEDDLE_LIB_FUSION_MADEPARAMETERS_H

#include "dialect/Transformer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace heddle {

class MadeParameters {
public:
  explicit MadeParameters(mlir::ModuleOp module);

  /// The parameter that `value` reads; null if it is no weight.
  ParameterOp find(mlir::Value value);

  /// The columns of `parts`, which have the same leading dimensions; by turns
  /// of so many columns of each, if that is not 0.
  ParameterOp concatenate(llvm::ArrayRef<ParameterOp> parts, int64_t turn = 0);
  ParameterOp scale(ParameterOp parameter, float factor);
  ParameterOp zeros(int64_t length);
  /// What `derivation` makes of one parameter or, of a bias, two; see
  /// ParameterOp. `length` is that of product scales; without a factor nothing
  /// is scaled.
  ParameterOp derive(Derivation derivation, llvm::ArrayRef<ParameterOp> parts,
                     int64_t length = 0, std::optional<float> factor = {});
  /// The integers that the source of `parameter`, which is `intgemm8`, stores.
  ParameterOp integers(ParameterOp parameter);

  static mlir::Value read(mlir::OpBuilder &builder, ParameterOp parameter);

private:
  /// What the bytes are made of: type, source, derivation, factor.
  static mlir::Attribute keyOf(ParameterOp parameter);
  /// Declares `made` as `name`, or returns the equal one that is declared.
  ParameterOp declare(ParameterOp made, const llvm::Twine &name,
                      ParameterOp last);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Attribute, ParameterOp> made;
};

} // namespace heddle

#endif // HEDDLE_LIB_FUSION_MADEPARAMETERS_H
