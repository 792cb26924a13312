//===- Exploration.cpp - A compilation as a page --------------------------===//
//
// Modules are kept by function: most passes change few of them. Lines of
// functions that the runtime calls know which layer they are of; kernels serve
// several, and the page finds them by who calls them.
//
//===----------------------------------------------------------------------===//

#include "lib/Explorer/Exploration.h"
#include "dialect/Transformer.h"
#include "lib/CodeGen/ModuleText.h"
#include "lib/Explorer/AssemblyText.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Masks/AttentionSites.h"
#include "lib/Masks/MaskDrawings.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;

namespace heddle {
class PassRecorder : public PassInstrumentation {
public:
  explicit PassRecorder(Exploration &exploration) : exploration(exploration) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isPassOnModule(pass, op))
      return;
    if (exploration.stages.empty())
      exploration.addStage("imported", "The model as it was imported", op);
    // Functions are on memory and straight-line for the last time.
    if (pass->getArgument() == "transformer-chunk-rows") {
      OwningOpRef<ModuleOp> copy = cast<ModuleOp>(op).clone();
      exploration.layers = measureLayers(*copy);
    }
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isPassOnModule(pass, op))
      return;
    exploration.addStage(pass->getArgument(), pass->getDescription(), op);
    if (pass->getArgument() == "transformer-expand-regions")
      exploration.addMasks(cast<ModuleOp>(op));
  }

private:
  /// Pass managers are passes too, without a name of their own.
  static bool isPassOnModule(Pass *pass, Operation *op) {
    return isa<ModuleOp>(op) && !pass->getArgument().empty();
  }

  Exploration &exploration;
};
} // namespace heddle

void Exploration::watch(PassManager &manager) {
  manager.addInstrumentation(std::make_unique<PassRecorder>(*this));
}

size_t Exploration::numberOf(ArrayRef<std::string> names) {
  // No name has a zero byte in it.
  return nameLists.of(llvm::join(names, StringRef("\0", 1)));
}

void Exploration::addFunction(Stage &stage, StringRef symbol, StringRef text,
                              ArrayRef<NamedLine> named) {
  stage.functions.push_back({symbols.of(symbol), texts.add(text, named)});
}

/// Whether a function is a kernel, or a task or what else belongs to one.
static bool servesLayers(Operation *function) {
  auto lowered = dyn_cast<LLVM::LLVMFuncOp>(function);
  return function->hasAttr(kKernelAttr) || function->hasAttr("llvm.linkage") ||
         (lowered && lowered.getLinkage() != LLVM::Linkage::External);
}

/// What stands in a module, without the indentation of it.
static std::string unindent(ArrayRef<StringRef> lines) {
  std::string text;
  for (StringRef line : lines) {
    line.consume_front("  ");
    text += line;
    text += '\n';
  }
  return text;
}

void Exploration::addStage(StringRef name, StringRef summary,
                           Operation *module) {
  Stage stage{name.str(), summary.str(), {}};
  ModuleText shown(module);
  SmallVector<StringRef, 0> lines;
  StringRef(shown.text).split(lines, '\n');
  ArrayRef<StringRef> all(lines);
  // Lines [begin, end) of each function, in their order; the others make one
  // text, of declarations.
  struct Place {
    unsigned begin, end;
    Operation *op;
  };
  std::vector<Place> functions;
  SmallVector<StringRef, 0> others;
  unsigned at = 0;
  for (Operation &op : shown.module->getRegion(0).front()) {
    if (op.getNumRegions() == 0 || op.getRegion(0).empty())
      continue;
    unsigned begin = shown.lines.lookup(&op);
    Operation *next = op.getNextNode();
    // A terminator would print nothing; the module's brace is a line.
    unsigned end = next ? shown.lines.lookup(next) : begin + 1;
    if (!next)
      while (end < all.size() && all[end - 1] != "  }")
        ++end;
    llvm::append_range(others, all.slice(at, begin - at));
    functions.push_back({begin, end, &op});
    at = end;
  }
  llvm::append_range(others, all.drop_front(std::min<size_t>(at, all.size())));
  llvm::erase_if(others, [](StringRef line) { return line.trim().empty(); });
  addFunction(stage, "", unindent(others), {});
  for (const Place &place : functions) {
    unsigned begin = place.begin;
    Operation *op = place.op;
    std::map<unsigned, size_t> named;
    if (!servesLayers(op))
      op->walk([&](Operation *each) {
        std::vector<std::string> names;
        for (StringRef name : namesIn(each->getLoc()))
          names.push_back(name.str());
        // What stands where its function does was added by a pass.
        bool isOwn = each->getLoc() != op->getLoc();
        if (isOwn && !names.empty())
          named.try_emplace(shown.lines.lookup(each) - begin, numberOf(names));
      });
    std::vector<NamedLine> list;
    for (auto [line, names] : named)
      list.push_back({line, static_cast<unsigned>(names)});
    auto symbol =
        op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    addFunction(stage, symbol ? symbol.getValue() : "",
                unindent(all.slice(begin, place.end - begin)), list);
  }
  stages.push_back(std::move(stage));
}

void Exploration::addMasks(ModuleOp module) {
  // Of a Longformer the first token is global, as it is by default.
  OperandValues values = llvm::cantFail(OperandValues::parse("global=0"));
  for (const MaskDrawing &drawing : drawMasks(module, {}, values)) {
    llvm::json::Object mask{{"owners", drawing.owners},
                            {"names", drawing.names}};
    if (drawing.failure.empty()) {
      mask["mask"] = drawing.picture.mask;
      mask["svg"] = drawMask(drawing.picture);
    } else {
      mask["failure"] = drawing.failure;
    }
    masks.push_back(std::move(mask));
  }
}

void Exploration::addAssembly(StringRef assembly, const NamesOfLines &lines) {
  Stage stage{"assembly", "What the processor runs", {}};
  for (AssemblyFunction &function : splitAssembly(assembly)) {
    std::vector<NamedLine> named;
    for (auto [line, source] : function.sources)
      if (auto names = lines.find(source); names != lines.end())
        named.push_back({line, static_cast<unsigned>(numberOf(names->second))});
    addFunction(stage, function.symbol, function.text, named);
  }
  stages.push_back(std::move(stage));
}

void heddle::nameLayers(ModuleOp module) {
  auto setName = [](Operation *op, StringRef name) {
    op->setLoc(
        NameLoc::get(StringAttr::get(op->getContext(), name), op->getLoc()));
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (const AttentionSite &site : findAttention(function))
      if (namesIn(site.op->getLoc()).empty())
        setName(site.op, site.getName());
    function.walk([&](Operation *op) {
      bool readsWeight = llvm::any_of(op->getOperands(), [](Value operand) {
        return operand.getDefiningOp<WeightOp>();
      });
      if (readsWeight && namesIn(op->getLoc()).empty())
        setName(op, nameOf(op));
    });
  }
}
