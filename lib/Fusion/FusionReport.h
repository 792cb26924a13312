//===- FusionReport.h - What was fused, as a colleague would say it -*- C++
//-*-//
//
// Listens to the remarks of fusion passes and writes them as a review: layer by
// layer, by the checkpoint's names, then how often each pass did something.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_FUSION_FUSIONREPORT_H
#define HEDDLE_LIB_FUSION_FUSIONREPORT_H

#include "mlir/IR/MLIRContext.h"
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

/// Owns the remarks; outlives the context that it listens to.
class FusionReport {
public:
  /// Listens to a context from now on, until the context is destroyed.
  void listenTo(mlir::MLIRContext &context);

  /// `passes` in the order of the totals, which list each, done or not.
  void print(llvm::raw_ostream &stream,
             llvm::ArrayRef<llvm::StringLiteral> passes) const;

private:
  std::vector<FusionRemark> remarks;
};

} // namespace heddle

#endif // HEDDLE_LIB_FUSION_FUSIONREPORT_H
