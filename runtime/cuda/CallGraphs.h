//===- CallGraphs.h - Calls that are made again -----------------*- C++ -*-===//
//
// An entry starts its kernels one by one, which takes the host longer than a
// GPU may need for the kernels of a few rows. All that it asks for depends on
// the call alone, never on what is in the buffers: so what a call has started
// is recorded, as a CUDA graph, and started at once if the same call comes
// again, as most do: sizes of calls are few (Device.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CUDA_CALLGRAPHS_H
#define HEDDLE_RUNTIME_CUDA_CALLGRAPHS_H

#include "runtime/cuda/CudaDriver.h"
#include "runtime/session/Device.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle {

/// Of one stream. Whoever owns it clears it, as a thread of the device's.
class CallGraphs {
public:
  explicit CallGraphs(const cuda::Driver &api) : api(api) {}

  /// Does what `start` puts into the stream when it is asked to. It is asked
  /// again, with nothing of it done, if a graph cannot be made: that call
  /// has none then. One that fails is forgotten, and no other.
  Status call(HeddleEntry entry, const HeddleCall &call, const CallSizes &sizes,
              const CallFrame &frame, cuda::Stream stream,
              const std::function<Status()> &start);
  /// Forgets all calls.
  void clear();

private:
  /// What distinguishes calls: the entry, dimensions, arena and scratch memory,
  /// buffers, and what is around them.
  using Key = std::vector<uint64_t>;
  struct Known {
    Key key;
    int calls = 0;
    /// Null until it is recorded.
    cuda::GraphExec graph = nullptr;
    /// No graph of it can be made.
    bool isPlain = false;
  };

  void ask(HeddleEntry entry, const HeddleCall &call, const CallSizes &sizes,
           const CallFrame &frame);
  Known &meet();
  void drop(Known &call);
  void record(Known &call, cuda::Stream stream,
              const std::function<Status()> &start);
  bool instantiate(Known &call, cuda::Graph graph);

  const cuda::Driver &api;
  /// The key of the latest call; keeps its memory.
  Key asked;
  /// The one of the latest call first.
  std::vector<Known> known;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CUDA_CALLGRAPHS_H
