//===- Precompiled.h - What nearly every file includes ----------*- C++ -*-===//
//
// Compiled once for all targets that use LLVM (heddle_use_llvm in
// CMakeLists.txt). No file includes it: each names the headers it needs, as
// without it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_PRECOMPILED_H
#define HEDDLE_DIALECT_PRECOMPILED_H

#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#endif // HEDDLE_DIALECT_PRECOMPILED_H
