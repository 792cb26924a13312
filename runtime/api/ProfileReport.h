//===- ProfileReport.h - A profile, for people and for programs -*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_PROFILEREPORT_H
#define HEDDLE_RUNTIME_API_PROFILEREPORT_H

#include "runtime/session/MachinePeaks.h"
#include "runtime/session/Model.h"
#include "runtime/session/Profile.h"

#include <map>
#include <string>
#include <vector>

namespace heddle {

/// Where a profile was taken.
struct ProfileSetting {
  /// Those that ran a batch.
  int64_t workers;
  /// Threads of all workers.
  int64_t threads;
  /// Of all threads at once.
  MachinePeaks peaks;

  /// What is left to each worker while all of them run.
  MachinePeaks peaksEach() const {
    return {peaks.gigaflops / double(workers),
            peaks.bf16Gigaflops / double(workers),
            peaks.int8Gigaops / double(workers),
            peaks.gigabytes / double(workers)};
  }
};

/// A table, the most expensive kernel first. A kernel's time is the sum over
/// workers, so that its rates are those of one worker: beside a worker's share
/// of the peaks.
std::string describeProfile(const Model &model, const Profile &profile,
                            const ProfileSetting &setting);

/// The same as JSON, in seconds, flops and bytes, and beside it of each entry
/// point that ran: its places with their layers, and when the call of median
/// time called which kernel.
std::string profileAsJson(const Model &model, const Profile &profile,
                          const ProfileSetting &setting);

/// Both of what all workers counted together, with `threadsEach` of the threads
/// of each that had something to do. Measures the machine's peaks, which takes
/// a second, unless `measured` has those of as many threads.
struct ProfileReport {
  std::string table, json;
};
Result<ProfileReport> reportProfile(const Model &model,
                                    const std::vector<const Profile *> &workers,
                                    int64_t threadsEach,
                                    std::map<int64_t, MachinePeaks> &measured);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_PROFILEREPORT_H
