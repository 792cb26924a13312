//===- ProfileReport.h - A profile, for people and for programs -*- C++ -*-===//

#ifndef HEDDLE_TOOLS_PROFILEREPORT_H
#define HEDDLE_TOOLS_PROFILEREPORT_H

#include "runtime/MachinePeaks.h"
#include "runtime/Model.h"
#include "runtime/Profile.h"

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

/// The same as JSON, in seconds, flops and bytes.
std::string profileAsJson(const Model &model, const Profile &profile,
                          const ProfileSetting &setting);

/// Merges what each worker counted, measures the machine's peaks, prints the
/// table to standard error and writes the JSON to `path`, unless that is empty.
Status reportProfile(const Model &model,
                     const std::vector<const Profile *> &workers,
                     int64_t threadsEach, const std::string &path);

} // namespace heddle

#endif // HEDDLE_TOOLS_PROFILEREPORT_H
