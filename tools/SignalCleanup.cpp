//===- SignalCleanup.cpp - What a signal leaves behind --------------------===//
//
// A handler may call unlink and raise, but not read a std::string: the path is
// copied before. Signals that the caller ignores (nohup) stay ignored.
//
//===----------------------------------------------------------------------===//

#include "tools/SignalCleanup.h"

#include <climits>
#include <cstring>
#include <unistd.h>

using namespace heddle;

/// What ends a process and can be caught; crashes are left alone.
static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};

/// No file has a longer path.
static char removed[PATH_MAX];

static void removeAndEnd(int number) {
  unlink(removed);
  signal(number, SIG_DFL);
  raise(number);
}

/// Handles what is not ignored.
static void handleWith(void (*handler)(int)) {
  for (int number : kSignals)
    if (signal(number, handler) == SIG_IGN)
      signal(number, SIG_IGN);
}

SignalCleanup::SignalCleanup() {
  sigset_t held;
  sigemptyset(&held);
  for (int number : kSignals)
    sigaddset(&held, number);
  pthread_sigmask(SIG_BLOCK, &held, &maskBefore);
}

void SignalCleanup::watch(const std::string &path) {
  strncpy(removed, path.c_str(), sizeof(removed) - 1);
  handleWith(removeAndEnd);
  pthread_sigmask(SIG_SETMASK, &maskBefore, nullptr);
}

SignalCleanup::~SignalCleanup() {
  handleWith(SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &maskBefore, nullptr);
}
