//===- CompileProgress.cpp - How far compiling is -------------------------===//
//
// LLVM has handlers of its own for signals, which remove files that are not
// whole: the one here erases the line and leaves the rest to them.
//
//===----------------------------------------------------------------------===//

#include "tools/compile/CompileProgress.h"
#include "llvm/Support/Process.h"
#include <csignal>
#include <string>
#include <string_view>
#include <unistd.h>

using namespace heddle;

/// To the first column, and nothing from there on.
static constexpr std::string_view kErase = "\r\033[K";

static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
static struct sigaction handled[std::size(kSignals)];
static volatile sig_atomic_t isEnding = 0;

static void writeError(std::string_view text) {
  // Nobody could be told of an error.
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, text.data(), text.size());
}

static void eraseAndPass(int number) {
  isEnding = 1;
  writeError(kErase);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == number)
      sigaction(number, &handled[i], nullptr);
  raise(number);
}

/// Handles what is not ignored.
static void handleSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction own = {};
    own.sa_handler = eraseAndPass;
    sigaction(kSignals[i], nullptr, &handled[i]);
    if (handled[i].sa_handler != SIG_IGN)
      sigaction(kSignals[i], &own, nullptr);
  }
}

void heddle::showProgress(const llvm::Twine &line) {
  static const bool isShown = llvm::sys::Process::StandardErrIsDisplayed();
  static bool hasLine = false;
  std::string text = line.str();
  if (!isShown || isEnding || (text.empty() && !hasLine))
    return;
  if (static bool handles = false; !handles) {
    handleSignals();
    handles = true;
  }
  hasLine = !text.empty();
  writeError(std::string(kErase) + text);
}
