//===- DrawMasks.cpp - An image of each mask of a module ------------------===//
//
// Masks are drawn in program order, each value once; those that come out alike
// share the picture of the first. Heads that are alike share a panel.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Masks/AttentionSites.h"
#include "lib/Masks/MaskPicture.h"
#include "lib/Masks/MaskText.h"
#include "lib/Masks/OperandValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/ExpandRegions.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {
#define GEN_PASS_DEF_DRAWMASKSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// More pairs than this take minutes.
static constexpr unsigned kMostLength = 4096;

namespace {
/// Attention whose masks look alike: "encode.encoder_l1_self", ....
struct Drawing {
  MaskPicture picture;
  SmallVector<std::string> owners;
};

struct DrawMasks : heddle::impl::DrawMasksPassBase<DrawMasks> {
  using Base::Base;

  LogicalResult checkOptions();
  llvm::Expected<MaskPicture> picture(AttentionOp op);
  LogicalResult visit(func::FuncOp function);
  LogicalResult write(Drawing &drawing);

  void runOnOperation() override {
    llvm::Expected<OperandValues> parsed = OperandValues::parse(values);
    if (!parsed) {
      mlir::emitError(getOperation().getLoc(),
                      llvm::toString(parsed.takeError()));
      return signalPassFailure();
    }
    operands = std::move(*parsed);
    drawings.clear();
    looks.clear();
    fileNames.clear();
    if (failed(checkOptions()))
      return signalPassFailure();
    // Predicates are evaluated as kernels do, and the module stays as it is.
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    expandRegions(*copy);
    for (auto function : copy->getOps<func::FuncOp>())
      if (failed(visit(function)))
        return signalPassFailure();
    if (StringRef name = operands.findUnused(); !name.empty()) {
      mlir::emitError(getOperation().getLoc(), "no mask reads '")
          << name << "'";
      return signalPassFailure();
    }
    for (Drawing &drawing : drawings)
      if (failed(write(drawing)))
        return signalPassFailure();
  }

  OperandValues operands;
  std::vector<Drawing> drawings;
  /// Places in `drawings` by what they look like.
  llvm::StringMap<size_t> looks;
  llvm::StringSet<> fileNames;
};
} // namespace

LogicalResult DrawMasks::checkOptions() {
  if (dir.empty())
    return mlir::emitError(getOperation().getLoc(),
                           "no folder is given to draw masks in");
  for (auto [name, value, most] :
       {std::tuple("length", unsigned(length), kMostLength),
        std::tuple("heads", unsigned(heads), kMostLength)})
    if (value < 1 || value > most)
      return mlir::emitError(getOperation().getLoc(), name)
             << " is " << value << ", expected 1 to " << most;
  if (std::error_code error = llvm::sys::fs::create_directories(
          dir, /*IgnoreExisting=*/true, llvm::sys::fs::perms::all_all))
    return mlir::emitError(getOperation().getLoc(),
                           "cannot create the folder '")
           << dir << "': " << error.message();
  return success();
}

/// Adds a head to the panel of those alike, or a panel where there are less
/// than `most`.
static void addHead(std::vector<MaskPanel> &panels, int64_t head, PairGrid grid,
                    size_t most) {
  for (MaskPanel &panel : panels)
    if (panel.grid == grid)
      return panel.heads.push_back(head);
  if (panels.size() < most)
    panels.push_back({{head}, std::move(grid)});
}

/// The mask of `op`, without its owner.
llvm::Expected<MaskPicture> DrawMasks::picture(AttentionOp op) {
  Evaluator evaluator;
  operands.bind(op.getMask(), length, evaluator);
  int64_t numHeads = op.getHeads();
  MaskProbe probe(op.getMask(), numHeads, evaluator);
  MaskPicture picture{formatMask(op.getMask()), "", {}, numHeads};
  for (int64_t head = 0; head < numHeads; ++head) {
    int64_t first = probe.firstAlike(head);
    if (first == head) {
      llvm::Expected<PairGrid> grid = probe.ask(head, length);
      if (!grid)
        return grid.takeError();
      addHead(picture.panels, head, std::move(*grid), heads);
      continue;
    }
    for (MaskPanel &panel : picture.panels)
      if (llvm::is_contained(panel.heads, first))
        panel.heads.push_back(head);
  }
  return picture;
}

/// What attentions of a function are called: by the checkpoint, by rules, or by
/// their number.
static DenseMap<AttentionOp, std::string> nameAttention(func::FuncOp function) {
  DenseMap<AttentionOp, std::string> names;
  for (const AttentionSite &site : findAttention(function))
    names[site.op] = site.getName();
  unsigned number = 0;
  function.walk([&](AttentionOp op) {
    std::string &name =
        names.try_emplace(op, "attention-" + std::to_string(++number))
            .first->second;
    if (SmallVector<StringRef> given = namesIn(op.getLoc()); !given.empty())
      name = given.front().str();
    name = (function.getSymName() + "." + name).str();
  });
  return names;
}

LogicalResult DrawMasks::visit(func::FuncOp function) {
  DenseMap<AttentionOp, std::string> names = nameAttention(function);
  // Places in `drawings`.
  DenseMap<std::pair<Value, int64_t>, size_t> known;
  WalkResult result = function.walk([&](AttentionOp op) {
    if (!op.getMask() || op.isStep())
      return WalkResult::advance();
    auto [place, isNew] = known.try_emplace({op.getMask(), op.getHeads()});
    if (isNew) {
      llvm::Expected<MaskPicture> drawn = picture(op);
      if (!drawn) {
        op.emitOpError("has a mask that cannot be drawn: ")
            << llvm::toString(drawn.takeError());
        return WalkResult::interrupt();
      }
      auto [look, isOther] =
          looks.try_emplace(drawMask(*drawn), drawings.size());
      if (isOther)
        drawings.push_back({std::move(*drawn), {}});
      place->second = look->second;
    }
    drawings[place->second].owners.push_back(names[op]);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// `name` with marks that mean something to a shell or a file system replaced.
static std::string toFileName(StringRef name) {
  std::string result = name.str();
  for (char &c : result)
    if (!llvm::isAlnum(c) && !StringRef("._-").contains(c))
      c = '-';
  return result;
}

LogicalResult DrawMasks::write(Drawing &drawing) {
  StringRef first = drawing.owners.front();
  drawing.picture.owner = first.str();
  if (size_t more = drawing.owners.size() - 1)
    drawing.picture.owner += " and " + std::to_string(more) + " more";
  std::string name = toFileName(first);
  for (unsigned copy = 2; !fileNames.insert(name).second; ++copy)
    name = toFileName(first) + "-" + std::to_string(copy);
  SmallString<128> path(dir);
  llvm::sys::path::append(path, name + ".svg");
  std::error_code error;
  llvm::raw_fd_ostream file(path, error, llvm::sys::fs::OF_Text);
  if (!error) {
    file << drawMask(drawing.picture);
    file.flush();
    error = file.error();
    file.clear_error();
  }
  if (error)
    return mlir::emitError(getOperation().getLoc(), "cannot write '")
           << path << "': " << error.message();
  return success();
}
