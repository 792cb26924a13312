//===- ImportModel.cpp - From a model's files to a module -----------------===//
//
// Chooses the importer by what stands at the path, and verifies what it made:
// a model that an importer gets wrong must not reach a pass.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/ImportModel.h"
#include "lib/Import/CTranslate2/CTranslate2Folder.h"
#include "lib/Import/ImportCheckpoint.h"
#include "lib/Import/Marian/MarianFolder.h"
#include "lib/Support/Error.h"
#include "lib/Support/FirstDiagnostic.h"
#include "lib/Support/Tasks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

OwningOpRef<ModuleOp> createModule(StringRef path, StringRef family,
                                   MLIRContext &context) {
  context.loadDialect<TransformerDialect, func::FuncDialect>();
  // "." and "models/" have no name; what they stand for does.
  SmallString<128> real;
  if (sys::fs::real_path(path, real))
    real = path;
  StringRef name = sys::path::filename(real);
  auto module = ModuleOp::create(UnknownLoc::get(&context), name);
  module->setAttr(kFamilyAttr, StringAttr::get(&context, family));
  return module;
}

/// A sentence about a file that is no module.
static std::string describeOtherFile(StringRef path) {
  constexpr StringRef magic(format::kMagic, sizeof format::kMagic);
  std::string name = "'" + path.str() + "' ";
  auto file = MemoryBuffer::getFileSlice(path, magic.size(), /*Offset=*/0);
  if (file && (*file)->getBuffer() == magic)
    return name + "is an artifact already: heddle-run " + path.str() +
           " runs it";
  StringRef folder = sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  StringRef fileName = sys::path::filename(path);
  SmallString<128> config = folder;
  sys::path::append(config, "config.json");
  bool isOfModel = fileName == "config.json" ||
                   sys::path::extension(path) == ".safetensors" ||
                   sys::path::extension(path) == ".bin" ||
                   sys::path::extension(path) == ".npz";
  if (isOfModel && (sys::fs::exists(config) || isMarianFolder(folder)))
    return name + "is a file of a model, expected its folder, '" +
           folder.str() + "'";
  return name + "is neither a model folder nor a .mlir module";
}

/// Whether a folder is one of Hugging Face.
static bool hasConfig(StringRef folder) {
  SmallString<128> config = folder, modules = folder;
  sys::path::append(config, "config.json");
  sys::path::append(modules, "modules.json");
  return sys::fs::exists(config) || sys::fs::exists(modules);
}

/// Chooses by the files at `path`.
static Expected<ImportedModel> importByKind(StringRef path,
                                            MLIRContext &context,
                                            const ImportOptions &options) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return makeError("cannot read '" + path + "': " + error.message());
  bool isFolder = sys::fs::is_directory(status),
       isOfArgos = !isFolder && path.ends_with(".argosmodel"),
       isOfCTranslate2 = isOfArgos || (isFolder && isCTranslate2Folder(path));
  // Folders of others may have such a file beside their own.
  bool isOfTrainer = !isOfCTranslate2 && isCheckpoint(path) &&
                     !(isFolder && (hasConfig(path) || isMarianFolder(path)));
  if (!options.tokenizer.empty() && !isOfCTranslate2 && !isOfTrainer)
    return makeError("--tokenizer is for models of CTranslate2 and for "
                     "checkpoints of fairseq and OpenNMT-py, but '" +
                     path + "' is none");
  if (!isFolder && path.ends_with(".mlir"))
    return importModule(path, context, options);
  if (!isFolder && !isOfArgos && !isOfTrainer)
    return makeError(describeOtherFile(path));
  if (!options.weights.empty())
    return makeError("'" + path + "' is a " + (isFolder ? "folder" : "file") +
                     " with weights of its own, so '" + options.weights +
                     "' has no use");
  // In front of others: its config.json says nothing to them, and its model.bin
  // could be a Marian model's.
  if ((isOfCTranslate2 || isOfTrainer) && options.randomSeed)
    return makeError("'" + path + "' has its options in its weights: random " +
                     "ones have no use");
  if (isOfCTranslate2)
    return isOfArgos ? importArgosModel(path, context, options)
                     : importCTranslate2Folder(path, context, options);
  if (isOfTrainer)
    return importCheckpoint(path, context, options);
  if (hasConfig(path))
    return importHuggingFaceFolder(path, context, options);
  if (isMarianFolder(path) && options.randomSeed)
    return makeError("'" + path +
                     "' is a Marian folder, which has its options " +
                     "in its weights: random ones have no use");
  if (isMarianFolder(path))
    return importMarianFolder(path, context);
  std::error_code unread;
  sys::fs::directory_iterator(path, unread);
  if (unread)
    return makeError("cannot read '" + path + "': " + unread.message());
  return makeError("'" + path + "' is no model folder: it has neither " +
                   "config.json nor model*.bin, model*.npz or *.pt");
}

/// Of what passes and LLVM do, parts take the square of a function's ops: this
/// many take minutes. A layer is about thirty.
static constexpr int64_t kMostOps = 8192;

static Error checkSizes(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    int64_t ops = 0;
    function.walk([&](Operation *) { ++ops; });
    if (ops > kMostOps)
      return makeError("@" + function.getSymName() + " has " + Twine(ops) +
                       " ops, expected at most " + Twine(kMostOps));
  }
  return Error::success();
}

Expected<ImportedModel> importModel(StringRef path, MLIRContext &context,
                                    const ImportOptions &options) {
  Expected<ImportedModel> model = importByKind(path, context, options);
  if (!model)
    return model;
  if (!options.pooling.empty() && model->module && !sys::fs::is_directory(path))
    return makeError("--pool is for folders, but '" + path +
                     "' is a module, which says itself how it pools");
  if (options.layers && !sys::fs::is_directory(path))
    return makeError("--layers is for folders, but '" + path +
                     "' is a module, which has the layers that it has");
  for (auto [flag, isGiven] :
       {std::pair("--pool", !options.pooling.empty()),
        std::pair("--layers", options.layers.has_value())})
    if (isGiven && !findTask(*model->module, kEmbedTask))
      return makeError(Twine(flag) + " is for models that embed, but '" + path +
                       "' is none");
  FirstDiagnostic diagnostic(context);
  if (failed(verify(*model->module)) ||
      failed(verifyAttributePrefixes(*model->module)))
    return diagnostic.take("the module of '" + path + "' is invalid");
  if (Error error = checkSizes(*model->module))
    return std::move(error);
  for (auto parameter : model->module->getOps<ParameterOp>())
    if (auto tensor = model->weights.open(parameter); !tensor)
      return tensor.takeError();
  return model;
}

} // namespace heddle
