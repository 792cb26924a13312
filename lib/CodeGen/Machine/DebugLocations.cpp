//===- DebugLocations.cpp - Names of layers in machine code ---------------===//
//
// Locations of MLIR hold names; DWARF knows functions, files and lines. A name
// becomes a function without an address, which stands wherever an op of that
// name does as if it had been inlined: tools print it between a kernel and the
// entry point that calls it. Tables of lines are all that is emitted.
//
// What is said of code of several layers would be wrong for all but one, so
// that kernels have names only if their callers agree.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/DebugLocations.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;

/// The names in a location, or none.
static ArrayAttr namesIn(Location location) {
  llvm::SetVector<Attribute> names;
  location->walk([&](Location each) {
    if (auto name = dyn_cast<NameLoc>(each))
      names.insert(name.getName());
    return WalkResult::advance();
  });
  return names.empty()
             ? ArrayAttr()
             : ArrayAttr::get(location.getContext(), names.getArrayRef());
}

static FileLineColLoc placeIn(Location location) {
  FileLineColLoc place;
  location->walk([&](Location each) {
    place = dyn_cast<FileLineColLoc>(each);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

namespace {
/// Whose code a kernel's is.
struct Owner {
  ArrayAttr names;
  bool isShared = false;

  /// Whether this is news.
  bool add(ArrayAttr others) {
    if (isShared || (names && names == others))
      return false;
    isShared = names || !others;
    names = isShared ? ArrayAttr() : others;
    return true;
  }
};

class Locations {
public:
  Locations(ModuleOp module, StringRef source)
      : module(module), context(module.getContext()),
        file(LLVM::DIFileAttr::get(context, llvm::sys::path::filename(source),
                                   llvm::sys::path::parent_path(source))),
        unit(LLVM::DICompileUnitAttr::get(
            newId(), llvm::dwarf::DW_LANG_C, file,
            StringAttr::get(context, "heddle"), /*isOptimized=*/true,
            LLVM::DIEmissionKind::LineTablesOnly)) {}

  void findOwners();
  void add(LLVM::LLVMFuncOp function);
  NamesOfLines takeLines() { return std::move(lines); }

private:
  DistinctAttr newId() { return DistinctAttr::create(UnitAttr::get(context)); }
  ArrayAttr namesOf(Operation *op);
  LLVM::DISubprogramAttr describe(StringRef name, LLVM::DIFileAttr inFile,
                                  unsigned line);
  Location locate(ArrayAttr names, FileLineColLoc place, Location caller);

  ModuleOp module;
  MLIRContext *context;
  LLVM::DIFileAttr file;
  LLVM::DICompileUnitAttr unit;
  /// Kernels and their tasks.
  llvm::MapVector<Operation *, Owner> owners;
  llvm::MapVector<ArrayAttr, LLVM::DISubprogramAttr> layers;
  NamesOfLines lines;
};
} // namespace

/// The names of what an op belongs to; null for no one layer. What stands where
/// its function does was added to it by a pass.
ArrayAttr Locations::namesOf(Operation *op) {
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  auto owner = owners.find(function);
  if (owner != owners.end())
    return owner->second.names;
  return op->getLoc() == function.getLoc() ? ArrayAttr()
                                           : namesIn(op->getLoc());
}

/// Goes on until nothing changes: what calls a kernel may be one.
void Locations::findOwners() {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(kKernelAttr) || function.isPrivate() ||
        function.getLinkage() == LLVM::Linkage::Internal)
      owners[function];
  SymbolTable symbols(module);
  for (bool isNews = true; isNews;) {
    isNews = false;
    module.walk([&](Operation *op) {
      StringRef used;
      if (auto call = dyn_cast<LLVM::CallOp>(op))
        used = call.getCallee().value_or("");
      else if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
        used = address.getGlobalName();
      auto owner = owners.find(used.empty() ? nullptr : symbols.lookup(used));
      if (owner == owners.end())
        return;
      auto user = owners.find(op->getParentOfType<LLVM::LLVMFuncOp>());
      bool isKnown =
          user == owners.end() || user->second.names || user->second.isShared;
      if (isKnown)
        isNews |= owner->second.add(namesOf(op));
    });
  }
}

LLVM::DISubprogramAttr
Locations::describe(StringRef name, LLVM::DIFileAttr inFile, unsigned line) {
  auto spelled = StringAttr::get(context, name);
  return LLVM::DISubprogramAttr::get(
      context, newId(), unit, inFile, spelled, StringAttr(), inFile, line, line,
      LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
      LLVM::DISubroutineTypeAttr::get(context, {}), {}, {});
}

/// A place in the function of a layer, which is inlined where `caller` is.
Location Locations::locate(ArrayAttr names, FileLineColLoc place,
                           Location caller) {
  LLVM::DISubprogramAttr &layer = layers[names];
  auto inFile =
      place ? LLVM::DIFileAttr::get(
                  context, llvm::sys::path::filename(place.getFilename()),
                  llvm::sys::path::parent_path(place.getFilename()))
            : file;
  unsigned line = place ? place.getLine() : layers.size();
  if (!layer) {
    std::string name =
        llvm::join(llvm::map_range(names.getAsValueRange<StringAttr>(),
                                   [](StringRef each) { return each.str(); }),
                   "+");
    layer = describe(name, inFile, line);
    std::vector<std::string> &known = lines[line];
    for (StringRef each : names.getAsValueRange<StringAttr>())
      known.push_back(each.str());
  }
  Location at = FileLineColLoc::get(layer.getFile().getName(), layer.getLine(),
                                    /*column=*/0);
  return CallSiteLoc::get(FusedLoc::get({at}, layer, context), caller);
}

void Locations::add(LLVM::LLVMFuncOp function) {
  if (function.isExternal())
    return;
  LLVM::DISubprogramAttr described = describe(function.getSymName(), file, 0);
  // Line 0 is what no source has.
  Location outside = FileLineColLoc::get(file.getName(), 0, 0);
  function.walk([&](Operation *op) {
    if (op == function)
      return;
    ArrayAttr names = namesOf(op);
    op->setLoc(names ? locate(names, placeIn(op->getLoc()), outside) : outside);
  });
  function->setLoc(FusedLoc::get({outside}, described, context));
}

NamesOfLines heddle::addDebugLocations(ModuleOp module, StringRef source) {
  Locations locations(module, source);
  locations.findOwners();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    locations.add(function);
  return locations.takeLines();
}
