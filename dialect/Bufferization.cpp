//===- Bufferization.cpp - From tensors to memrefs ------------------------===//
//
// Three models for One-Shot Bufferize. A layer op writes to its destinations,
// whose buffers become the results', or to new allocations if it has none;
// its operands are only read, except a destination that is a state. A lookup
// takes the buffers of what it reads; masks have taken them before. A weight is
// a read-only buffer.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;
using namespace mlir::bufferization;

/// The operands of `op` with buffers in place of tensors.
static FailureOr<SmallVector<Value>>
bufferOperands(Operation *op, RewriterBase &rewriter,
               const BufferizationOptions &options,
               const BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
  }
  return operands;
}

namespace {
template <typename Op>
struct LayerModel : BufferizableOpInterface::ExternalModel<LayerModel<Op>, Op> {
  static bool isDestination(OpOperand &operand) {
    return cast<DestinationOpInterface>(operand.getOwner())
        .isDestination(operand);
  }
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !isDestination(operand) ||
           cast<DestinationOpInterface>(op).readsDestinations();
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &operand,
                               const AnalysisState &) const {
    return isDestination(operand);
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    if (!isDestination(operand))
      return {};
    unsigned first = cast<DestinationOpInterface>(op)
                         .getDestinations()
                         .getBeginOperandIndex();
    return {{op->getOpResult(operand.getOperandNumber() - first),
             BufferRelation::Equivalent}};
  }
  bool bufferizesToAllocation(Operation *op, Value) const {
    return !cast<DestinationOpInterface>(op).hasDestinations();
  }
  bool resultBufferizesToMemoryWrite(Operation *, OpResult,
                                     const AnalysisState &) const {
    return true;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto layer = cast<DestinationOpInterface>(op);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    if (!layer.hasDestinations()) {
      ReifiedRankedShapedTypeDims shapes;
      if (failed(reifyResultShapes(rewriter, op, shapes)))
        return op->emitOpError("does not say the shapes of its results");
      SmallVector<Value> destinations;
      for (auto [shape, result] : llvm::zip_equal(shapes, op->getResults())) {
        Value empty =
            tensor::EmptyOp::create(rewriter, op->getLoc(), shape,
                                    getElementTypeOrSelf(result.getType()));
        FailureOr<Value> allocated = allocateTensorForShapedValue(
            rewriter, op->getLoc(), empty, options, state, /*copy=*/false);
        if (failed(allocated))
          return failure();
        destinations.push_back(*allocated);
      }
      rewriter.modifyOpInPlace(op,
                               [&] { layer.setDestinations(destinations); });
    }
    FailureOr<SmallVector<Value>> operands =
        bufferOperands(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    OperationState lowered(op->getLoc(), op->getName());
    lowered.addOperands(*operands);
    lowered.addAttributes(op->getDiscardableAttrDictionary().getValue());
    lowered.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions())
      lowered.addRegion()->takeBody(region);
    Operation *created = rewriter.create(lowered);
    replaceOpWithBufferizedValues(
        rewriter, op,
        llvm::to_vector_of<Value>(
            cast<DestinationOpInterface>(created).getDestinations()));
    return success();
  }
};

/// An op that reads tensors and makes something else of them.
template <typename Op>
struct ReaderModel
    : BufferizableOpInterface::ExternalModel<ReaderModel<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> operands =
        bufferOperands(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(*operands); });
    return success();
  }
};

struct WeightModel
    : BufferizableOpInterface::ExternalModel<WeightModel, WeightOp> {
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return false;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    auto weight = cast<WeightOp>(op);
    auto type = cast<RankedTensorType>(weight.getValue().getType());
    replaceOpWithNewBufferizedOp<WeightOp>(
        rewriter, op, MemRefType::get(type.getShape(), type.getElementType()),
        weight.getParameterAttr());
    return success();
  }
};
} // namespace

template <template <typename> class Model, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

void heddle::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TransformerDialect *) {
    attach<LayerModel, EmbeddingOp, SinusoidalPositionsOp, LearnedPositionsOp,
           RotaryPositionsOp, MultiplyOp, LinearOp, FfnOp, QuantizeOp,
           QuantizeHeadsOp, RoundOp, FakeQuantizeOp, CandidateLogitsOp,
           LargestLogitsOp, BestLogitsOp, ActivationOp, NormOp, AddOp, FillOp,
           AttentionOp, LinearAttentionOp, LinearAttentionSumsOp,
           LinearAttentionReadOp, ProjectSequenceOp, TakeRowsOp, PutRowsOp,
           PoolOp, NormalizeOp, RecurrenceOp, CacheAppendOp, CacheFillOp,
           LastRowsOp>(context);
    attach<ReaderModel, LookupOp>(context);
    WeightOp::attachInterface<WeightModel>(*context);
  });
}
