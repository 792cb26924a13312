//===- SessionMemory.h - Memory that workers divide -------------*- C++ -*-===//
//
// Each worker may take a share of what there is. What needs more than a share
// runs alone, with all of it, once the others have given theirs back. A worker
// whose requests come and go enters while it has some.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_SESSIONMEMORY_H
#define HEDDLE_RUNTIME_SESSION_SESSIONMEMORY_H

#include "runtime/session/Session.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace heddle {

/// Who has memory while it works, and some behind that.
class MemoryHolder {
public:
  virtual ~MemoryHolder() = default;
  /// Gives it back. By any thread, while the holder does not work.
  virtual void release() = 0;
};

/// Borrows sessions and holders. Any number of threads use it at the same time.
class SessionMemory {
public:
  SessionMemory(int64_t bytes, int64_t workers)
      : total(bytes), each(bytes / workers) {}

  int64_t bytes() const { return total; }
  int64_t share() const { return each; }

  /// A session takes memory from now on, inside of `work` below alone.
  void add(Session &session);
  /// Its memory is nobody's any more.
  void remove(Session &session);
  /// A session gives its memory back behind its work.
  void release(Session &session);
  /// The same of a holder, between enter() and exit() alone.
  void add(MemoryHolder &holder);
  void remove(MemoryHolder &holder);

  /// Calls `work`, beside others: a session takes a share at most, and keeps
  /// it.
  void together(const std::function<void()> &work);
  /// The two halves of that; and whether somebody waits to be alone: who is
  /// inside should begin nothing more.
  void enter();
  void exit();
  bool isAwaited();
  /// Calls `work` while nobody else takes or has anything: it may take all, and
  /// keeps nothing.
  void alone(const std::function<void()> &work);

private:
  void releaseAll();

  const int64_t total, each;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Session *> sessions;
  std::vector<MemoryHolder *> holders;
  /// Calls that work beside others, and those that wait to be alone.
  int64_t working = 0, waiting = 0;
  bool isAlone = false;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_SESSIONMEMORY_H
