//===- SessionMemory.cpp - Memory that workers divide ---------------------===//
//
// A lock that many hold together or one alone; who waits to be alone comes
// before those who come later.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SessionMemory.h"

#include <algorithm>
#include <malloc.h>

using namespace heddle;

void SessionMemory::add(Session &session) {
  std::lock_guard<std::mutex> lock(mutex);
  sessions.push_back(&session);
}

void SessionMemory::remove(Session &session) {
  std::lock_guard<std::mutex> lock(mutex);
  sessions.erase(std::find(sessions.begin(), sessions.end(), &session));
}

void SessionMemory::release(Session &session) {
  std::lock_guard<std::mutex> lock(mutex);
  session.release();
}

void SessionMemory::add(MemoryHolder &holder) {
  std::lock_guard<std::mutex> lock(mutex);
  holders.push_back(&holder);
}

void SessionMemory::remove(MemoryHolder &holder) {
  std::lock_guard<std::mutex> lock(mutex);
  holders.erase(std::find(holders.begin(), holders.end(), &holder));
}

void SessionMemory::releaseAll() {
  for (MemoryHolder *holder : holders)
    holder->release();
  for (Session *session : sessions)
    session->release();
  // What was freed goes back to the system, too.
  malloc_trim(/*pad=*/0);
}

void SessionMemory::together(const std::function<void()> &work) {
  enter();
  work();
  exit();
}

void SessionMemory::enter() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return !isAlone && waiting == 0; });
  ++working;
}

void SessionMemory::exit() {
  std::lock_guard<std::mutex> lock(mutex);
  --working;
  changed.notify_all();
}

bool SessionMemory::isAwaited() {
  std::lock_guard<std::mutex> lock(mutex);
  return waiting > 0;
}

void SessionMemory::alone(const std::function<void()> &work) {
  std::unique_lock<std::mutex> lock(mutex);
  ++waiting;
  changed.wait(lock, [&] { return !isAlone && working == 0; });
  --waiting;
  isAlone = true;
  releaseAll();
  lock.unlock();
  work();
  lock.lock();
  releaseAll();
  isAlone = false;
  changed.notify_all();
}
