//===- heddle-run.cpp - Runs an artifact ----------------------------------===//
//
// Text in, text out. The same program runs the model of an executable. Errors
// are one sentence on standard error and the exit code 1, or 2 if the
// command line is wrong in itself; a reader of the output that went away ends
// the run without a word.
//
//===----------------------------------------------------------------------===//

#include "tools/Notices.h"
#include "tools/SignalCleanup.h"
#include "tools/help/RunPage.h"
#include "tools/run/CarriedModel.h"
#include "tools/run/OutputWriter.h"
#include "tools/run/RunArrays.h"
#include "tools/run/RunLines.h"
#include "tools/run/RunOptions.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

using namespace heddle;

static Status printInfo(const RunOptions &options, OutputWriter &output) {
  char *text = nullptr;
  Status status = statusOf(heddle_describe(options.file.c_str(),
                                           options.verify ? HEDDLE_VERIFY : 0,
                                           options.maxLength, &text));
  Handle<char> owner(text);
  if (!status.ok())
    return status;
  output.print(text);
  return output.flush();
}

/// A program that carries a model has a name of its own, but no version.
static std::string describeVersion(const std::string &carried) {
  std::string version = std::string(heddle_version()) + "\n";
  return carried.empty() ? "heddle-run " + version
                         : programNameOf(carried) + ", by Heddle " + version;
}

static Status run(const RunOptions &options, const std::string &carried,
                  OutputWriter &output) {
  if (options.help || options.version || options.license) {
    output.print(options.version ? describeVersion(carried)
                 : options.license
                     ? getNotices()
                     : writeHelp(getRunPage(programNameOf(carried))));
    return output.flush();
  }
  if (options.info)
    return printInfo(options, output);
  if (!options.score.empty())
    return printScores(options, output);
  if (!options.teacher.empty())
    return writeLogits(options);
  if (!options.hidden.empty())
    return writeHiddenStates(options);
  return printAnswers(options, output);
}

/// Occupies the standard descriptors that the caller closed, in a way that
/// still fails: otherwise the next file to be opened would be the output.
static void occupyStandardDescriptors() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0)
      continue;
    // A root may have no /dev. Which end of a pipe is where does not matter
    // once it is the one that fails.
    int ends[2];
    if (pipe(ends) != 0)
      continue;
    dup2(ends[descriptor == STDIN_FILENO ? 1 : 0], descriptor);
    for (int end : ends)
      if (end != descriptor)
        close(end);
  }
}

int main(int argc, char **argv) {
  occupyStandardDescriptors();
  // A closed pipe and a file that may not grow are errors of write(2), not the
  // end of the process.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(endWithoutMemory);
  OutputWriter output;
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string carried = findCarriedModel();
  if (!carried.empty())
    callProgram(programNameOf(carried));
  Result<RunOptions> options = parseRunOptions(arguments, carried);
  Status status =
      options.ok() ? run(*options, carried, output) : options.status();
  if (status.ok())
    return 0;
  if (!output.readerIsGone())
    printSentence("error", status.message());
  return options.ok() ? 1 : 2;
}
