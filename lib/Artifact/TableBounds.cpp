#include "lib/Artifact/TableBounds.h"
#include "dialect/Transformer.h"
#include "lib/Import/ImportModel.h"
#include "lib/Weights/Error.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace heddle;

static std::optional<int64_t> integerOf(ModuleOp module, StringRef dictionary,
                                        StringRef key) {
  auto attributes = module->getAttrOfType<DictionaryAttr>(dictionary);
  auto value = attributes ? attributes.getAs<IntegerAttr>(key) : IntegerAttr();
  return value ? std::optional(value.getInt()) : std::nullopt;
}

static bool readsTarget(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, kTargetAttr))
      return true;
  return false;
}

static int64_t rowsOf(Value table) {
  return cast<ShapedType>(table.getType()).getDimSize(0);
}

/// Ids that come from the runtime: arguments.
static llvm::Error checkIds(EmbeddingOp op, ModuleOp module,
                            func::FuncOp function) {
  auto ids = dyn_cast<BlockArgument>(op.getIds());
  if (!ids)
    return llvm::Error::success();
  auto name =
      function.getArgAttrOfType<StringAttr>(ids.getArgNumber(), kNameAttr);
  bool isTarget = function.getArgAttr(ids.getArgNumber(), kTargetAttr) ||
                  (name && name.getValue() == "candidates");
  StringRef side = isTarget ? "target" : "source";
  std::optional<int64_t> vocabulary = integerOf(module, kVocabularyAttr, side);
  if (!vocabulary || *vocabulary <= rowsOf(op.getTable()))
    return llvm::Error::success();
  return makeError("'" + kVocabularyAttr + "' of the module has '" + side +
                   "' with the value " + llvm::Twine(*vocabulary) + ", but @" +
                   function.getSymName() + " looks such ids up in a table of " +
                   llvm::Twine(rowsOf(op.getTable())) + " rows");
}

static llvm::Error checkPositions(LearnedPositionsOp op, ModuleOp module,
                                  func::FuncOp function) {
  StringRef key = readsTarget(function) ? "max_target" : "max_source";
  int64_t positions = rowsOf(op.getTable()) - op.getOffset();
  std::optional<int64_t> limit = integerOf(module, kGenerationAttr, key);
  if (limit && *limit <= positions)
    return llvm::Error::success();
  std::string found =
      limit ? "has '" + key.str() + "' with the value " + std::to_string(*limit)
            : "has no '" + key.str() + "'";
  return makeError("'" + kGenerationAttr + "' of the module " + found +
                   ", but @" + function.getSymName() + " has a table of " +
                   llvm::Twine(positions) + " positions");
}

llvm::Error heddle::checkTableBounds(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    llvm::Error error = llvm::Error::success();
    function.walk([&](Operation *op) {
      llvm::Error found = llvm::Error::success();
      if (auto embedding = dyn_cast<EmbeddingOp>(op))
        found = checkIds(embedding, module, function);
      else if (auto positions = dyn_cast<LearnedPositionsOp>(op))
        found = checkPositions(positions, module, function);
      bool failed = bool(found);
      error = llvm::joinErrors(std::move(error), std::move(found));
      return failed ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (error)
      return error;
  }
  return llvm::Error::success();
}
