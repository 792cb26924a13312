//===- CompileOutput.h - What heddle-compile writes -------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_COMPILE_COMPILEOUTPUT_H
#define HEDDLE_TOOLS_COMPILE_COMPILEOUTPUT_H

#include "lib/Artifact/ArtifactWriter.h"
#include "tools/compile/CompileOptions.h"
#include "llvm/Support/Error.h"

namespace heddle {

/// An error if an output is an input, by whatever name, since replacing it
/// would lose it, or cannot be written.
llvm::Error checkOutput(const CompileOptions &options);

/// Writes a text to standard output.
llvm::Error printText(llvm::StringRef text);

/// Writes a text to a file, whole or not at all, or to standard output for "-".
llvm::Error writeText(llvm::StringRef path, llvm::StringRef text);

/// Writes an artifact to options.output, whole or not at all. With a runner the
/// file may be executed by whom the process's umask admits. Returns the tensors
/// with weights that are NaN or infinite.
llvm::Expected<std::vector<LostWeights>>
writeArtifact(const CompileOptions &options, const ArtifactContents &contents);

/// A sentence on one line: names from files may hold anything.
std::string toOneLine(std::string sentence);

/// Says a sentence of warning on standard error.
void warn(std::string sentence);

/// Says on standard error that weights are NaN or infinite, and that others
/// become infinite or 0 in a shorter type: one line each, however many they
/// are, and none if there are none.
void warnOfLost(llvm::ArrayRef<LostWeights> tensors);

/// Says on standard error that tensors of a model are left out: one line, and
/// none if there are none.
void warnOfUnread(llvm::StringRef model, llvm::ArrayRef<std::string> tensors);

/// And that its tokenizer is not supported, unless `problem`, which says why,
/// is empty.
void warnOfTokenizer(llvm::StringRef model, llvm::StringRef problem);

/// That the page of --explore shows the code of another level than the best.
void warnOfPage(llvm::StringRef shown, llvm::StringRef best);

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILE_COMPILEOUTPUT_H
