//===- Exploration.h - A compilation as a page ------------------*- C++ -*-===//
//
// Watches passes and keeps what each makes of a module, what they say of it,
// what its layers have to do, pictures of its masks and its machine code, and
// writes all of it as one HTML file that needs no other.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_EXPLORER_EXPLORATION_H
#define HEDDLE_LIB_EXPLORER_EXPLORATION_H

#include "lib/CodeGen/Machine/DebugLocations.h"
#include "lib/Explorer/LayerTable.h"
#include "lib/Explorer/TextPool.h"
#include "lib/Fusion/FusionReport.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace mlir {
class PassManager;
} // namespace mlir

namespace heddle {

/// What stands at the top of the page.
struct ExplorationTitle {
  /// The model's name, without folders.
  std::string model;
  /// The ISA level whose code is shown.
  std::string level;
  /// Of the compiler.
  std::string version;
};

/// Texts with a number each, in the order of first appearance.
class Numbering {
public:
  size_t of(llvm::StringRef text) {
    auto [at, isNew] = numbers.try_emplace(text, texts.size());
    if (isNew)
      texts.push_back(text.str());
    return at->second;
  }
  llvm::ArrayRef<std::string> getTexts() const { return texts; }

private:
  llvm::StringMap<size_t> numbers;
  std::vector<std::string> texts;
};

/// One compilation; lives as long as the pass managers that it watches.
class Exploration {
public:
  /// Records the module before the first pass of all and behind each.
  void watch(mlir::PassManager &manager);

  /// Records assembly, as `emitObjectCode` writes it, of a module that
  /// `addDebugLocations` went over.
  void addAssembly(llvm::StringRef assembly, const NamesOfLines &lines);

  void setTitle(ExplorationTitle given) { title = std::move(given); }

  /// The page.
  std::string write(llvm::ArrayRef<FusionRemark> remarks) const;

private:
  friend class PassRecorder;

  /// A function behind a pass: the numbers of its symbol and its text.
  struct Function {
    size_t symbol, text;
  };
  struct Stage {
    std::string name, summary;
    std::vector<Function> functions;
  };

  size_t numberOf(llvm::ArrayRef<std::string> names);
  void addStage(llvm::StringRef name, llvm::StringRef summary,
                mlir::Operation *module);
  void addFunction(Stage &stage, llvm::StringRef symbol, llvm::StringRef text,
                   llvm::ArrayRef<NamedLine> named);
  void addMasks(mlir::ModuleOp module);

  ExplorationTitle title;
  std::vector<Stage> stages;
  TextPool texts;
  Numbering symbols, nameLists;
  llvm::json::Array masks;
  std::vector<LayerRow> layers;
};

/// Names every op that has none after the weight that it reads or the
/// attention that it is, so that people's modules can be followed, too. Places
/// in their file stay.
void nameLayers(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_LIB_EXPLORER_EXPLORATION_H
