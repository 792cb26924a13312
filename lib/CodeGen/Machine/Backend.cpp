//===- Backend.cpp - From a list of targets to backends -------------------===//
//
// Targets are read from left to right. A name is an architecture of GPUs, a set
// of them (`cuda`), or one that expands to ISA levels. A backend given twice is
// built once; two backends of the same name with different options are an
// error, since an artifact holds one section per name. If only GPUs are named,
// the levels of `portable` are added, so that the file runs without a GPU, too.
// CPUs come before GPUs.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/Backend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;

/// Entry points for a GPU compute addresses and start kernels: any CPU will do.
static IsaLevel hostOfGpu() { return llvm::cantFail(getIsaLevel("x86-64-v3")); }

/// Adds what is not there yet. Fails if code of the same name is, but other.
static llvm::Error add(llvm::SmallVectorImpl<Backend> &backends,
                       Backend backend) {
  auto found = llvm::find_if(backends, [&](const Backend &other) {
    return other.name() == backend.name();
  });
  if (found == backends.end())
    backends.push_back(std::move(backend));
  else if (found->option() != backend.option())
    return llvm::createStringError("the targets '" + found->option() +
                                   "' and '" + backend.option() +
                                   "' are given, expected one of them");
  return llvm::Error::success();
}

std::string heddle::backendNames() {
  std::string names = targetNames() + ", cuda";
  for (const GpuArchitecture &architecture : getGpuArchitectures())
    (names += ", ") += architecture.name;
  return names;
}

/// Fails if getTarget does not know the name, which no GPU has either.
static llvm::Error checkName(llvm::StringRef target) {
  if (target == "native" || target == "portable" ||
      llvm::expectedToOptional(getIsaLevel(target)))
    return llvm::Error::success();
  std::string sentence = ("unknown target '" + target + "' (").str();
  if (auto other = getArchitectureFor(target))
    sentence += ("its GPUs run code of " + other->name + "; ").str();
  return llvm::createStringError(sentence + "supported: " + backendNames() +
                                 ")");
}

llvm::Expected<llvm::SmallVector<Backend>>
heddle::getBackends(llvm::StringRef targets, const ShortTypes &types) {
  llvm::SmallVector<Backend> backends, gpus;
  auto addLevels = [&](llvm::StringRef target) -> llvm::Error {
    if (llvm::Error error = checkName(target))
      return error;
    auto levels = getTarget(target, types);
    if (!levels)
      return levels.takeError();
    for (const IsaLevel &level : *levels)
      if (llvm::Error error = add(backends, {level}))
        return error;
    return llvm::Error::success();
  };
  auto addGpus =
      [&](llvm::ArrayRef<GpuArchitecture> architectures) -> llvm::Error {
    for (const GpuArchitecture &architecture : architectures)
      if (llvm::Error error = add(gpus, {hostOfGpu(), architecture}))
        return error;
    return llvm::Error::success();
  };
  for (llvm::StringRef target : llvm::split(targets, ',')) {
    auto architecture = getGpuArchitecture(target);
    bool isOne = architecture && !architecture->multipliesTf32;
    if (llvm::Error error = target == "cuda" ? addGpus(getGpuArchitectures())
                            : isOne          ? addGpus(*architecture)
                                             : addLevels(target))
      return std::move(error);
  }
  if (backends.empty())
    if (llvm::Error error = addLevels("portable"))
      return std::move(error);
  llvm::append_range(backends, gpus);
  return backends;
}
