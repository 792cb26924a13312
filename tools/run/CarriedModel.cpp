#include "tools/run/CarriedModel.h"

#include "runtime/artifact/ArtifactFormat.h"

#include <cstring>
#include <sys/auxv.h>

using namespace heddle;

/// In the file of an executable, and so in its memory, the other text stands
/// here: the compiler must not know which.
static const volatile struct {
  char text[sizeof(format::kRunnerAlone)];
} role = {"heddle-run:alone"};

/// Where the two texts differ.
static constexpr size_t kDifference = sizeof("heddle-run:") - 1;
static_assert(format::kRunnerAlone[kDifference] == 'a' &&
              format::kRunnerWithModel[kDifference] == 'm');

std::string heddle::findCarriedModel() {
  if (role.text[kDifference] != format::kRunnerWithModel[kDifference])
    return "";
  auto *path = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
  return path && *path ? path : "/proc/self/exe";
}

std::string heddle::programNameOf(const std::string &carried) {
  return carried.substr(carried.rfind('/') + 1);
}
