//===- PlaceWeights.cpp - Give each parameter its place in the artifact ---===//
//
// Runs behind all passes that make parameters out of others, as packing and
// quantising do: only then is it known which ones the code reads. Offsets
// follow the order of declarations, so that a module always gives the same
// file.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
#define GEN_PASS_DEF_PLACEWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
struct PlaceWeights : heddle::impl::PlaceWeightsPassBase<PlaceWeights> {
  void runOnOperation() override {
    DenseSet<StringAttr> read;
    getOperation().walk([&](WeightOp weight) {
      read.insert(weight.getParameterAttr().getAttr());
    });
    // What a placed parameter is made of stays declared: its bytes are read
    // while the artifact is written. Parts stand before their users.
    DenseSet<StringAttr> kept = read;
    SmallVector<ParameterOp> parameters(getOperation().getOps<ParameterOp>());
    for (ParameterOp parameter : llvm::reverse(parameters))
      if (kept.contains(parameter.getSymNameAttr()))
        for (ParameterOp part : parameter.getPartOps())
          kept.insert(part.getSymNameAttr());
    Builder builder(&getContext());
    uint64_t offset = 0;
    for (ParameterOp parameter : parameters) {
      if (!kept.contains(parameter.getSymNameAttr())) {
        parameter.erase();
        continue;
      }
      if (!read.contains(parameter.getSymNameAttr())) {
        parameter.removePlacedAttr();
        continue;
      }
      RankedTensorType type = parameter.getTensorType();
      parameter.setPlacedAttr(builder.getI64IntegerAttr(offset));
      offset += type.getNumElements() * type.getElementTypeBitWidth() / 8;
      offset = llvm::alignTo(offset, kBufferAlignment);
    }
  }
};
} // namespace
