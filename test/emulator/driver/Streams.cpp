//===- Streams.cpp - Work that is done when somebody waits ----------------===//
//
// Every command has a place in the order of the context. A stream does its own
// from the first to the last; the default stream and those that are not
// CU_STREAM_NON_BLOCKING see each other's in the order of all.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <chrono>

using namespace heddle::emulator;

static constexpr unsigned kNonBlocking = 1;

CUstream Driver::resolve(CUstream stream) {
  // Null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
  if (reinterpret_cast<uintptr_t>(stream) <= 2)
    return &defaultStream;
  return streams.count(stream) ? stream : nullptr;
}

CUresult Driver::enqueue(CUstream stream, Work work) {
  if (stream->capture) {
    stream->capture->works.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  stream->commands.push_back({++lastSequence, std::move(work)});
  stream->thread = std::this_thread::get_id();
  return CUDA_SUCCESS;
}

/// The first command of a stream, after what it has to come behind.
CUresult Driver::runFirst(CUstream stream) {
  Command command = std::move(stream->commands.front());
  stream->commands.pop_front();
  CUresult result = CUDA_SUCCESS;
  if (stream == &defaultStream) {
    for (CUstream other : streams)
      if (other->isBlocking && !result)
        result = drain(other, command.sequence);
  } else if (stream->isBlocking) {
    result = drain(&defaultStream, command.sequence);
  }
  if (!result)
    result = command.work();
  if (result && !stickyError)
    stickyError = result;
  return result;
}

CUresult Driver::drain(CUstream stream, uint64_t sequence) {
  if (stream->commands.empty())
    return CUDA_SUCCESS;
  // Once for all of them.
  DeviceMemory::Open open(*memory);
  while (!stream->commands.empty() &&
         stream->commands.front().sequence <= sequence)
    if (CUresult result = runFirst(stream))
      return result;
  return CUDA_SUCCESS;
}

CUresult Driver::drainAll() {
  CUresult result = drain(&defaultStream);
  for (CUstream stream : streams)
    if (!result)
      result = drain(stream);
  return result;
}

bool Driver::isBusy() const {
  auto isOwn = [](const CUstream_st &stream) {
    return !stream.commands.empty() &&
           stream.thread == std::this_thread::get_id();
  };
  return isOwn(defaultStream) ||
         std::any_of(streams.begin(), streams.end(),
                     [&](CUstream stream) { return isOwn(*stream); });
}

bool Driver::isCapturing() const {
  enum { kGlobal, kThreadLocal, kRelaxed };
  for (CUstream stream : streams)
    if (stream->capture &&
        (stream->capture->mode == kGlobal ||
         (stream->capture->mode == kThreadLocal &&
          stream->capture->thread == std::this_thread::get_id())))
      return true;
  return false;
}

static double now() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch())
      .count();
}

/// Calls a function with the stream of a handle.
template <typename Function>
static CUresult withStream(const char *name, CUstream handle,
                           Function function) {
  return Driver::call(name, [&](Driver &driver) {
    CUstream stream = driver.resolve(handle);
    return stream ? function(driver, stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

HEDDLE_CUDA CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return Driver::call("cuStreamCreate", [&](Driver &driver) {
    *stream = new CUstream_st;
    (*stream)->isBlocking = !(flags & kNonBlocking);
    driver.streams.insert(*stream);
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuStreamCreateWithPriority(CUstream *stream,
                                                unsigned flags, int priority) {
  return cuStreamCreate(stream, flags);
}

HEDDLE_CUDA CUresult cuStreamDestroy_v2(CUstream handle) {
  return withStream("cuStreamDestroy_v2", handle,
                    [&](Driver &driver, CUstream stream) {
                      CUresult result = driver.drain(stream);
                      driver.streams.erase(stream);
                      for (CUevent event : driver.events)
                        if (event->stream == stream)
                          event->stream = nullptr;
                      delete stream;
                      return result;
                    });
}

HEDDLE_CUDA CUresult cuStreamSynchronize(CUstream handle) {
  return withStream("cuStreamSynchronize", handle,
                    [&](Driver &driver, CUstream stream) {
                      if (stream->capture)
                        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
                      return driver.drain(stream);
                    });
}

/// Each question brings the stream one command further.
HEDDLE_CUDA CUresult cuStreamQuery(CUstream handle) {
  return withStream(
      "cuStreamQuery", handle, [&](Driver &driver, CUstream stream) {
        if (stream->capture)
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        if (stream->commands.empty())
          return CUDA_SUCCESS;
        CUresult result =
            driver.drain(stream, stream->commands.front().sequence);
        return result ? result : CUDA_ERROR_NOT_READY;
      });
}

HEDDLE_CUDA CUresult cuStreamWaitEvent(CUstream handle, CUevent event,
                                       unsigned flags) {
  return withStream(
      "cuStreamWaitEvent", handle, [&](Driver &driver, CUstream stream) {
        if (!driver.events.count(event))
          return CUDA_ERROR_INVALID_HANDLE;
        if (event->capture) {
          // The stream becomes a branch of the capture.
          stream->capture = event->capture;
          return CUDA_SUCCESS;
        }
        if (!event->recorded || !event->stream)
          return CUDA_SUCCESS;
        CUstream other = event->stream;
        uint64_t sequence = event->recorded;
        return driver.enqueue(stream, [&driver, other, sequence] {
          bool isAlive =
              other == &driver.defaultStream || driver.streams.count(other);
          return isAlive ? driver.drain(other, sequence) : CUDA_SUCCESS;
        });
      });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// Does what has to come before the event.
static CUresult reach(Driver &driver, CUevent event) {
  if (event->reached >= event->recorded || !event->stream)
    return CUDA_SUCCESS;
  return driver.drain(event->stream, event->recorded);
}

HEDDLE_CUDA CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return Driver::call("cuEventCreate", [&](Driver &driver) {
    *event = new CUevent_st;
    driver.events.insert(*event);
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuEventDestroy_v2(CUevent event) {
  return Driver::call("cuEventDestroy_v2", [&](Driver &driver) {
    if (!driver.events.count(event))
      return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = reach(driver, event);
    driver.events.erase(event);
    delete event;
    return result;
  });
}

HEDDLE_CUDA CUresult cuEventRecord(CUevent event, CUstream handle) {
  return withStream("cuEventRecord", handle,
                    [&](Driver &driver, CUstream stream) {
                      if (!driver.events.count(event))
                        return CUDA_ERROR_INVALID_HANDLE;
                      event->stream = stream;
                      event->capture = stream->capture;
                      if (stream->capture)
                        return CUDA_SUCCESS;
                      uint64_t sequence = driver.lastSequence + 1;
                      event->recorded = sequence;
                      return driver.enqueue(stream, [&driver, event, sequence] {
                        if (driver.events.count(event)) {
                          event->reached = sequence;
                          event->milliseconds = now();
                        }
                        return CUDA_SUCCESS;
                      });
                    });
}

HEDDLE_CUDA CUresult cuEventSynchronize(CUevent event) {
  return Driver::call("cuEventSynchronize", [&](Driver &driver) {
    return driver.events.count(event) ? reach(driver, event)
                                      : CUDA_ERROR_INVALID_HANDLE;
  });
}

HEDDLE_CUDA CUresult cuEventQuery(CUevent event) {
  return Driver::call("cuEventQuery", [&](Driver &driver) {
    if (!driver.events.count(event))
      return CUDA_ERROR_INVALID_HANDLE;
    if (event->reached >= event->recorded)
      return CUDA_SUCCESS;
    CUresult result = reach(driver, event);
    return result ? result : CUDA_ERROR_NOT_READY;
  });
}

HEDDLE_CUDA CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start,
                                           CUevent end) {
  return Driver::call("cuEventElapsedTime_v2", [&](Driver &driver) {
    for (CUevent event : {start, end}) {
      if (!driver.events.count(event) || !event->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
      if (event->reached < event->recorded)
        return CUDA_ERROR_NOT_READY;
    }
    *milliseconds = static_cast<float>(end->milliseconds - start->milliseconds);
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
                                        CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

HEDDLE_CUDA CUresult cuStreamBeginCapture_v2(CUstream handle, int mode) {
  return withStream("cuStreamBeginCapture_v2", handle,
                    [&](Driver &driver, CUstream stream) {
                      if (stream->capture || stream == &driver.defaultStream)
                        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
                      stream->capture = std::make_shared<Capture>();
                      stream->capture->origin = stream;
                      stream->capture->mode = mode;
                      return CUDA_SUCCESS;
                    });
}

HEDDLE_CUDA CUresult cuStreamIsCapturing(CUstream handle, int *status) {
  return withStream("cuStreamIsCapturing", handle,
                    [&](Driver &, CUstream stream) {
                      *status = stream->capture != nullptr;
                      return CUDA_SUCCESS;
                    });
}

HEDDLE_CUDA CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  return withStream("cuStreamEndCapture", handle,
                    [&](Driver &driver, CUstream stream) {
                      std::shared_ptr<Capture> capture = stream->capture;
                      if (!capture || capture->origin != stream)
                        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
                      for (CUstream other : driver.streams)
                        if (other->capture == capture)
                          other->capture.reset();
                      for (CUevent event : driver.events)
                        if (event->capture == capture)
                          event->capture.reset();
                      *graph = new CUgraph_st{std::move(capture->works)};
                      driver.graphs.insert(*graph);
                      return CUDA_SUCCESS;
                    });
}

HEDDLE_CUDA CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec,
                                                 CUgraph graph,
                                                 unsigned long long flags) {
  return Driver::call("cuGraphInstantiateWithFlags", [&](Driver &driver) {
    if (!driver.graphs.count(graph))
      return CUDA_ERROR_INVALID_HANDLE;
    *exec = new CUgraphExec_st{graph->works};
    driver.graphExecs.insert(*exec);
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuGraphUpload(CUgraphExec exec, CUstream handle) {
  return withStream("cuGraphUpload", handle, [&](Driver &driver, CUstream) {
    return driver.graphExecs.count(exec) ? CUDA_SUCCESS
                                         : CUDA_ERROR_INVALID_HANDLE;
  });
}

HEDDLE_CUDA CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  return withStream("cuGraphLaunch", handle,
                    [&](Driver &driver, CUstream stream) {
                      if (!driver.graphExecs.count(exec))
                        return CUDA_ERROR_INVALID_HANDLE;
                      return driver.enqueue(stream, [works = exec->works] {
                        for (const Work &work : works)
                          if (CUresult result = work())
                            return result;
                        return CUDA_SUCCESS;
                      });
                    });
}

HEDDLE_CUDA CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return Driver::call("cuGraphExecDestroy", [&](Driver &driver) {
    if (!driver.graphExecs.erase(exec))
      return CUDA_ERROR_INVALID_HANDLE;
    delete exec;
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuGraphDestroy(CUgraph graph) {
  return Driver::call("cuGraphDestroy", [&](Driver &driver) {
    if (!driver.graphs.erase(graph))
      return CUDA_ERROR_INVALID_HANDLE;
    delete graph;
    return CUDA_SUCCESS;
  });
}
