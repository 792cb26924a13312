//===- FirstDiagnostic.cpp - MLIR's first error as a sentence -------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/FirstDiagnostic.h"
#include "lib/Support/Error.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

static std::string format(Diagnostic &diagnostic) {
  std::string text;
  raw_string_ostream stream(text);
  Location location = diagnostic.getLocation();
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":"
           << file.getColumn() << ": ";
  else if (auto name = location->findInstanceOf<NameLoc>())
    stream << "'" << name.getName().getValue() << "': ";
  stream << diagnostic;
  return StringRef(text).split('\n').first.str();
}

FirstDiagnostic::FirstDiagnostic(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (sentence.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          sentence = format(diagnostic);
      }) {}

Error FirstDiagnostic::take(const Twine &otherwise) const {
  return makeError(sentence.empty() ? otherwise : Twine(sentence));
}

} // namespace heddle
