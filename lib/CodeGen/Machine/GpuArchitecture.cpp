//===- GpuArchitecture.cpp - Names, and the code that a GPU runs ----------===//
//
// The table ascends by compute capability. Code for a name that ends in "a"
// runs on that capability alone; any other code runs on its own capability and
// on later ones. The last entry that fits is therefore the best one. Suffixes
// of a name are taken from its end: the last one that `option` writes comes
// first.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/GpuArchitecture.h"
#include "llvm/ADT/Twine.h"

using namespace heddle;

static constexpr GpuArchitecture kArchitectures[] = {
    {"sm_80", "+ptx80", /*hasWarpgroups=*/false, /*multiprocessors=*/108},
    {"sm_90a", "+ptx80", /*hasWarpgroups=*/true, /*multiprocessors=*/132},
};

static constexpr llvm::StringLiteral kTf32 = "+tf32", kEmulated = "+emulated";

std::string GpuArchitecture::option() const {
  return (name + (multipliesTf32 ? kTf32 : "") + (isEmulated ? kEmulated : ""))
      .str();
}

llvm::ArrayRef<GpuArchitecture> heddle::getGpuArchitectures() {
  return kArchitectures;
}

std::optional<GpuArchitecture>
heddle::getGpuArchitecture(llvm::StringRef name) {
  bool isEmulated = name.consume_back(kEmulated);
  bool multipliesTf32 = name.consume_back(kTf32);
  for (GpuArchitecture architecture : kArchitectures)
    if (architecture.name == name) {
      architecture.multipliesTf32 = multipliesTf32;
      architecture.isEmulated = isEmulated;
      return architecture;
    }
  return std::nullopt;
}

/// The number in a name; 0 if there is none.
static unsigned capabilityOf(llvm::StringRef name) {
  unsigned capability = 0;
  if (!name.consume_front("sm_") || name.consumeInteger(10, capability) ||
      !(name.empty() || name == "a" || name == "f"))
    return 0;
  return capability;
}

std::optional<GpuArchitecture>
heddle::getArchitectureFor(llvm::StringRef name) {
  std::optional<GpuArchitecture> best;
  unsigned capability = capabilityOf(name);
  for (const GpuArchitecture &each : kArchitectures)
    if (unsigned needed = capabilityOf(each.name);
        each.name.ends_with("a") ? needed == capability : needed <= capability)
      best = each;
  return best;
}
