//===- Parity.cpp - A mask that only a plugin knows -----------------------===//
//
// Loaded by --load-dialect-plugin; see Parity.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

#include "test/masks/ParityDialect.h.inc"
#define GET_OP_CLASSES
#include "test/masks/ParityOps.h.inc"

#include "test/masks/ParityDialect.cpp.inc"
#define GET_OP_CLASSES
#include "test/masks/ParityOps.cpp.inc"

using namespace mlir;
using namespace heddle;
using namespace heddle::parity;

void ParityDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "test/masks/ParityOps.cpp.inc"
      >();
}

/// Whether 2 divides lhs - rhs.
static Value haveSameParity(Lanes &lanes, Value lhs, Value rhs) {
  Value distance = lanes.sub(lhs, rhs);
  return lanes.equal(lanes.srem(distance, lanes.i32(2)), lanes.i32(0));
}

Value SameOp::contains(Lanes &lanes, const MaskPoint &point) {
  return haveSameParity(lanes, point.i, point.j);
}

Value OfHeadOp::contains(Lanes &lanes, const MaskPoint &point) {
  return haveSameParity(lanes, point.h, point.j);
}
bool OfHeadOp::knowsQueries() { return false; }

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "parity", "1",
          [](DialectRegistry *registry) { registry->insert<ParityDialect>(); }};
}
