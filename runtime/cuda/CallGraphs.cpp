//===- CallGraphs.cpp - Known calls, the latest first ---------------------===//
//
// A key lists all numbers that tell calls apart: the entry, sizes, addresses,
// and the kernels around the entry. Up to 64 keys are kept, and the one that
// was met longest ago makes room. The first call of a key runs kernel by
// kernel, which also loads them. The second is recorded as a graph, and it and
// all later ones launch that graph.
//
// No call depends on its graph: if recording fails, it runs kernel by kernel.
// If memory is too short for a new graph, all others are dropped before a
// second attempt.
//
//===----------------------------------------------------------------------===//

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

void CallGraphs::drop(Known &call) {
  if (call.graph)
    api.cuGraphExecDestroy(std::exchange(call.graph, nullptr));
}

void CallGraphs::clear() {
  for (Known &each : known)
    drop(each);
  known.clear();
}

/// The call whose key is `asked`, which becomes the first one.
CallGraphs::Known &CallGraphs::meet() {
  auto found = std::find_if(known.begin(), known.end(), [&](const Known &each) {
    return each.key == asked;
  });
  if (found == known.end()) {
    if (known.size() == kMostKnown) {
      drop(known.back());
      known.pop_back();
    }
    found = known.insert(known.end(), Known{asked});
  }
  std::rotate(known.begin(), found, found + 1);
  ++known.front().calls;
  return known.front();
}

/// Makes the graph of a call that has succeeded without one. If there is
/// none to be had the call goes on as it is; nothing of it has started then.
void CallGraphs::record(Known &call, Stream stream,
                        const std::function<Status()> &start) {
  call.isPlain = true;
  if (api.cuStreamBeginCapture_v2(stream, kRelaxed) != 0)
    return;
  bool started = start().ok();
  Graph graph = nullptr;
  bool ended = api.cuStreamEndCapture(stream, &graph) == 0;
  // What comes next is to run: a stream that still records is told once more.
  if (!ended)
    api.cuStreamEndCapture(stream, &graph);
  if (started && ended && instantiate(call, graph))
    call.isPlain = false;
  if (graph)
    api.cuGraphDestroy(graph);
}

/// If memory is short other calls do without their graphs.
bool CallGraphs::instantiate(Known &call, Graph graph) {
  GraphExec made = nullptr;
  Code code = api.cuGraphInstantiateWithFlags(&made, graph, /*flags=*/0);
  if (code == kOutOfMemory) {
    for (Known &each : known)
      drop(each);
    code = api.cuGraphInstantiateWithFlags(&made, graph, /*flags=*/0);
  }
  if (code != 0)
    return false;
  call.graph = made;
  return true;
}

/// Makes `asked` what distinguishes a call from others: as many numbers if
/// the entry and what is around it are the same. Those that differ most often
/// come first.
void CallGraphs::ask(HeddleEntry entry, const HeddleCall &call,
                     const CallSizes &sizes, const CallFrame &frame) {
  asked.assign(1, reinterpret_cast<uint64_t>(entry));
  auto add = [&](std::initializer_list<const void *> addresses,
                 std::initializer_list<int64_t> numbers = {}) {
    for (const void *address : addresses)
      asked.push_back(reinterpret_cast<uint64_t>(address));
    asked.insert(asked.end(), numbers.begin(), numbers.end());
  };
  asked.insert(asked.end(), call.dims, call.dims + sizes.dims);
  add({call.arena, call.scratch});
  for (size_t i = 0; i < sizes.buffers; ++i)
    add({call.buffers[i].at});
  if (const auto &write = frame.history)
    add({write->history, write->positions, write->caches},
        {write->rows, write->capacity});
  if (const auto &merge = frame.merge)
    add({merge->values, merge->ids, merge->bestValues, merge->bestIds},
        {merge->rows, merge->ranges, merge->count});
}

Status CallGraphs::call(HeddleEntry entry, const HeddleCall &call,
                        const CallSizes &sizes, const CallFrame &frame,
                        Stream stream, const std::function<Status()> &start) {
  ask(entry, call, sizes, frame);
  Known &same = meet();
  if (!same.graph && !same.isPlain && same.calls > kCallsBefore)
    record(same, stream, start);
  if (same.graph) {
    Code code = api.cuGraphLaunch(same.graph, stream);
    if (code != kOutOfMemory)
      return api.check(code, "cuGraphLaunch");
    drop(same);
    same.isPlain = true;
  }
  Status status = start();
  // A call is recorded once it has succeeded: it loads no kernel then.
  if (!status.ok())
    known.erase(known.begin());
  return status;
}
