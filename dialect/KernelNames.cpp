//===- KernelNames.cpp - What a profile calls kernels ---------------------===//
//
// The op, its form, and the sizes that are static: "linear_256x1536". Names
// need not be unique: kernels that differ elsewhere are numbered.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "dialect/attention/Attention.h"

using namespace mlir;
using namespace heddle;

/// "OPFORM_SIZExSIZE", of the sizes that are static.
static std::string nameKernel(Operation *op, StringRef form,
                              ArrayRef<int64_t> sizes) {
  std::string name = (op->getName().stripDialect() + form).str();
  llvm::replace(name, '.', '_');
  char separator = '_';
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      continue;
    name += separator + std::to_string(size);
    separator = 'x';
  }
  return name;
}

std::string heddle::describeRows(Operation *op, ArrayRef<int64_t> inner) {
  int64_t in = width(op->getOperand(0));
  SmallVector<int64_t> sizes = {in};
  llvm::append_range(sizes, inner);
  OperandRange results = cast<DestinationOpInterface>(op).getDestinations();
  auto rows = dyn_cast<ShortRowsOpInterface>(op);
  bool hasShortRows = rows && rows.getAlso();
  if (hasShortRows)
    results = results.take_front(1);
  for (Value result : results)
    if (results.size() > 1 || width(result) != in)
      sizes.push_back(width(result));
  std::string name = nameKernel(op, "", sizes);
  if (hasShortRows)
    name += "_" + stringifyShortening(*rows.getAlso()).str();
  return name;
}

std::string FfnOp::describe() {
  return describeRows(*this, {getHiddenWidth()});
}

std::string ProjectSequenceOp::describe() {
  return describeRows(*this, {static_cast<int64_t>(getRows())});
}

static std::string nameOfLogits(RangedLogitsOpInterface op) {
  return nameKernel(
      op, "", {width(op.getInput()), static_cast<int64_t>(op.getVocabulary())});
}
std::string LargestLogitsOp::describe() { return nameOfLogits(*this); }
std::string BestLogitsOp::describe() { return nameOfLogits(*this); }

std::string AttentionOp::describe() {
  std::string form = isRagged()     ? "_ragged"
                     : getStarts()  ? "_ragged_keys"
                     : !isStep()    ? ""
                     : getPrefill() ? "_prefill"
                     : getShared()  ? "_shared"
                     : getHistory() ? "_history"
                                    : "_step";
  if (isRelative())
    form += "_relative";
  if (getKeyScales())
    form += "_i8";
  return nameKernel(*this, form,
                    {static_cast<int64_t>(getHeads()), getQueryWidth()});
}

/// Of linear attention: heads and the width of one's queries or keys.
static std::string nameOfHeads(Operation *op, int64_t heads, bool isStep) {
  return nameKernel(op, isStep ? "_step" : "",
                    {heads, width(op->getOperand(0)) / heads});
}

std::string LinearAttentionOp::describe() {
  return nameOfHeads(*this, getHeads(), getStep());
}
std::string LinearAttentionSumsOp::describe() {
  return nameOfHeads(*this, getHeads(), /*isStep=*/false);
}
std::string LinearAttentionReadOp::describe() {
  return nameOfHeads(*this, getHeads(), bool(getSentences()));
}
