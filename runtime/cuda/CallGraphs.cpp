#include "runtime/cuda/CallGraphs.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

using namespace heddle;
using namespace heddle::cuda;

/// CUstreamCaptureMode: what other threads ask for meanwhile is not recorded.
static constexpr int kRelaxed = 2;
/// To make a graph takes about as long as two calls without one; and a session
/// that meets a call twice meets it again, in another batch if not in this one.
static constexpr int kCallsBefore = 1;
/// A few numbers of rows of each of some lengths.
static constexpr size_t kMostKnown = 64;

void CallGraphs::clear() {
  for (const Known &each : known)
    if (each.graph)
      api.cuGraphExecDestroy(each.graph);
  known.clear();
}

CallGraphs::Known &CallGraphs::meet(Key key) {
  auto found = std::find_if(known.begin(), known.end(),
                            [&](const Known &each) { return each.key == key; });
  if (found == known.end()) {
    if (known.size() == kMostKnown) {
      if (known.back().graph)
        api.cuGraphExecDestroy(known.back().graph);
      known.pop_back();
    }
    found = known.insert(known.end(), {std::move(key), 0, nullptr});
  }
  std::rotate(known.begin(), found, found + 1);
  ++known.front().calls;
  return known.front();
}

Status CallGraphs::record(Known &call, Stream stream,
                          const std::function<Status()> &start) {
  if (Status status = api.check(api.cuStreamBeginCapture_v2(stream, kRelaxed),
                                "cuStreamBeginCapture");
      !status.ok())
    return status;
  Status started = start();
  Graph graph = nullptr;
  Status ended =
      api.check(api.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  if (started.ok() && ended.ok())
    started = api.check(api.cuGraphInstantiateWithFlags(&call.graph, graph, 0),
                        "cuGraphInstantiateWithFlags");
  if (graph)
    api.cuGraphDestroy(graph);
  return started.ok() ? ended : started;
}

/// What distinguishes a call from others of its entry: as many numbers where
/// the same is around it.
CallGraphs::Key CallGraphs::keyOf(HeddleEntry entry, const HeddleCall &call,
                                  const CallSizes &sizes,
                                  const CallFrame &frame) {
  Key key = {reinterpret_cast<uint64_t>(entry)};
  auto add = [&](std::initializer_list<const void *> addresses,
                 std::initializer_list<int64_t> numbers = {}) {
    for (const void *address : addresses)
      key.push_back(reinterpret_cast<uint64_t>(address));
    key.insert(key.end(), numbers.begin(), numbers.end());
  };
  add({call.arena, call.scratch});
  for (size_t i = 0; i < sizes.buffers; ++i)
    add({call.buffers[i]});
  key.insert(key.end(), call.dims, call.dims + sizes.dims);
  if (const auto &write = frame.history)
    add({write->history, write->positions, write->caches},
        {write->rows, write->capacity});
  if (const auto &merge = frame.merge)
    add({merge->values, merge->ids, merge->bestValues, merge->bestIds},
        {merge->rows, merge->ranges, merge->count});
  return key;
}

Status CallGraphs::call(HeddleEntry entry, const HeddleCall &call,
                        const CallSizes &sizes, const CallFrame &frame,
                        Stream stream, const std::function<Status()> &start) {
  Known &same = meet(keyOf(entry, call, sizes, frame));
  if (same.calls <= kCallsBefore) {
    Status status = start();
    // What is recorded has succeeded before: it takes no memory then.
    if (!status.ok())
      clear();
    return status;
  }
  if (!same.graph)
    if (Status status = record(same, stream, start); !status.ok())
      return status;
  return api.check(api.cuGraphLaunch(same.graph, stream), "cuGraphLaunch");
}
