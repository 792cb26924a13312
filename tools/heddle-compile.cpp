//===- heddle-compile.cpp - From a model to an artifact -------------------===//
//
// What ends the process before its time: signals, no memory, a bug. Errors are
// one sentence on standard error, and a file that is half written goes.
//
//===----------------------------------------------------------------------===//

#include "tools/compile/Compiler.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <unistd.h>

using namespace heddle;

#ifdef HEDDLE_STANDALONE
static constexpr bool kIsStandalone = true;
#else
static constexpr bool kIsStandalone = false;
#endif

/// Ends the process if it cannot go on, memory above all, with a sentence
/// and without a file that is half written.
[[noreturn]] static void giveUp(const char *why) {
  static constexpr char kBegin[] = "heddle-compile: error: ";
  for (const char *part : {kBegin, why, "\n"}) {
    // Nobody could be told of an error.
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, part, strlen(part));
  }
  llvm::sys::RunInterruptHandlers();
  _exit(1);
}

static void handleWhatCannotGoOn() {
  constexpr static const char *kMemory = "there is not enough memory";
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { giveUp(kMemory); });
  std::set_new_handler([] { giveUp(kMemory); });
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) { giveUp(reason); });
  // By a library that starts a thread of its own.
  std::set_terminate(
      [] { giveUp("the system refuses memory or another thread"); });
  // A file that may not grow is an error of write(2), not the end of the
  // process.
  signal(SIGXFSZ, SIG_IGN);
}

using SignalSet = llvm::SmallVector<int>;

static SignalSet findIgnoredSignals() {
  SignalSet ignored;
  for (int number :
       {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU, SIGPIPE}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 &&
        action.sa_handler == SIG_IGN)
      ignored.push_back(number);
  }
  return ignored;
}

/// Ends the process as LLVM does for an interrupt. To LLVM the first two are
/// crashes, of which it prints the stack, and the third is nothing. What is
/// ignored, as nohup asks for, stays so, which LLVM forgets.
static void handleWishesToEnd(const SignalSet &ignored) {
  struct sigaction action = {};
  action.sa_handler = [](int number) {
    llvm::sys::RunInterruptHandlers();
    signal(number, SIG_DFL);
    raise(number);
  };
  for (int number : {SIGQUIT, SIGXCPU, SIGPIPE})
    sigaction(number, &action, nullptr);
  for (int number : ignored)
    signal(number, SIG_IGN);
}

int main(int argc, char **argv) {
  llvm::setBugReportMsg(
      "heddle-compile: error: this is a bug of Heddle, please "
      "report it with the command line and this:\n");
  // Signals wait until it is known who ignores them.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  SignalSet ignored = findIgnoredSignals();
  llvm::InitLLVM init(argc, argv);
  handleWhatCannotGoOn();
  handleWishesToEnd(ignored);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return runCompiler({argv + 1, argv + argc}, kIsStandalone);
}
