//===- MaskDrawings.cpp - Each different mask once ------------------------===//
//
// The mask of each attention over whole sequences is evaluated pair by pair.
// Heads whose mask is the same by its parameters are evaluated once; heads with
// equal pairs share a panel, up to a number of panels. A mask value with the
// same number of heads is drawn once, and equal drawings share an entry, which
// lists all its owners. If a mask cannot be evaluated, its entry holds the
// reason, and the others are still drawn.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/MaskDrawings.h"
#include "lib/Masks/AttentionSites.h"
#include "lib/Masks/MaskText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace heddle;

/// Adds a head to the panel of those alike, or a panel if there are less
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
static llvm::Expected<MaskPicture> picture(AttentionOp op,
                                           const MaskDrawingOptions &options,
                                           OperandValues &values) {
  Evaluator evaluator;
  values.bind(op.getMask(), options.length, evaluator);
  int64_t numHeads = op.getHeads();
  MaskProbe probe(op.getMask(), numHeads, evaluator);
  MaskPicture picture{formatMask(op.getMask()), "", {}, numHeads};
  for (int64_t head = 0; head < numHeads; ++head) {
    int64_t first = probe.firstAlike(head);
    if (first == head) {
      llvm::Expected<PairGrid> grid = probe.ask(head, options.length);
      if (!grid)
        return grid.takeError();
      addHead(picture.panels, head, std::move(*grid), options.heads);
      continue;
    }
    for (MaskPanel &panel : picture.panels)
      if (llvm::is_contained(panel.heads, first))
        panel.heads.push_back(head);
  }
  return picture;
}

/// The first name in a location; empty if it has none.
static std::string firstNameIn(Location location) {
  std::string first;
  location->walk([&](Location each) {
    auto name = dyn_cast<NameLoc>(each);
    if (!name)
      return WalkResult::advance();
    first = name.getName().str();
    return WalkResult::interrupt();
  });
  return first;
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
    if (std::string given = firstNameIn(op.getLoc()); !given.empty())
      name = given;
    name = (function.getSymName() + "." + name).str();
  });
  return names;
}

namespace {
class Drawer {
public:
  Drawer(const MaskDrawingOptions &options, OperandValues &values)
      : options(options), values(values) {}

  void draw(func::FuncOp function);
  std::vector<MaskDrawing> takeDrawings() { return std::move(drawings); }

private:
  size_t place(AttentionOp op);

  const MaskDrawingOptions &options;
  OperandValues &values;
  std::vector<MaskDrawing> drawings;
  /// Places in `drawings` by what they look like.
  llvm::StringMap<size_t> looks;
};
} // namespace

/// Where the picture of the op's mask stands in `drawings`.
size_t Drawer::place(AttentionOp op) {
  llvm::Expected<MaskPicture> drawn = picture(op, options, values);
  size_t next = drawings.size();
  if (!drawn) {
    drawings.push_back({{}, {}, {}, op, llvm::toString(drawn.takeError())});
    return next;
  }
  auto [look, isOther] = looks.try_emplace(drawMask(*drawn), next);
  if (isOther)
    drawings.push_back({std::move(*drawn), {}, {}, op, ""});
  return look->second;
}

void Drawer::draw(func::FuncOp function) {
  DenseMap<AttentionOp, std::string> names = nameAttention(function);
  // Places in `drawings`.
  DenseMap<std::pair<Value, int64_t>, size_t> known;
  function.walk([&](AttentionOp op) {
    if (!op.getMask() || op.isStep())
      return;
    auto [at, isNew] = known.try_emplace({op.getMask(), op.getHeads()});
    if (isNew)
      at->second = place(op);
    drawings[at->second].owners.push_back(names[op]);
    if (std::string given = firstNameIn(op.getLoc()); !given.empty())
      drawings[at->second].names.push_back(given);
  });
}

std::vector<MaskDrawing> heddle::drawMasks(ModuleOp module,
                                           const MaskDrawingOptions &options,
                                           OperandValues &values) {
  Drawer drawer(options, values);
  for (auto function : module.getOps<func::FuncOp>())
    drawer.draw(function);
  std::vector<MaskDrawing> drawings = drawer.takeDrawings();
  for (MaskDrawing &drawing : drawings) {
    drawing.picture.owner = drawing.owners.front();
    if (size_t more = drawing.owners.size() - 1)
      drawing.picture.owner += " and " + std::to_string(more) + " more";
  }
  return drawings;
}
