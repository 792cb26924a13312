//===- RandomParameters.cpp - Random weights for a module -----------------===//
//
// What the importer would have asked a checkpoint for stands in the module: the
// names of tensors are the locations of parameters, their shapes those of the
// parameters, or the transposes.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/RandomParameters.h"
#include "lib/Support/Tasks.h"
#include "lib/Weights/RandomWeights.h"
#include "runtime/artifact/SearchSettings.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace heddle {

/// The name in the checkpoint.
static StringRef nameOf(ParameterOp parameter) {
  auto name = dyn_cast<NameLoc>(parameter.getLoc());
  return name ? name.getName().getValue() : parameter.getSymName();
}

namespace {
/// What tensors are for, by their names in the checkpoint.
struct Roles {
  /// What scales vectors that norms have normalised.
  llvm::StringSet<> scales;
  /// Rows of ids.
  llvm::StringSet<> tables;
};
} // namespace

static Roles findRoles(ModuleOp module) {
  SymbolTable symbols(module);
  Roles roles;
  auto add = [&](Value value, llvm::StringSet<> &names) {
    if (auto weight = value.getDefiningOp<WeightOp>())
      names.insert(nameOf(symbols.lookup<ParameterOp>(weight.getParameter())));
  };
  module.walk([&](NormOp norm) { add(norm.getGamma(), roles.scales); });
  module.walk(
      [&](EmbeddingOp embedding) { add(embedding.getTable(), roles.tables); });
  return roles;
}

/// The id that stands for no token.
static std::optional<int64_t> findPad(ModuleOp module) {
  DictionaryAttr settings = findTask(module, kGenerateTask);
  auto pad =
      settings ? settings.getAs<IntegerAttr>(setting::pad.key) : IntegerAttr();
  return pad ? std::optional(pad.getInt()) : std::nullopt;
}

llvm::Error drawParameters(ModuleOp module, uint64_t seed, double deviation,
                           WeightSource &weights) {
  Roles roles = findRoles(module);
  std::optional<int64_t> pad = findPad(module);
  llvm::StringSet<> names;
  std::vector<RandomTensor> tensors;
  SmallVector<ParameterOp> drawn;
  for (auto parameter : module.getOps<ParameterOp>()) {
    if (!parameter.isStored() || parameter.getSource())
      continue;
    drawn.push_back(parameter);
    // One tensor may be two parameters, one of them its transpose.
    if (!names.insert(nameOf(parameter)).second)
      continue;
    RandomTensor &tensor = tensors.emplace_back();
    tensor.name = nameOf(parameter).str();
    llvm::append_range(tensor.shape, parameter.getTensorType().getShape());
    if (parameter.getTransposed())
      std::reverse(tensor.shape.begin(), tensor.shape.end());
    if (tensor.shape.size() > 1)
      tensor.deviation = deviation;
    else if (roles.scales.contains(tensor.name))
      tensor.constant = 1.0f;
    if (roles.tables.contains(tensor.name))
      tensor.zeroRow = pad;
  }
  llvm::Expected<TensorFile> file =
      makeRandomFile(tensors, seed, "random.safetensors");
  if (!file)
    return file.takeError();
  if (llvm::Error error = weights.add(std::move(*file)))
    return error;
  for (ParameterOp parameter : drawn) {
    WeightSource::Entry entry = *weights.find(nameOf(parameter));
    parameter.setSourceAttr(SourceAttr::get(
        parameter.getContext(), entry.file, entry.tensor->offset,
        *entry.tensor->encoding, /*input_multiplier=*/FloatAttr(),
        /*multipliers=*/std::nullopt));
  }
  return llvm::Error::success();
}

} // namespace heddle
