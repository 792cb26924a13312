#include "tools/calibration/Layers.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace heddle;

/// Whether a part of a name counts layers: "3", or "l3" in Marian's names.
static bool isNumber(StringRef part) {
  part.consume_front("l");
  return !part.empty() && llvm::all_of(part, llvm::isDigit);
}

/// The name itself, or what the weights of its layer have in common.
static std::string layerPattern(StringRef name) {
  size_t end = name.size();
  for (size_t begin = 0; begin < name.size();) {
    size_t next = std::min(name.find_first_of("._", begin), name.size());
    if (next < name.size() && isNumber(name.slice(begin, next))) {
      end = next + 1;
      break;
    }
    begin = next + 1;
  }
  std::string pattern;
  for (char c : name.take_front(end)) {
    if (StringRef("*?[\\").contains(c))
      pattern += '\\';
    pattern += c;
  }
  return end < name.size() ? pattern + "*" : pattern;
}

std::vector<CalibratedLayer> heddle::listLayers(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](LayerOpInterface op) {
    for (OpOperand *factor : op.getStoredFactors()) {
      auto read = factor->get().getDefiningOp<WeightOp>();
      if (read && cast<ShapedType>(factor->get().getType()).getRank() == 2)
        names.insert(read.getParameter());
    }
  });
  std::vector<CalibratedLayer> layers;
  // In the order of the checkpoint, that of the declarations.
  for (ParameterOp parameter : module.getOps<ParameterOp>()) {
    StringRef name = parameter.getSymName();
    if (!names.contains(name))
      continue;
    std::string pattern = layerPattern(name);
    auto layer = llvm::find_if(layers, [&](const CalibratedLayer &layer) {
      return layer.pattern == pattern;
    });
    if (layer == layers.end())
      layer = layers.insert(layers.end(), {std::move(pattern), {}});
    layer->weights.push_back(name.str());
  }
  return layers;
}

OwningOpRef<ModuleOp> heddle::copyForCalibration(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(module.clone());
  Builder builder(module.getContext());
  StringAttr step = builder.getStringAttr("step");
  StringAttr candidates = builder.getStringAttr("candidates");
  SmallVector<func::FuncOp> functions(copy->getOps<func::FuncOp>());
  for (func::FuncOp function : functions) {
    auto forms = function->getAttrOfType<ArrayAttr>(kFormsAttr);
    if (!forms || !llvm::is_contained(forms, step))
      continue;
    bool hasCandidates =
        llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned i) {
          return function.getArgAttr(i, kNameAttr) == candidates;
        });
    if (hasCandidates)
      function.erase();
    else
      function->setAttr(kFormsAttr, builder.getArrayAttr(step));
  }
  return copy;
}
