//===- TableBounds.cpp - From what a table is read with to its limit ------===//
//
// Each read of a table is traced to a limit by name. The name of an argument
// and of its last dimension tell which vocabulary its ids belong to. Positions
// are either the argument `positions` or those along dimension 1 of a sequence,
// whose name is `source` or `target`. The limit is compared with the rows of
// the table.
//
// A read whose limit is unknown is refused: kernels do not check their indices,
// so it could leave the table. The first error ends the search.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/TableBounds.h"
#include "dialect/Transformer.h"
#include "lib/Import/ImportModel.h"
#include "lib/Support/DimNames.h"
#include "lib/Support/Error.h"
#include "lib/Support/FirstDiagnostic.h"
#include "lib/Support/Tasks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/artifact/SearchSettings.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace heddle;

namespace {
/// A side of a model: what it reads, or what it writes.
struct Side {
  /// For errors.
  std::string name;
  DictionaryAttr attributes;

  std::optional<int64_t> find(StringRef key) const {
    auto value =
        attributes ? attributes.getAs<IntegerAttr>(key) : IntegerAttr();
    return value ? std::optional(value.getInt()) : std::nullopt;
  }
};
} // namespace

static Side sideOf(ModuleOp module, bool isSource) {
  if (isSource)
    return {"'" + kSourceAttr.str() + "' of the module",
            module->getAttrOfType<DictionaryAttr>(kSourceAttr)};
  return {"the task '" + kGenerateTask.str() + "' of the module",
          findTask(module, kGenerateTask)};
}

static int64_t rowsOf(Value table) {
  return cast<ShapedType>(table.getType()).getDimSize(0);
}

static StringRef functionOf(Operation *op) {
  return op->getParentOfType<func::FuncOp>().getSymName();
}

/// The name that the runtime knows an argument by; empty for other values.
static StringRef argumentName(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return "";
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto name =
      function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
  return name ? name.getValue() : "";
}

/// Which numbers of a side's attributes add up to a limit of ids, and what
/// counts beside them.
struct IdLimit {
  bool isOfSource;
  SmallVector<StringRef, 2> keys;
  int64_t more = 0;
};

/// The limit of the ids that the runtime gives as `ids`; none for values that
/// are no such ids. A vocabulary is the source's only if ids are as long as it.
static std::optional<IdLimit> limitOf(Value ids) {
  StringRef name = argumentName(ids);
  int64_t last = cast<ShapedType>(ids.getType()).getRank() - 1;
  if (name == "candidates")
    return IdLimit{/*isOfSource=*/false, {kVocabularyKey}};
  if (name == "types")
    return IdLimit{/*isOfSource=*/true, {kTypesKey}};
  // Those of padding are `pad`, the first one's is one more.
  if (name == "source_positions")
    return IdLimit{/*isOfSource=*/true, {kPositionsKey, kPadKey}, 1};
  if (name != "ids" || last < 0)
    return std::nullopt;
  StringAttr dim = nameOfArgumentDim(cast<BlockArgument>(ids), last);
  return IdLimit{dim && dim.getValue() == "source", {kVocabularyKey}};
}

static llvm::Error checkIds(EmbeddingOp op, ModuleOp module) {
  std::optional<IdLimit> limit = limitOf(op.getIds());
  if (!limit)
    return makeError("@" + functionOf(op) + " looks up rows of a table by " +
                     "values without a known limit (expected the argument " +
                     "'ids', 'candidates', 'types' or 'source_positions')");
  Side known = sideOf(module, limit->isOfSource);
  int64_t rows = rowsOf(op.getTable()), sum = limit->more;
  std::string found;
  for (StringRef key : limit->keys) {
    std::optional<int64_t> value = known.find(key);
    // Without a vocabulary there is no such side.
    if (!value && key == kVocabularyKey)
      return llvm::Error::success();
    if (!value)
      return makeError(known.name + " has no '" + key + "', but @" +
                       functionOf(op) + " looks such ids up in a table");
    sum += *value;
    found += (found.empty() ? " has '" : " and '") + key.str() +
             "' with the value " + std::to_string(*value);
  }
  if (sum <= rows)
    return llvm::Error::success();
  return makeError(known.name + found + ", but @" + functionOf(op) +
                   " looks such ids up in a table of " + llvm::Twine(rows) +
                   " rows");
}

/// Positions that the runtime gives, or those along dimension 1 of `rows`, stay
/// below a setting of the module; `positions` is how many the table has.
static llvm::Error checkPositions(Operation *op, ModuleOp module, Value given,
                                  Value rows, int64_t positions) {
  std::string table = ("@" + functionOf(op) + " has a table of " +
                       llvm::Twine(positions) + " positions")
                          .str();
  StringRef dim;
  if (given) {
    if (argumentName(given) != "positions")
      return makeError(table + " and reads it at values without a known " +
                       "limit (expected the argument 'positions')");
    dim = "target";
  } else if (int64_t size = cast<ShapedType>(rows.getType()).getDimSize(1);
             !ShapedType::isDynamic(size)) {
    if (size <= positions)
      return llvm::Error::success();
    return makeError(table + ", but sequences of " + llvm::Twine(size));
  } else {
    FirstDiagnostic diagnostic(*op->getContext());
    StringAttr name = nameOfDim(rows, 1);
    if (!name)
      return diagnostic.take(table + " for sequences of unknown length");
    dim = name.getValue();
  }
  StringRef key = llvm::StringSwitch<StringRef>(dim)
                      .Case("source", kPositionsKey)
                      .Case("target", setting::maxTarget.key)
                      .Default("");
  if (key.empty())
    return makeError(table + " along the dimension '" + dim +
                     "', which has no limit (expected 'source' or 'target')");
  Side known = sideOf(module, dim == "source");
  std::optional<int64_t> limit = known.find(key);
  if (limit && *limit <= positions)
    return llvm::Error::success();
  std::string found =
      limit ? "has '" + key.str() + "' with the value " + std::to_string(*limit)
            : "has no '" + key.str() + "'";
  return makeError(known.name + " " + found + ", but " + table);
}

static llvm::Error checkTables(Operation *op, ModuleOp module) {
  if (auto learned = dyn_cast<LearnedPositionsOp>(op))
    return checkPositions(op, module, learned.getPositions(),
                          learned.getInput(),
                          rowsOf(learned.getTable()) - learned.getOffset());
  if (auto project = dyn_cast<ProjectSequenceOp>(op))
    return checkPositions(op, module, /*given=*/Value(), project.getInput(),
                          project.getLongest());
  auto embedding = dyn_cast<EmbeddingOp>(op);
  if (!embedding)
    return llvm::Error::success();
  if (llvm::Error error = checkIds(embedding, module))
    return error;
  Value table = embedding.getPositionTable();
  if (!table)
    return llvm::Error::success();
  return checkPositions(op, module, embedding.getPositions(),
                        embedding.getIds(),
                        rowsOf(table) - *embedding.getOffset());
}

llvm::Error heddle::checkTableBounds(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    llvm::Error error = llvm::Error::success();
    function.walk([&](Operation *op) {
      llvm::Error found = checkTables(op, module);
      bool failed = bool(found);
      error = llvm::joinErrors(std::move(error), std::move(found));
      return failed ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (error)
      return error;
  }
  return llvm::Error::success();
}
