//===- DrawMasks.cpp - An image of each mask of a module ------------------===//
//
// Each picture becomes a file that is named after the first attention it shows.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Masks/MaskDrawings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
struct DrawMasks : heddle::impl::DrawMasksPassBase<DrawMasks> {
  using Base::Base;

  LogicalResult checkOptions();
  LogicalResult write(const MaskDrawing &drawing);

  void runOnOperation() override {
    llvm::Expected<OperandValues> parsed = OperandValues::parse(values);
    if (!parsed) {
      mlir::emitError(getOperation().getLoc(),
                      llvm::toString(parsed.takeError()));
      return signalPassFailure();
    }
    fileNames.clear();
    if (failed(checkOptions()))
      return signalPassFailure();
    // Predicates are evaluated as kernels do, and the module stays as it is.
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    expandRegions(*copy);
    std::vector<MaskDrawing> drawings =
        drawMasks(*copy, {int64_t(length), size_t(heads)}, *parsed);
    for (MaskDrawing &drawing : drawings)
      if (!drawing.failure.empty()) {
        drawing.op.emitOpError("has a mask that cannot be drawn: ")
            << drawing.failure;
        return signalPassFailure();
      }
    if (StringRef name = parsed->findUnused(); !name.empty()) {
      mlir::emitError(getOperation().getLoc(), "no mask reads '")
          << name << "'";
      return signalPassFailure();
    }
    for (const MaskDrawing &drawing : drawings)
      if (failed(write(drawing)))
        return signalPassFailure();
  }

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

/// `name` with marks that mean something to a shell or a file system replaced.
static std::string toFileName(StringRef name) {
  std::string result = name.str();
  for (char &c : result)
    if (!llvm::isAlnum(c) && !StringRef("._-").contains(c))
      c = '-';
  return result;
}

LogicalResult DrawMasks::write(const MaskDrawing &drawing) {
  StringRef first = drawing.owners.front();
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
