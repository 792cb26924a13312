#include "lib/CodeGen/GpuArchitecture.h"
#include "llvm/ADT/Twine.h"

using namespace heddle;

static constexpr GpuArchitecture kArchitectures[] = {
    {"sm_80", "+ptx80", /*hasWarpgroups=*/false, /*multiprocessors=*/108},
    {"sm_90a", "+ptx80", /*hasWarpgroups=*/true, /*multiprocessors=*/132},
};

static constexpr llvm::StringLiteral kEmulated = "+emulated";

std::string GpuArchitecture::option() const {
  return (isEmulated ? name + kEmulated : llvm::Twine(name)).str();
}

llvm::ArrayRef<GpuArchitecture> heddle::getGpuArchitectures() {
  return kArchitectures;
}

std::optional<GpuArchitecture>
heddle::getGpuArchitecture(llvm::StringRef name) {
  bool isEmulated = name.consume_back(kEmulated);
  for (GpuArchitecture architecture : kArchitectures)
    if (architecture.name == name) {
      architecture.isEmulated = isEmulated;
      return architecture;
    }
  return std::nullopt;
}
