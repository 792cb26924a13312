//===- Interrupts.cpp - Ctrl-C ends a call --------------------------------===//
//
// An interpreter notices a signal when a call of ours returns. While a guard
// stands, the signal cancels the session first, and goes on to whoever had it
// before.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"
#include "runtime/api/Session.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

using namespace heddle;

/// Whose calls an interrupt cancels, and whether one has come.
static std::atomic<heddle_session *> guarded = nullptr;
static std::atomic<bool> hasCome = false;
/// Who has the signal otherwise; of whoever guards.
static struct sigaction before;

static_assert(std::atomic<heddle_session *>::is_always_lock_free,
              "a signal handler reads it");

static void interrupt(int number, siginfo_t *info, void *context) {
  if (heddle_session *session = guarded.load()) {
    hasCome = true;
    heddle_cancel(session);
  }
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL)
    before.sa_handler(number);
}

heddle_status heddle_guard_interrupts(heddle_session *session) {
  if (Status status = checkPointers({{"session", session}}); !status.ok())
    return reportMisuse(status);
  heddle_session *nobody = nullptr;
  if (!guarded.compare_exchange_strong(nobody, session))
    return reportMisuse(
        Status::error("a session has the interrupts of this process already"));
  hasCome = false;
  // Both are there before the handler is.
  struct sigaction own = {};
  if (sigaction(SIGINT, nullptr, &before) == 0) {
    if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_IGN)
      return HEDDLE_OK;
    own.sa_sigaction = interrupt;
    own.sa_flags = SA_SIGINFO | (before.sa_flags & (SA_RESTART | SA_ONSTACK));
    own.sa_mask = before.sa_mask;
    if (sigaction(SIGINT, &own, nullptr) == 0)
      return HEDDLE_OK;
  }
  guarded = nullptr;
  return report(Status::error("the system refuses a handler of SIGINT: ",
                              strerror(errno)));
}

int heddle_release_interrupts() {
  heddle_session *session = guarded.load();
  if (!session)
    return 0;
  struct sigaction own = {};
  // Somebody may have taken the signal meanwhile, who keeps it.
  if (sigaction(SIGINT, nullptr, &own) == 0 && (own.sa_flags & SA_SIGINFO) &&
      own.sa_sigaction == interrupt)
    sigaction(SIGINT, &before, nullptr);
  guarded = nullptr;
  bool came = hasCome;
  // It was for a call that has ended.
  if (came)
    session->cancelled = false;
  return came;
}
