//===- SignalCleanup.h - What a signal leaves behind ------------*- C++ -*-===//
//
// A file that is not whole yet goes with the process that writes it, also when
// somebody presses Ctrl-C, and so does a line that is written over.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_SIGNALCLEANUP_H
#define HEDDLE_TOOLS_SIGNALCLEANUP_H

#include <csignal>
#include <string>
#include <string_view>

namespace heddle {

/// Made before the file is created and gone after it was removed or renamed.
/// One at a time.
class SignalCleanup {
public:
  /// Holds back the signals that end a process, so that this thread receives
  /// none while a file exists that nobody would remove.
  SignalCleanup();
  ~SignalCleanup();
  SignalCleanup(const SignalCleanup &) = delete;

  /// From here on a signal removes the file before it ends the process, or
  /// does what it was to do.
  void watch(const std::string &path);

private:
  sigset_t maskBefore;
  bool isWatching = false;
};

/// For std::set_new_handler: ends the process as a signal does, with a sentence
/// and the exit code 1.
[[noreturn]] void endWithoutMemory();
/// What sentences on standard error call the program; heddle-run by default.
void callProgram(const std::string &name);
/// Prints one there, behind the program's name and its kind, "error", in one
/// line of its own, whatever it holds.
void printSentence(const char *kind, std::string sentence);

/// Writes over the last line of standard error, a terminal: with nothing at the
/// end. From the first call on a signal erases the line before it ends the
/// process. One thread at a time.
void writeOver(std::string_view line);

} // namespace heddle

#endif // HEDDLE_TOOLS_SIGNALCLEANUP_H
