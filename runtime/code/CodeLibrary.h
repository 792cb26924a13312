//===- CodeLibrary.h - The compiled code of an artifact ---------*- C++ -*-===//
//
// An artifact holds one shared object for each ISA level it was compiled for.
// The best one that this machine can run is mapped from the artifact's file and
// loaded there (CodeLoader.h), so that nothing is unpacked and nothing illegal
// runs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CODE_CODELIBRARY_H
#define HEDDLE_RUNTIME_CODE_CODELIBRARY_H

#include "runtime/Result.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/code/CodeLoader.h"

#include <string>
#include <vector>

namespace heddle {

/// Owns one loaded shared object; its functions live as long as this object.
/// Move-only. Symbols may be looked up from several threads.
class CodeLibrary {
public:
  /// Loads section `code.<isa>` for the best of `isas` that cpuid admits, or
  /// for the one that the environment variable HEDDLE_ISA names, if it is set
  /// and not empty: so every level can be tried on one machine. Fails on a name
  /// that is not in `isas`. An ISA level that this runtime does not know counts
  /// as one that the machine lacks. Loading runs none of the code. If
  /// `callsLibraries` it may call what the libraries of this process export.
  /// With HEDDLE_PERF_MAP in the environment its functions get names there, see
  /// PerfMap.h.
  static Result<CodeLibrary> load(const Artifact &artifact,
                                  const std::vector<std::string> &isas,
                                  bool callsLibraries = false);

  /// Fails if HEDDLE_ISA is set and load would not take what it names.
  static Status checkForced(const Artifact &artifact,
                            const std::vector<std::string> &isas);

  /// Loads section `code.<name>`, which any machine runs.
  static Result<CodeLibrary> loadSection(const Artifact &artifact,
                                         const std::string &name,
                                         bool callsLibraries = false);

  /// The ISA level that was chosen, or the name of the section.
  const std::string &isa() const { return level; }

  /// The function of that name, as `Function` (a pointer type).
  template <typename Function>
  Result<Function> function(const std::string &symbol) const {
    Result<void *> address = find(symbol);
    if (!address.ok())
      return address.status();
    return reinterpret_cast<Function>(*address);
  }

private:
  CodeLibrary(std::string level, LoadedCode code)
      : level(std::move(level)), code(std::move(code)) {}

  Result<void *> find(const std::string &symbol) const;

  std::string level;
  LoadedCode code;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CODE_CODELIBRARY_H
