//===- FusionReport.h - What fusions did, as a review -----------*- C++ -*-===//
//
// Listens to the remarks of fusion passes and writes them as a review: layer by
// layer, by the checkpoint's names, then how often each pass did something.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_FUSION_FUSIONREPORT_H
#define HEDDLE_LIB_FUSION_FUSIONREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace heddle {

/// What a pass did, or did not do, to one op.
struct FusionRemark {
  std::string pass, function;
  /// The checkpoint's names of the op's parts.
  std::vector<std::string> names;
  /// Whether something was fused; otherwise the sentence gives the reason.
  bool isFused;
  std::string sentence;
};

/// A pass in the totals.
struct FusionTotal {
  std::string pass;
  /// Why it did not run; empty if it did.
  std::string leftOut;
};

/// Owns the remarks; outlives the context that it listens to.
class FusionReport {
public:
  /// Listens to a context from now on, until the context is destroyed.
  void listenTo(mlir::MLIRContext &context);

  /// Reads the order of layers, and which functions have a step, in the module
  /// before any pass.
  void readModule(mlir::ModuleOp module);
  /// In the order in which they were made.
  llvm::ArrayRef<FusionRemark> getRemarks() const { return remarks; }
  /// Layer by layer, then the totals.
  void print(llvm::raw_ostream &stream,
             llvm::ArrayRef<FusionTotal> totals) const;

private:
  using Names = llvm::SetVector<llvm::StringRef>;
  struct Line;
  struct Section;
  struct Function {
    std::string name;
    /// A step is derived from it behind all fusions but those of steps.
    bool hasStep;
  };

  /// The function of the model that a step is derived from, or itself.
  llvm::StringRef sourceOf(llvm::StringRef function) const;
  /// `@encode, @decode and its step`.
  std::string describe(const Names &named) const;
  void print(llvm::raw_ostream &stream, const Section &section) const;
  /// Where a heading stands among others.
  size_t rankOf(llvm::StringRef heading) const;

  std::vector<FusionRemark> remarks;
  std::vector<Function> functions;
  /// Counted from 1 in the order in which they run.
  llvm::StringMap<size_t> layers;
};

} // namespace heddle

#endif // HEDDLE_LIB_FUSION_FUSIONREPORT_H
