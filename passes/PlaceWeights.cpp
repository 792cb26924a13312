//===- PlaceWeights.cpp - Give each parameter its place in the artifact ---===//

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
    Builder builder(&getContext());
    uint64_t offset = 0;
    for (ParameterOp parameter :
         llvm::make_early_inc_range(getOperation().getOps<ParameterOp>())) {
      if (!read.contains(parameter.getSymNameAttr())) {
        parameter.erase();
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
