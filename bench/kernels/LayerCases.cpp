#include "bench/kernels/LayerCases.h"

#include <cmath>
#include <memory>
#include <regex>

namespace heddle::bench {

using test::EntryCall;
using test::EntryRunner;

/// Whether a benchmark of the case may pass the filter. Compiling and checking
/// all the others would take longer than measuring a few.
static bool isWanted(const LayerCase &layer) {
  std::string filter = benchmark::GetBenchmarkFilter();
  if (filter.empty() || filter == "all" || filter.front() == '-')
    return true;
  std::regex expression(filter, std::regex::extended);
  for (const char *engine : {"/heddle", "/onednn", "/libc"})
    if (std::regex_search(layer.name + engine + "/real_time", expression))
      return true;
  return false;
}

static std::string addCase(const LayerCase &layer,
                           const std::shared_ptr<EntryRunner> &code) {
  Result<EntryCall> prepared = code->prepare(layer.entry, layer.dims);
  if (!prepared.ok())
    return prepared.message();
  auto call = std::make_shared<EntryCall>(std::move(*prepared));
  for (size_t i = 0; i < layer.inputs.size(); ++i)
    call->set(layer.inputs[i], values(call->size(layer.inputs[i]), i + 1));
  if (layer.fill)
    layer.fill(*call);
  (*call)();
  const float *found = call->data<float>(layer.result);
  int64_t count = call->size(layer.result);
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(found[i]))
      return layer.name + " has no number at element " + std::to_string(i);
  add(layer.name, "heddle", layer.work, [code, call] { (*call)(); });
  if (!layer.peer)
    return "";
  Peer peer = layer.peer(*call);
  peer.run();
  for (int64_t i = 0; i < count; ++i)
    if (!(std::abs(found[i] - peer.result[i]) <=
          1e-4f * (1 + std::abs(peer.result[i]))))
      return layer.name + " differs from " + peer.engine + " at element " +
             std::to_string(i);
  add(layer.name, peer.engine, layer.work, peer.run);
  return "";
}

std::string addCases(const Module &module, const std::vector<LayerCase> &cases,
                     const std::string &target) {
  std::shared_ptr<EntryRunner> code;
  for (const LayerCase &layer : cases) {
    if (!isWanted(layer))
      continue;
    if (!code) {
      Result<EntryRunner> compiled =
          EntryRunner::compile(module.text, module.weights,
                               {target, /*reference=*/false, /*flags=*/""});
      if (!compiled.ok())
        return compiled.message();
      code = std::make_shared<EntryRunner>(std::move(*compiled));
    }
    std::string error = addCase(layer, code);
    if (!error.empty())
      return error;
  }
  return "";
}

std::vector<float> values(int64_t count, int64_t seed, float scale) {
  std::vector<float> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = scale * (float((i * 7919 + seed) % 1009) / 504.5f - 1);
  return result;
}

Work moved(double floats) { return {/*flops=*/0, 4 * floats}; }

std::string product(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

} // namespace heddle::bench
