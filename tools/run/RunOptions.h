//===- RunOptions.h - The command line of heddle-run ------------*- C++ -*-===//
//
// Parses the arguments of heddle-run strictly: what is not understood is an
// error, never ignored. Flags that say how a session works are the settings of
// heddle.h; the others are here.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_RUNOPTIONS_H
#define HEDDLE_TOOLS_RUN_RUNOPTIONS_H

#include "runtime/Result.h"
#include "tools/run/Handles.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// What heddle_model_has_task knows, in the order in which a model's first task
/// is looked for.
inline constexpr std::string_view kTaskNames[] = {
    "generate", "classify", "tag", "answer", "embed", "fill"};

struct RunOptions {
  std::string file;
  /// Sentences from the command line; standard input if there are none.
  std::vector<std::string> texts;
  Handle<heddle_settings> settings;
  /// What of the settings the tool has to know.
  int64_t batch = 16;
  bool ids = false, scores = false, nBest = false, tokenScores = false,
       split = false, aligns = false, alignsWeights = false;
  /// How many labels, answers or lines of a ranking at most; absent if nobody
  /// says it.
  std::optional<size_t> top;
  /// For --info; 0 for what the model says.
  int64_t maxLength = 0;
  /// Where to write a profile as JSON, empty if only the table is wanted.
  std::optional<std::string> profile;
  /// The files of further models that decode with the first one.
  std::vector<std::string> ensemble;
  /// Target sequences that are never generated, a line each; empty for none.
  std::string badWords;
  /// What targets may be made of, a line for all inputs or one for each; empty
  /// for all.
  std::string allowed;
  /// What each target begins with, one line an input; empty for none.
  std::string prefix;
  /// Targets whose log-probabilities are printed, one line an input; empty
  /// if lines are translated.
  std::string score;
  bool info = false;
  bool verify = false;
  bool help = false;
  bool version = false;
  bool license = false;
  /// Empty, or both given.
  std::string teacher;
  std::string logits;
  std::string form = "full";
  /// cpu, cuda or auto.
  std::string device = "auto";
  /// Where to write the encoder's output; empty if it is not asked for.
  std::string hidden;
  /// Where to write vectors; empty if they are printed.
  std::string output;
  /// The type of vectors that are printed or written.
  heddle_vector_type vectorType = HEDDLE_VECTOR_FLOAT32;
  /// Lines, or their vectors, of which the nearest to a query are printed;
  /// empty if they are not asked for.
  std::string nearest;
  /// The one query; absent if queries are texts.
  std::optional<std::string> query;
  size_t mostNearest = 10;
  /// Whether somebody says which prompt stands in front of texts.
  bool hasPrompt = false;
  /// Vectors are printed as numbers alone, of labels the best ones.
  bool plain = false;
  /// Places of labels are printed in bytes, not in characters.
  bool byteOffsets = false;
  /// Lines are pairs of texts; or the file of their second texts, empty if
  /// there is none; or the text that each is ranked by, or the question that is
  /// asked of each.
  bool pairs = false;
  std::string second;
  std::optional<std::string> rank, question;
  /// One of kTaskNames; empty if the model decides.
  std::string task;
  /// One of the flags that are for translations alone; empty if none is given.
  std::string translates;
  /// The same of vectors.
  std::string vectors;
  /// Whether spans are asked for.
  bool aggregates = false;
};

/// Parses all arguments behind the program's name. Of a program that carries a
/// model, in the file `carried`, none is the name of a file.
Result<RunOptions> parseRunOptions(const std::vector<std::string> &arguments,
                                   const std::string &carried);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNOPTIONS_H
