//===- RunOptions.h - The command line of heddle-run ------------*- C++ -*-===//
//
// Parses the arguments of heddle-run strictly: what is not understood is an
// error, never ignored.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUNOPTIONS_H
#define HEDDLE_TOOLS_RUNOPTIONS_H

#include "runtime/Generate.h"
#include "runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct RunOptions {
  std::string file;
  /// Sentences from the command line; standard input where there are none.
  std::vector<std::string> texts;
  std::optional<int64_t> batch;
  std::optional<int64_t> workers;
  std::optional<int64_t> threads;
  std::optional<int64_t> maxSource;
  /// In MiB.
  std::optional<int64_t> maxMemory;
  /// Ascending; empty for none, absent where nobody says.
  std::optional<std::vector<int32_t>> globalTokens;
  /// Where to write a profile as JSON, empty where only the table is wanted.
  std::optional<std::string> profile;
  SearchOptions search;
  /// How many hypotheses of a line are printed with their scores; absent for
  /// the text of the best one.
  std::optional<int64_t> nBest;
  /// A score in front of each line.
  bool scores = false;
  /// Target sequences that are never generated, a line each; empty for none.
  std::string badWords;
  /// What each target begins with, one line an input; empty for none.
  std::string prefix;
  /// Targets whose log-probabilities are printed, one line an input; empty
  /// where lines are translated.
  std::string score;
  /// Lines are running text, whose sentences are translated.
  bool split = false;
  /// Input and output are ids instead of text.
  bool ids = false;
  bool info = false;
  bool verify = false;
  bool help = false;
  bool version = false;
  bool license = false;
  /// Empty, or both given.
  std::string teacher;
  std::string logits;
  DecoderForm form = DecoderForm::Full;
  /// Where to write the encoder's output; empty where it is not asked for.
  std::string hidden;
};

/// The text of --help.
extern const char *const kRunHelp;

/// Parses all arguments behind the program's name. Of a program that carries a
/// model, in the file `carried`, none is the name of a file.
Result<RunOptions> parseRunOptions(const std::vector<std::string> &arguments,
                                   const std::string &carried);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUNOPTIONS_H
