//===- Target.cpp - ISA levels that code is generated for -----------------===//
//
// One table; a level is a row. How a machine is asked for a level at load
// stands in runtime/code/IsaLevels.cpp, by the same names.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace heddle;

/// Lowest first: of the levels that a machine has the last is the best. It may
/// lack one of those before: Zen 4 has no AVX-VNNI. Features as in table 3.1 of
/// the x86-64 psABI, as far as machines without them are in use.
static constexpr IsaLevel kLevels[] = {
    {"x86-64-v3", /*cpu=*/"x86-64-v3", /*features=*/"avx2,fma,bmi2",
     /*lanes=*/8, /*vectorRegisters=*/16, /*hasReduceAndScale=*/false,
     Int8Dot::TwoSteps, /*hasBf16=*/false, /*hasTiles=*/false},
    {"avx-vnni", /*cpu=*/"x86-64-v3", /*features=*/"avxvnni",
     /*lanes=*/8, /*vectorRegisters=*/16, /*hasReduceAndScale=*/false,
     Int8Dot::Vnni, /*hasBf16=*/false, /*hasTiles=*/false, ServedTypes::Int8},
    {"x86-64-v4", /*cpu=*/"x86-64-v4",
     /*features=*/"avx512f,avx512bw,avx512dq,avx512vl",
     /*lanes=*/16, /*vectorRegisters=*/32, /*hasReduceAndScale=*/true,
     Int8Dot::TwoSteps, /*hasBf16=*/false, /*hasTiles=*/false},
    {"avx512-vnni", /*cpu=*/"x86-64-v4", /*features=*/"avx512vnni",
     /*lanes=*/16, /*vectorRegisters=*/32, /*hasReduceAndScale=*/true,
     Int8Dot::Vnni, /*hasBf16=*/false, /*hasTiles=*/false, ServedTypes::Int8},
    {"avx512-bf16", /*cpu=*/"x86-64-v4", /*features=*/"avx512vnni,avx512bf16",
     /*lanes=*/16, /*vectorRegisters=*/32, /*hasReduceAndScale=*/true,
     Int8Dot::Vnni, /*hasBf16=*/true, /*hasTiles=*/false, ServedTypes::Short},
    {"amx", /*cpu=*/"x86-64-v4",
     /*features=*/"avx512vnni,avx512bf16,amx-tile,amx-int8,amx-bf16",
     /*lanes=*/16, /*vectorRegisters=*/32, /*hasReduceAndScale=*/true,
     Int8Dot::Vnni, /*hasBf16=*/true, /*hasTiles=*/true, ServedTypes::Short},
};

/// Behind the name of a level whose tiles are loops.
static constexpr llvm::StringLiteral kEmulated = "+tiles";

/// Whether the operating system lets this process use tiles, as the runtime
/// asks it.
static bool permitsTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

/// The levels that this machine has, lowest first.
static llvm::SmallVector<IsaLevel> hostLevels() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto has = [&](const IsaLevel &level) {
    return llvm::all_of(
               llvm::split(level.features, ','),
               [&](llvm::StringRef feature) { return host.lookup(feature); }) &&
           (!level.hasTiles || permitsTiles());
  };
  return llvm::to_vector(llvm::make_filter_range(kLevels, has));
}

std::string heddle::targetNames() {
  std::string names = "native, portable";
  for (const IsaLevel &level : kLevels)
    (names += ", ") += level.name;
  return names;
}

template <typename... Text> static llvm::Error failure(const Text &...text) {
  std::string sentence;
  (sentence.append(llvm::StringRef(text)), ...);
  return llvm::make_error<llvm::StringError>(sentence,
                                             llvm::inconvertibleErrorCode());
}

std::string IsaLevel::option() const {
  return (emulatesTiles ? name + kEmulated : llvm::Twine(name)).str();
}

llvm::Expected<IsaLevel> heddle::getIsaLevel(llvm::StringRef name) {
  llvm::StringRef wanted = name;
  bool emulatesTiles = wanted.consume_back(kEmulated);
  for (IsaLevel level : kLevels)
    if (level.name == wanted && !(emulatesTiles && level.hasTiles)) {
      level.hasTiles |= emulatesTiles;
      level.emulatesTiles = emulatesTiles;
      return level;
    }
  return failure("unknown target '", name, "' (supported: ", targetNames(),
                 ")");
}

llvm::Expected<llvm::SmallVector<IsaLevel>>
heddle::getTarget(llvm::StringRef target, const ShortTypes &types) {
  auto serving = [&](llvm::ArrayRef<IsaLevel> levels) {
    return llvm::to_vector(
        llvm::make_filter_range(levels, [&](const IsaLevel &level) {
          switch (level.serves) {
          case ServedTypes::Any:
            return true;
          case ServedTypes::Short:
            return types.int8 || types.bf16;
          case ServedTypes::Int8:
            return types.int8;
          }
          llvm_unreachable("all served types are listed");
        }));
  };
  if (target == "portable")
    return serving(kLevels);
  if (target == "native") {
    llvm::SmallVector<IsaLevel> levels = serving(hostLevels());
    if (levels.empty())
      return failure("target 'native' needs a machine with at least ",
                     kLevels[0].name);
    return llvm::SmallVector<IsaLevel>{levels.back()};
  }
  llvm::Expected<IsaLevel> level = getIsaLevel(target);
  if (!level)
    return level.takeError();
  return llvm::SmallVector<IsaLevel>{*level};
}
