//===- States.cpp - Recurrences and caches --------------------------------===//
//
// Nothing else has these kernels: they stand beside the machine's limits alone.
// A recurrence computes a sigmoid an element; the sizes are those of SSRU
// decoders, whole sentences and steps.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/LayerCases.h"
#include "bench/kernels/Layers.h"

namespace heddle::bench {

static std::string addRecurrences(const std::string &target) {
  Module module;
  std::vector<LayerCase> cases;
  for (int64_t width : {256, 384}) {
    std::string columns = std::to_string(width);
    std::string full = "full" + columns, step = "step" + columns;
    Sizes whole = {"batch", "target", columns}, rows = {"rows", columns};
    EntryText(module, full)
        .input("f", whole)
        .input("v", whole)
        .yields("recurrence %f, %v", whole);
    EntryText(module, step)
        .input("f", rows)
        .input("v", rows)
        .state("c", rows)
        .yields("recurrence step %f, %v into %c", rows);
    constexpr int64_t kLength = 30;
    for (int64_t batch : {1, 16}) {
      double count = batch * kLength * width;
      cases.push_back({"recurrence " + product({batch, kLength, width}),
                       full,
                       {{Dim::Batch, batch}, {Dim::Target, kLength}},
                       moved(3 * count),
                       {"f", "v"}});
    }
    for (int64_t count : {1, 16, 512}) {
      cases.push_back({"recurrence step " + product({count, width}),
                       step,
                       {{Dim::Rows, count}},
                       moved(4.0 * count * width),
                       {"f", "v"}});
      cases.back().result = "c";
    }
  }
  return addCases(module, cases, target);
}

static std::string addCaches(const std::string &target) {
  constexpr int64_t kSlots = 64;
  Module module;
  std::vector<LayerCase> cases;
  for (int64_t width : {256, 512, 1024}) {
    std::string columns = std::to_string(width), entry = "append" + columns;
    Sizes cache = {"rows", "capacity", columns};
    EntryText(module, entry)
        .input("x", {"rows", columns})
        .ids("positions", {"rows"})
        .state("k", cache)
        .yields("cache.append %x at %positions into %k", cache);
    for (int64_t rows : {1, 16, 512}) {
      cases.push_back({"cache.append " + product({rows, width}),
                       entry,
                       {{Dim::Rows, rows}, {Dim::Capacity, kSlots}},
                       moved(2.0 * rows * width),
                       {"x"}});
      cases.back().fill = [rows](test::EntryCall &call) {
        std::vector<int32_t> positions;
        for (int64_t row = 0; row < rows; ++row)
          positions.push_back(int32_t(row * 7 % kSlots));
        call.set("positions", positions);
      };
      cases.back().result = "k";
    }
  }
  return addCases(module, cases, target);
}

std::string addStates(const std::string &target) {
  std::string error = addRecurrences(target);
  return error.empty() ? addCaches(target) : error;
}

} // namespace heddle::bench
