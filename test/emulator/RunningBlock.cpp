//===- RunningBlock.cpp - A block in the works ----------------------------===//

#include "RunningBlock.h"
#include "Worker.h"

using namespace heddle::emulator;

void RunningBlock::makeThreads(unsigned count, size_t stackBytes) {
  if (!threads.empty() && threads[0]->fiber.stackBytes() < stackBytes)
    threads.clear();
  while (threads.size() < count)
    threads.push_back(std::make_unique<Thread>(stackBytes));
}

void RunningBlock::clear() {
  numAlive = worker.numThreads;
  barriers.clear();
  transactions.clear();
  meetings.clear((numAlive + 31) / 32);
  warpgroups.clear((numAlive + 127) / 128);
  remoteTimes.clear();
}

std::string RunningBlock::describe() const {
  return describeBlock(*threads[0]);
}

/// Whether the thread has waited for the cluster, or comes after anything that
/// this block did.
bool RunningBlock::isKnownToHaveBegun(const Thread &thread) const {
  if (thread.clusterWaits)
    return true;
  const auto &seen = thread.clock.vector();
  for (unsigned i = 0; seen && i < worker.numThreads; ++i) {
    uint32_t actor = threads[i]->actor;
    if (actor < seen->size() && (*seen)[actor])
      return true;
  }
  return false;
}

void RunningBlock::allowRemote(Context &context, const std::string &what,
                               bool isCopy) {
  const Thread &thread = threadOf(context);
  if (!shared.isChecked || thread.home == this)
    return;
  auto forbid = [&](const char *why) {
    fail(context, kLaunchFailed,
         what + " in shared memory of " + describe() + ", which " + why);
  };
  if (hasEnded())
    forbid("has ended");
  if (!isKnownToHaveBegun(thread))
    forbid("may not have begun: there is no barrier of the cluster in between");
  if (isCopy)
    return;
  if (remoteTimes.size() <= thread.actor)
    remoteTimes.resize(thread.actor + 1);
  remoteTimes[thread.actor] = thread.clock.now();
}

void RunningBlock::checkEnd(Thread &last) const {
  if (!shared.isChecked)
    return;
  transactions.checkEnd(last);
  if (remoteTimes.empty())
    return;
  // The block knows what any of its threads does.
  Times known;
  const Times *joined = nullptr;
  for (unsigned i = 0; i < worker.numThreads; ++i) {
    const auto &seen = threads[i]->clock.vector();
    if (seen && seen.get() != joined)
      join(known, *seen);
    joined = seen.get();
  }
  known.resize(std::max(known.size(), remoteTimes.size()));
  for (size_t actor = 0; actor < remoteTimes.size(); ++actor)
    if (remoteTimes[actor] > known[actor])
      fail(last, kLaunchFailed,
           "its block ends while " +
               worker.describeActor(last, static_cast<uint32_t>(actor)) +
               " may reach into its shared memory: there is no barrier of the "
               "cluster in between");
}
