//===- MaskFunctions.h - What the language of masks can call ----*- C++ -*-===//
//
// One table: a function's name, its parameters, and the mask op that it builds.
// A new mask op is one row more.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_MASKFUNCTIONS_H
#define HEDDLE_LIB_MASKS_MASKFUNCTIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <variant>
#include <vector>

namespace heddle {

/// A parameter that has to be given.
struct Required {};
/// One that is the argument of an earlier parameter if it is not given.
struct SameAs {
  llvm::StringLiteral parameter;
};

struct MaskParameter {
  llvm::StringLiteral name;
  /// The range of each number.
  int64_t least, most;
  std::variant<Required, int64_t, SameAs> otherwise = Required();
  /// Whether several numbers may stand in brackets; one needs none.
  bool isList = false;
};

/// What a call gives: one list of numbers a parameter, in their order.
using MaskArguments = llvm::ArrayRef<std::vector<int64_t>>;

/// Makes mask ops, each under the name that it has in the text.
struct MaskCall {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  MaskArguments arguments;
  /// The lengths of sentences of keys; null if all keys count.
  mlir::Value lengths;

  /// The number, or the numbers, that parameter `index` has.
  int64_t operator[](size_t index) const { return arguments[index].front(); }
  llvm::ArrayRef<int64_t> list(size_t index) const { return arguments[index]; }
  mlir::IntegerAttr attribute(size_t index) const {
    return builder.getI64IntegerAttr((*this)[index]);
  }

  template <typename Op, typename... Attributes>
  mlir::Value create(Attributes &&...attributes) const {
    return Op::create(builder, loc, std::forward<Attributes>(attributes)...);
  }
};

struct MaskFunction {
  llvm::StringLiteral name;
  std::vector<MaskParameter> parameters;
  mlir::Value (*build)(const MaskCall &call);
};

/// All functions, in the order in which help lists them.
llvm::ArrayRef<MaskFunction> getMaskFunctions();

/// Masks of the dialect that take more than numbers: operands, or a region.
llvm::ArrayRef<llvm::StringLiteral> getMasksOfModules();

/// How a call looks: "window(left, right=left, dilation=1)".
std::string formatSignature(const MaskFunction &function);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_MASKFUNCTIONS_H
