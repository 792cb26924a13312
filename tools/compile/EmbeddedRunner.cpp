#include "tools/compile/EmbeddedRunner.h"

#include "tools/Embed.h"

HEDDLE_EMBED(heddleRunner, HEDDLE_RUNNER);

llvm::StringRef heddle::getEmbeddedRunner() {
  return llvm::StringRef(heddleRunnerBegin,
                         heddleRunnerEnd - heddleRunnerBegin);
}
