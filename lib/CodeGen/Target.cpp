#include "lib/CodeGen/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace heddle;

/// Lowest first.
static constexpr IsaLevel kLevels[] = {
    {"x86-64-v3", /*lanes=*/8, /*registers=*/16},
    {"x86-64-v4", /*lanes=*/16, /*registers=*/32},
};

/// What of each level this machine can lack (x86-64 psABI, table 3.1).
static bool hostHas(const IsaLevel &level) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](llvm::StringRef feature) { return features.lookup(feature); };
  if (!llvm::all_of(llvm::ArrayRef<llvm::StringRef>{"avx2", "fma", "bmi2"},
                    has))
    return false;
  return level.name == "x86-64-v3" ||
         llvm::all_of(llvm::ArrayRef<llvm::StringRef>{"avx512f", "avx512bw",
                                                      "avx512dq", "avx512vl"},
                      has);
}

template <typename... Text> static llvm::Error failure(const Text &...text) {
  std::string sentence;
  (sentence.append(llvm::StringRef(text)), ...);
  return llvm::make_error<llvm::StringError>(sentence,
                                             llvm::inconvertibleErrorCode());
}

llvm::Expected<IsaLevel> heddle::getIsaLevel(llvm::StringRef name) {
  for (const IsaLevel &level : kLevels)
    if (level.name == name)
      return level;
  if (name == "amx" || name == "avx512-bf16")
    return failure("ISA level '", name,
                   "' is not supported yet: it serves bf16 and int8, and this "
                   "version computes in f32 (supported: x86-64-v3, x86-64-v4)");
  return failure("unknown target '", name,
                 "' (supported: native, portable, x86-64-v3, x86-64-v4)");
}

llvm::Expected<llvm::SmallVector<IsaLevel>>
heddle::getTarget(llvm::StringRef target) {
  if (target == "portable")
    return llvm::SmallVector<IsaLevel>(llvm::ArrayRef(kLevels));
  if (target == "native") {
    for (const IsaLevel &level : llvm::reverse(kLevels))
      if (hostHas(level))
        return llvm::SmallVector<IsaLevel>{level};
    return failure("target 'native' needs a machine with at least x86-64-v3");
  }
  llvm::Expected<IsaLevel> level = getIsaLevel(target);
  if (!level)
    return level.takeError();
  return llvm::SmallVector<IsaLevel>{*level};
}
