//===- Transformer.cpp - The generated code of the dialect ----------------===//
//
// TableGen writes the enums, interfaces, attributes, types and ops of the .td
// files as C++. It is compiled here, and only here. The lists between
// addOperations< and > register what the .td files define: a new op needs no
// line in this file. Its verifier and the methods of its interfaces stand in
// the file of its subject, such as States.cpp. LayerAssembly.h and
// MaskAssembly.h declare the parsers that generated assembly formats call.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "dialect/LayerAssembly.h"
#include "dialect/attention/Attention.h"
#include "dialect/attention/LinearAttention.h"
#include "dialect/masks/MaskAssembly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

#include "dialect/Dialect.cpp.inc"
#include "dialect/Enums.cpp.inc"
#include "dialect/Interfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Attributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Types.cpp.inc"

void TransformerDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Attributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Ops.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialect/Ops.cpp.inc"
