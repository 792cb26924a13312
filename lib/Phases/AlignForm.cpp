//===- AlignForm.cpp - What shows which source tokens a target attends to -===//
//
// A copy of the decoder that ends in front of the scores of one cross
// attention: it returns the queries of all target positions and the keys of the
// source, and the runtime, which wants the probabilities of a few heads once a
// finished translation, multiplies them itself. An op that kept probabilities
// would need kernels of its own on every machine, and an output of each step
// would make every translation pay for it.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/Attention.h"
#include "lib/Phases/DecoderForms.h"
#include "lib/Support/DimNames.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace heddle;

/// The attentions whose queries depend on the target and whose keys do not, in
/// order: one a layer.
static SmallVector<AttentionOp> crossAttentions(const DecoderMarks &marks) {
  SmallVector<AttentionOp> found;
  func::FuncOp decoder = marks.decoder;
  for (Operation &op : decoder.front())
    if (auto attention = dyn_cast<AttentionOp>(op))
      if (marks.isMarked(attention.getQuery()) &&
          !marks.isMarked(attention.getKey()))
        found.push_back(attention);
  return found;
}

/// Whether its probabilities are a softmax of scale * q . k over the source
/// tokens of a sentence.
static bool isOfSourceTokens(AttentionOp attention) {
  auto isRow = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getRank() == 3 && !type.isDynamicDim(2) &&
           type.getElementType().isF32();
  };
  bool isPlain = attention.getSimilarity().empty() &&
                 attention.getScore().empty() && !attention.isRelative() &&
                 attention.getNormalizer() == Normalizer::Softmax &&
                 seesWholeSentences(attention);
  if (!isPlain || !isRow(attention.getQuery()) || !isRow(attention.getKey()))
    return false;
  StringAttr rows = nameOfDim(attention.getKey(), 1);
  return rows && rows == "source";
}

/// A number of `transformer.alignment`, or its default.
static int64_t numberOf(func::FuncOp decoder, StringRef key,
                        int64_t byDefault) {
  auto asked = decoder->getAttrOfType<DictionaryAttr>(kAlignmentAttr);
  auto number = asked ? asked.getAs<IntegerAttr>(key) : IntegerAttr();
  return number ? number.getInt() : byDefault;
}

/// Ends a copy of the decoder with what its attention multiplies.
static func::FuncOp copyBefore(AttentionOp attention,
                               const DecoderMarks &marks) {
  func::FuncOp decoder = marks.decoder;
  OpBuilder builder(decoder->getContext());
  builder.setInsertionPointAfter(decoder);
  IRMapping mapping;
  auto align = cast<func::FuncOp>(builder.clone(*decoder, mapping));
  align.setName((decoder.getSymName() + ".align").str());
  align->removeAttr(kFormsAttr);
  align->removeAttr(kAlignmentAttr);
  align.removeArgAttr(marks.target.getArgNumber(), kTargetAttr);
  setRole(align, "align", decoder.getSymName());
  SmallVector<Value> results = {mapping.lookup(attention.getQuery()),
                                mapping.lookup(attention.getKey())};
  align.front().getTerminator()->setOperands(results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(align.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unused(align.getNumArguments());
  for (BlockArgument argument : align.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  align->removeAttr(align.getResAttrsAttrName());
  LogicalResult erased = align.eraseArguments(unused);
  assert(succeeded(erased) && "a func.func loses arguments");
  (void)erased;
  align.setType(builder.getFunctionType(align.front().getArgumentTypes(),
                                        ValueRange(results).getTypes()));
  align.setResultAttr(0, kNameAttr, builder.getStringAttr("queries"));
  align.setResultAttr(1, kNameAttr, builder.getStringAttr("keys"));
  return align;
}

FailureOr<bool> heddle::buildAlign(const DecoderMarks &marks) {
  func::FuncOp decoder = marks.decoder;
  SmallVector<AttentionOp> layers = crossAttentions(marks);
  int64_t count = int64_t(layers.size());
  int64_t layer = numberOf(decoder, kLayerKey, -1);
  // A rule may have left no such attention, whose last one an importer means.
  if (layers.empty() && layer < 0)
    return false;
  int64_t index = layer < 0 ? count + layer : layer;
  if (index < 0 || index >= count)
    return decoder.emitError("has the form 'align' with the layer ")
           << layer << " of '" << kAlignmentAttr
           << "', but attention to a memory in " << count << " layers";
  AttentionOp attention = layers[index];
  int64_t heads = attention.getHeads();
  int64_t aligned = numberOf(decoder, kHeadsKey, 0);
  if (aligned < 0 || aligned > heads)
    return decoder.emitError("has the form 'align' with ")
           << aligned << " heads of '" << kAlignmentAttr << "', but attention "
           << "has " << heads;
  if (!isOfSourceTokens(attention))
    return false;
  func::FuncOp align = copyBefore(attention, marks);
  Builder builder(decoder->getContext());
  auto number = [&](StringRef key, int64_t value) {
    return builder.getNamedAttr(key, builder.getI32IntegerAttr(value));
  };
  align->setAttr(
      kHeadsAttr,
      builder.getDictionaryAttr(
          {number("queries", heads),
           number("keys", attention.getKeyValueHeads()),
           number("aligned", aligned == 0 ? heads : aligned),
           builder.getNamedAttr("scale", builder.getF32FloatAttr(
                                             attention.getEffectiveScale()))}));
  return true;
}
