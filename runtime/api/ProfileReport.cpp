//===- ProfileReport.cpp - A profile, for people and for programs ---------===//
//
// Fixed columns; a kernel that was not called has no row.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/ProfileReport.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace heddle;
using nlohmann::json;

/// The kernels that were called, the longest first.
static std::vector<size_t> byTime(const std::vector<KernelCount> &counts) {
  std::vector<size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(std::remove_if(order.begin(), order.end(),
                             [&](size_t i) { return counts[i].calls == 0; }),
              order.end());
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    int64_t ofA = counts[a].nanoseconds, ofB = counts[b].nanoseconds;
    return ofA != ofB ? ofA > ofB : a < b;
  });
  return order;
}

/// Whether bytes come faster than memory gives them.
static bool readsCaches(const KernelCount &count, double peak) {
  return double(count.bytes) > peak * double(count.nanoseconds) &&
         count.nanoseconds > 0;
}

/// "12.3  45 %": a rate a nanosecond, in 10^9 a second, and its part of a peak;
/// "cache" in place of the part if what is read is in caches.
static std::string rate(int64_t amount, int64_t nanoseconds, double peak,
                        bool isCached = false) {
  if (amount == 0 || nanoseconds == 0)
    return "       -     - ";
  double value = double(amount) / double(nanoseconds);
  char text[32];
  if (isCached)
    snprintf(text, sizeof(text), "%8.1f  cache", value);
  else
    snprintf(text, sizeof(text), "%8.1f %4.0f %%", value, 100 * value / peak);
  return text;
}

/// 10^9 operations a second on elements of a type.
static double peakOf(ElementType type, const MachinePeaks &peaks) {
  switch (type) {
  case ElementType::I8:
    return peaks.int8Gigaops;
  case ElementType::BF16:
    return peaks.bf16Gigaflops;
  default:
    return peaks.gigaflops;
  }
}

std::string heddle::describeProfile(const Model &model, const Profile &profile,
                                    const ProfileSetting &setting) {
  const std::vector<std::string> &names = model.manifest().kernels;
  std::vector<KernelCount> kernels = profile.kernels();
  std::vector<size_t> order = byTime(kernels);
  size_t width = sizeof("between them");
  for (size_t i : order)
    width = std::max(width, names[i].size());
  double total = double(std::max<int64_t>(profile.entries().nanoseconds, 1));
  MachinePeaks peaks = setting.peaksEach();
  std::string text;
  bool isAnyCached = false;
  auto addRow = [&](const std::string &name, const KernelCount &count,
                    ElementType type) {
    double peak = peakOf(type, peaks);
    bool isCached = readsCaches(count, peaks.gigabytes);
    isAnyCached |= isCached;
    char columns[96];
    snprintf(columns, sizeof(columns), "%10lld %10.1f %5.1f %%",
             static_cast<long long>(count.calls),
             double(count.nanoseconds) / 1e6,
             100 * double(count.nanoseconds) / total);
    text += name + std::string(width - name.size(), ' ') + columns +
            rate(count.flops, count.nanoseconds, peak) +
            rate(count.bytes, count.nanoseconds, peaks.gigabytes, isCached) +
            "\n";
  };
  text += "kernel" + std::string(width - 6, ' ') +
          "     calls         ms    time GFLOP/s   peak    GB/s   peak\n";
  KernelCount rest = profile.entries();
  for (size_t i : order) {
    addRow(names[i], kernels[i], model.manifest().kernelTypes[i]);
    rest.nanoseconds -= kernels[i].nanoseconds;
  }
  addRow("between them", rest, ElementType::F32);
  if (names.empty())
    text += "the reference lowering has no kernels: its loops are not told "
            "apart\n";
  if (isAnyCached)
    text += "cache: reads from caches, faster than memory gives bytes\n";
  if (const GuessCount &guesses = profile.guesses(); guesses.steps > 0) {
    char line[128];
    snprintf(line, sizeof(line),
             "guesses: %lld of %lld right, %.1f tokens a step\n",
             static_cast<long long>(guesses.right),
             static_cast<long long>(guesses.tokens),
             1 + double(guesses.right) / double(guesses.steps));
    text += line;
  }
  std::string shared;
  if (setting.workers > 1)
    shared = ", a worker's share of " + std::to_string(setting.workers);
  char last[192];
  snprintf(last, sizeof(last),
           "peaks of %lld thread%s, %s%s: %.1f GFLOP/s, %.1f in bf16, %.1f in "
           "int8, %.1f GB/s from memory\n",
           static_cast<long long>(setting.threads),
           setting.threads == 1 ? "" : "s", model.isa().c_str(), shared.c_str(),
           peaks.gigaflops, peaks.bf16Gigaflops, peaks.int8Gigaops,
           peaks.gigabytes);
  return text + last;
}

static double inSeconds(int64_t nanoseconds) {
  return double(nanoseconds) / 1e9;
}

/// What all calls did, as the keys of an object.
static json toJson(const KernelCount &count) {
  return {{"calls", count.calls},
          {"seconds", inSeconds(count.nanoseconds)},
          {"flops", count.flops},
          {"bytes", count.bytes}};
}

static json kernelsAsJson(const Manifest &manifest, const Profile &profile) {
  std::vector<KernelCount> counts = profile.kernels();
  json kernels = json::array();
  for (size_t i : byTime(counts)) {
    json kernel = toJson(counts[i]);
    kernel["name"] = manifest.kernels[i];
    kernel["type"] = nameOf(manifest.kernelTypes[i]);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// The places of an entry where a kernel was called. `numbers` gets which of
/// them each place of the manifest is.
static json placesAsJson(const Manifest &manifest, const Profile &profile,
                         size_t entry, std::vector<size_t> &numbers) {
  json places = json::array();
  for (size_t i = 0; i < manifest.places.size(); ++i) {
    const KernelPlace &place = manifest.places[i];
    if (size_t(place.entry) != entry || profile.places()[i].calls == 0)
      continue;
    numbers[i] = places.size();
    json object = toJson(profile.places()[i]);
    object["kernel"] = manifest.kernels[size_t(place.kernel)];
    object["layer"] = place.layer < 0
                          ? json(nullptr)
                          : json(manifest.layers[size_t(place.layer)]);
    places.push_back(std::move(object));
  }
  return places;
}

/// The call of an entry that took the median of time.
static json medianAsJson(const Entry &entry, const EntryTrace::Call &median,
                         const std::vector<size_t> &numbers) {
  json dims = json::object(), kernels = json::array();
  for (size_t i = 0; i < entry.dims.size(); ++i)
    dims[nameOf(entry.dims[i])] = median.dims[i];
  for (const TracedKernel &kernel : median.kernels)
    kernels.push_back({{"place", numbers[size_t(kernel.place)]},
                       {"start", inSeconds(kernel.start)},
                       {"seconds", inSeconds(kernel.nanoseconds)},
                       {"flops", kernel.flops},
                       {"bytes", kernel.bytes}});
  return {{"dims", std::move(dims)},
          {"seconds", inSeconds(median.nanoseconds)},
          {"kernels", std::move(kernels)},
          {"kernels_left_out", median.left}};
}

static json functionsAsJson(const Manifest &manifest, const Profile &profile) {
  json functions = json::array();
  std::vector<size_t> numbers(manifest.places.size());
  for (size_t i = 0; i < manifest.entries.size(); ++i) {
    const KernelCount &count = profile.entry(i);
    if (count.calls == 0)
      continue;
    const Entry &entry = manifest.entries[i];
    json function = {{"name", entry.name},
                     {"calls", count.calls},
                     {"seconds", inSeconds(count.nanoseconds)},
                     {"places", placesAsJson(manifest, profile, i, numbers)}};
    if (!profile.trace(i).empty())
      function["median"] =
          medianAsJson(entry, profile.trace(i).median(), numbers);
    functions.push_back(std::move(function));
  }
  return functions;
}

std::string heddle::profileAsJson(const Model &model, const Profile &profile,
                                  const ProfileSetting &setting) {
  const Manifest &manifest = model.manifest();
  MachinePeaks peaks = setting.peaksEach();
  KernelCount entries = profile.entries();
  json report = {
      {"heddle", manifest.compilerVersion},
      {"model", manifest.modelName},
      {"isa", model.isa()},
      {"workers", setting.workers},
      {"threads", setting.threads},
      {"peak_each_worker",
       {{"flops_per_second", peaks.gigaflops * 1e9},
        {"bf16_flops_per_second", peaks.bf16Gigaflops * 1e9},
        {"int8_ops_per_second", peaks.int8Gigaops * 1e9},
        {"bytes_per_second", peaks.gigabytes * 1e9}}},
      {"entries",
       {{"calls", entries.calls}, {"seconds", inSeconds(entries.nanoseconds)}}},
      {"kernels", kernelsAsJson(manifest, profile)},
      {"functions", functionsAsJson(manifest, profile)}};
  if (const GuessCount &guesses = profile.guesses(); guesses.steps > 0)
    report["guesses"] = {{"steps", guesses.steps},
                         {"tokens", guesses.tokens},
                         {"right", guesses.right}};
  // Names come from a file and need not be UTF-8.
  return report.dump(2, ' ', /*ensure_ascii=*/false,
                     json::error_handler_t::replace) +
         "\n";
}

Result<ProfileReport> heddle::reportProfile(
    const Model &model, const std::vector<const Profile *> &workers,
    int64_t threadsEach, std::map<int64_t, MachinePeaks> &measured) {
  Profile profile(model.manifest());
  // Those that had nothing to do left the machine to the others.
  int64_t busy = 0;
  for (const Profile *worker : workers) {
    profile.merge(*worker);
    busy += worker->entries().calls > 0;
  }
  busy = std::max<int64_t>(busy, 1);
  int64_t threads = busy * threadsEach;
  if (!measured.count(threads)) {
    Result<MachinePeaks> peaks = measurePeaks(model.isa(), threads);
    if (!peaks.ok())
      return peaks.status();
    measured[threads] = *peaks;
  }
  ProfileSetting setting{busy, threads, measured[threads]};
  return ProfileReport{describeProfile(model, profile, setting),
                       profileAsJson(model, profile, setting)};
}
