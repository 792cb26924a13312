//===- ImportModule.cpp - A module in the dialect as a model --------------===//
//
// Parses the text and binds parameters without a source, by name, to the file
// that the user gave. What a folder says in its configuration, the module says
// in its attributes.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/ImportModel.h"
#include "lib/Import/Nesting.h"
#include "lib/Import/RandomParameters.h"
#include "lib/Support/Error.h"
#include "lib/Support/FirstDiagnostic.h"
#include "lib/Weights/MappedFile.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

static Expected<OwningOpRef<ModuleOp>> parseModule(StringRef path,
                                                   MLIRContext &context) {
  context.loadDialect<TransformerDialect, func::FuncDialect,
                      arith::ArithDialect, math::MathDialect>();
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  if (isBytecode(**buffer))
    return makeError("'" + path + "' is MLIR bytecode (supported: text)");
  if (Error error = checkNesting((*buffer)->getBuffer(), path))
    return std::move(error);
  // The parser wants a terminating zero, which a mapped file lacks.
  SourceMgr sources;
  sources.AddNewSourceBuffer(
      MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), path), SMLoc());
  FirstDiagnostic diagnostic(context);
  auto module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return diagnostic.take("'" + path + "' cannot be parsed");
  if ((*module)->getRegion(0).front().empty())
    return makeError("'" + path + "' has no op, expected a model");
  return module;
}

/// Gives a parameter without a source the tensor of its name.
static Error bindParameter(ParameterOp parameter, const WeightSource &weights) {
  StringRef name = parameter.getSymName();
  if (weights.getFiles().empty())
    return makeError("parameter '" + name +
                     "' has no source: its file has to " +
                     "be given with --weights");
  std::optional<WeightSource::Entry> entry = weights.find(name);
  if (!entry)
    return makeError("'" + weights.getFiles().front().getPath() +
                     "' has no tensor '" + name + "' for the parameter of " +
                     "this name");
  SmallVector<int64_t> expected(parameter.getTensorType().getShape());
  if (parameter.getTransposed())
    std::reverse(expected.begin(), expected.end());
  if (ArrayRef<int64_t>(entry->tensor->shape) != ArrayRef<int64_t>(expected))
    return makeError("tensor '" + name + "' of '" + entry->file +
                     "' has shape " + formatShape(entry->tensor->shape) +
                     " but the parameter needs " + formatShape(expected));
  if (!entry->tensor->encoding)
    return makeError("tensor '" + name + "' of '" + entry->file +
                     "' has the unsupported element type '" +
                     entry->tensor->elementType + "'");
  if (parameter.isStoredAsIntegers() &&
      entry->tensor->encoding != Encoding::IntGemm8)
    return makeError("tensor '" + name + "' of '" + entry->file + "' has the " +
                     "element type '" + entry->tensor->elementType +
                     "' but the parameter is i8 (expected intgemm8)");
  parameter.setSourceAttr(SourceAttr::get(
      parameter.getContext(), entry->file, entry->tensor->offset,
      *entry->tensor->encoding, /*input_multiplier=*/FloatAttr(),
      /*multipliers=*/std::nullopt));
  return Error::success();
}

/// Adds a file of either kind.
static Error addWeights(StringRef path, WeightSource &weights) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<TensorFile> file = path.ends_with(".bin")
                                  ? readMarianFile(std::move(*buffer))
                                  : readSafetensorsFile(std::move(*buffer));
  if (!file)
    return file.takeError();
  return weights.add(std::move(*file));
}

Expected<ImportedModel> importModule(StringRef path, MLIRContext &context,
                                     const ImportOptions &options) {
  auto module = parseModule(path, context);
  if (!module)
    return module.takeError();
  ImportedModel model;
  model.module = std::move(*module);
  if (!model.module->getSymName())
    model.module->setSymName(sys::path::stem(path));
  if (!options.weights.empty())
    if (Error error = addWeights(options.weights, model.weights))
      return std::move(error);
  constexpr double deviation = 0.02;
  if (options.randomSeed)
    if (Error error = drawParameters(*model.module, *options.randomSeed,
                                     deviation, model.weights))
      return std::move(error);
  for (auto parameter : model.module->getOps<ParameterOp>())
    if (parameter.isStored() && !parameter.getSource())
      if (Error error = bindParameter(parameter, model.weights))
        return std::move(error);
  return model;
}

} // namespace heddle
