//===- CodeLibrary.cpp - The compiled code of an artifact -----------------===//
//
// What the machine has and the user wishes, and the sentences about it.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/CodeLibrary.h"

#include "runtime/code/IsaLevels.h"
#include "runtime/code/PerfMap.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

using namespace heddle;

/// "'a', 'b'".
static std::string quoted(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// What HEDDLE_ISA names; null for nothing.
static const char *forcedIsa() {
  const char *name = getenv("HEDDLE_ISA");
  return name && *name ? name : nullptr;
}

/// The level to load: see CodeLibrary::load.
static Result<std::string> chooseIsa(const Artifact &artifact,
                                     const std::vector<std::string> &isas) {
  std::vector<std::string> runnable;
  for (const std::string &isa : isas)
    if (rankOfIsa(isa) > 0)
      runnable.push_back(isa);
  if (runnable.empty())
    return Status::error("'", artifact.path(), "' has code for ", quoted(isas),
                         " but this machine runs none of them");
  const char *forced = forcedIsa();
  if (!forced)
    return *std::max_element(runnable.begin(), runnable.end(),
                             [](const std::string &a, const std::string &b) {
                               return rankOfIsa(a) < rankOfIsa(b);
                             });
  if (!std::count(isas.begin(), isas.end(), forced))
    return Status::error("HEDDLE_ISA is '", forced, "' but '", artifact.path(),
                         "' has code for ", quoted(isas));
  if (!std::count(runnable.begin(), runnable.end(), forced))
    return Status::error("HEDDLE_ISA is '", forced,
                         "' but this machine runs the code in '",
                         artifact.path(), "' only for ", quoted(runnable));
  return std::string(forced);
}

Result<CodeLibrary> CodeLibrary::load(const Artifact &artifact,
                                      const std::vector<std::string> &isas,
                                      bool callsLibraries) {
  Result<std::string> isa = chooseIsa(artifact, isas);
  if (!isa.ok())
    return isa.status();
  return loadSection(artifact, *isa, callsLibraries);
}

Status CodeLibrary::checkForced(const Artifact &artifact,
                                const std::vector<std::string> &isas) {
  return forcedIsa() ? chooseIsa(artifact, isas).status() : Status::success();
}

Result<CodeLibrary> CodeLibrary::loadSection(const Artifact &artifact,
                                             const std::string &name,
                                             bool callsLibraries) {
  std::string section = "code." + name;
  auto inSection = [&](const Status &status) {
    return Status::error("'", artifact.path(), "': section '", section, "' ",
                         status.message());
  };
  CodeSource source;
  source.bytes = artifact.section(section).value_or("");
  source.callsLibraries = callsLibraries;
  if (!isPerfMapWanted()) {
    source.file = artifact.file();
    source.offset = artifact.fileOffset(source.bytes);
  }
  Result<LoadedCode> code = LoadedCode::load(source);
  if (!code.ok())
    return inSection(code.status());
  if (isPerfMapWanted())
    if (Status status = addToPerfMap(source.bytes, code->base()); !status.ok())
      return status;
  return CodeLibrary(name, std::move(*code));
}

Result<void *> CodeLibrary::find(const std::string &symbol) const {
  void *address = code.find(symbol);
  if (!address)
    return Status::error("the compiled code for '", level,
                         "' has no function '", symbol, "'");
  return address;
}
