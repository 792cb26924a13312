#include "lib/CodeGen/Backend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;

/// Entry points for a GPU compute addresses and start kernels: any CPU will do.
static IsaLevel hostOfGpu() { return llvm::cantFail(getIsaLevel("x86-64-v3")); }

/// Adds what is not there yet.
static void add(llvm::SmallVectorImpl<Backend> &backends, Backend backend) {
  auto isSame = [&](const Backend &other) {
    return other.name() == backend.name();
  };
  if (llvm::none_of(backends, isSame))
    backends.push_back(std::move(backend));
}

std::string heddle::backendNames() {
  std::string names = targetNames() + ", cuda";
  for (const GpuArchitecture &architecture : getGpuArchitectures())
    (names += ", ") += architecture.name;
  return names;
}

/// Fails where getTarget does not know the name, which no GPU has either.
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
      add(backends, {level});
    return llvm::Error::success();
  };
  for (llvm::StringRef target : llvm::split(targets, ',')) {
    if (target == "cuda")
      for (const GpuArchitecture &architecture : getGpuArchitectures())
        add(gpus, {hostOfGpu(), architecture});
    else if (auto architecture = getGpuArchitecture(target);
             architecture && !architecture->multipliesTf32)
      add(gpus, {hostOfGpu(), *architecture});
    else if (llvm::Error error = addLevels(target))
      return std::move(error);
  }
  if (backends.empty())
    if (llvm::Error error = addLevels("portable"))
      return std::move(error);
  llvm::append_range(backends, gpus);
  return backends;
}
