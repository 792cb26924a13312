//===- SignalCleanup.cpp - What a signal leaves behind --------------------===//
//
// A handler may call unlink, write and raise, but not read a std::string: the
// path is copied before. Signals that the caller ignores (nohup) stay ignored.
//
//===----------------------------------------------------------------------===//

#include "tools/SignalCleanup.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <utility>

using namespace heddle;

namespace {
/// A signal, and what was done about it before we handled it.
struct Handled {
  int number;
  struct sigaction before = {};
};
} // namespace

/// What ends a process and can be caught; crashes are left alone.
static Handled handled[] = {
    {SIGHUP}, {SIGINT}, {SIGQUIT}, {SIGTERM}, {SIGXCPU}};
/// How many want the signals handled.
static int users = 0;

/// To the first column, and nothing from there on.
static constexpr std::string_view kErase = "\r\033[K";

/// No file has a longer path; empty for none.
static char removed[PATH_MAX];
/// See callProgram.
static char program[NAME_MAX + 1] = "heddle-run";
// Lock-free: a signal's handler may read and write them, on any thread.

/// Whether standard error ends with a line that is written over.
static std::atomic<bool> hasLine = false;
/// Whether a signal is ending the process.
static std::atomic<bool> isEnding = false;

static void writeError(std::string_view text) {
  // Nobody could be told of an error.
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, text.data(), text.size());
}

/// Removes what is not whole.
static void cleanUp() {
  isEnding = true;
  unlink(removed);
  if (hasLine)
    writeError(kErase);
}

void heddle::endWithoutMemory() {
  cleanUp();
  writeError(program);
  writeError(": error: there is not enough memory\n");
  _exit(1);
}

void heddle::callProgram(const std::string &name) {
  strncpy(program, name.c_str(), sizeof(program) - 1);
}

void heddle::printSentence(const char *kind, std::string sentence) {
  if (hasLine)
    writeOver("");
  // Names and words from outside may hold anything.
  for (char &c : sentence)
    if (static_cast<unsigned char>(c) < ' ' || c == 127)
      c = '?';
  fprintf(stderr, "%s: %s: %s\n", program, kind, sentence.c_str());
}

/// Cleans up, and lets the signal do what it would have done without us.
static void removeAndEnd(int number) {
  // The signal may come a moment later; who was interrupted goes on until then.
  int error = errno;
  cleanUp();
  for (const Handled &each : handled)
    if (each.number == number)
      sigaction(number, &each.before, nullptr);
  raise(number);
  errno = error;
}

/// Handles what is not ignored, until as many calls of stopHandling.
static void startHandling() {
  if (users++ > 0)
    return;
  struct sigaction action = {};
  action.sa_handler = removeAndEnd;
  action.sa_flags = SA_RESTART;
  for (Handled &each : handled) {
    sigaction(each.number, nullptr, &each.before);
    if (each.before.sa_handler != SIG_IGN)
      sigaction(each.number, &action, nullptr);
  }
}

static void stopHandling() {
  if (--users > 0)
    return;
  for (const Handled &each : handled)
    sigaction(each.number, &each.before, nullptr);
}

SignalCleanup::SignalCleanup() {
  sigset_t held;
  sigemptyset(&held);
  for (const Handled &each : handled)
    sigaddset(&held, each.number);
  pthread_sigmask(SIG_BLOCK, &held, &maskBefore);
}

void SignalCleanup::watch(const std::string &path) {
  strncpy(removed, path.c_str(), sizeof(removed) - 1);
  if (!std::exchange(isWatching, true))
    startHandling();
  pthread_sigmask(SIG_SETMASK, &maskBefore, nullptr);
}

SignalCleanup::~SignalCleanup() {
  if (isWatching)
    stopHandling();
  removed[0] = 0;
  pthread_sigmask(SIG_SETMASK, &maskBefore, nullptr);
}

void heddle::writeOver(std::string_view line) {
  static bool handles = false;
  if (!handles)
    startHandling();
  handles = true;
  if (isEnding)
    return;
  hasLine = !line.empty();
  writeError(std::string(kErase).append(line));
}
