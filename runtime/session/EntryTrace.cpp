//===- EntryTrace.cpp - When an entry point called its kernels ------------===//
//
// Calls are kept whose number is a multiple of `stride`. When there is no room,
// every other one is dropped and the stride doubles. What the calls that stay
// own is moved to the front of the same vectors, whose memory was reserved.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/EntryTrace.h"

#include <algorithm>
#include <utility>

using namespace heddle;

EntryTrace::EntryTrace(size_t dimCount) : dimCount(dimCount) {
  calls.reserve(kMostCalls);
  dims.reserve(kMostCalls * dimCount);
  kernels.reserve(kMostKeptKernels);
}

void EntryTrace::giveUpHalf() {
  size_t count = 0, end = 0;
  for (size_t i = 0; i < calls.size(); i += 2, ++count) {
    Kept call = calls[i];
    std::copy(kernels.begin() + ptrdiff_t(call.begin),
              kernels.begin() + ptrdiff_t(call.end),
              kernels.begin() + ptrdiff_t(end));
    std::copy_n(dims.begin() + ptrdiff_t(i * dimCount), dimCount,
                dims.begin() + ptrdiff_t(count * dimCount));
    size_t size = call.end - call.begin;
    calls[count] = {call.nanoseconds, call.left, end, end + size};
    end += size;
  }
  calls.resize(count);
  dims.resize(count * dimCount);
  kernels.resize(end);
  stride *= 2;
}

void EntryTrace::add(const int64_t *callDims, int64_t start,
                     int64_t nanoseconds,
                     const std::vector<TracedKernel> &called, int64_t left) {
  int64_t number = made++;
  auto isFull = [&] {
    return calls.size() == kMostCalls ||
           kernels.size() + called.size() > kMostKeptKernels;
  };
  while (number % stride == 0 && isFull())
    giveUpHalf();
  if (number % stride != 0)
    return;
  size_t begin = kernels.size();
  kernels.insert(kernels.end(), called.begin(), called.end());
  for (size_t i = begin; i < kernels.size(); ++i)
    kernels[i].start -= start;
  dims.insert(dims.end(), callDims, callDims + dimCount);
  calls.push_back({nanoseconds, left, begin, kernels.size()});
}

void EntryTrace::merge(const EntryTrace &other) {
  for (Kept call : other.calls) {
    call.begin += kernels.size();
    call.end += kernels.size();
    calls.push_back(call);
  }
  dims.insert(dims.end(), other.dims.begin(), other.dims.end());
  kernels.insert(kernels.end(), other.kernels.begin(), other.kernels.end());
}

EntryTrace::Call EntryTrace::median() const {
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < calls.size(); ++i)
    order.emplace_back(calls[i].nanoseconds, i);
  std::sort(order.begin(), order.end());
  size_t at = order[(order.size() - 1) / 2].second;
  const Kept &kept = calls[at];
  auto dim = dims.begin() + ptrdiff_t(at * dimCount);
  return {{dim, dim + ptrdiff_t(dimCount)},
          kept.nanoseconds,
          {kernels.begin() + ptrdiff_t(kept.begin),
           kernels.begin() + ptrdiff_t(kept.end)},
          kept.left};
}
