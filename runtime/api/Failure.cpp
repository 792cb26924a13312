//===- Failure.cpp - Why a call of heddle.h failed ------------------------===//

#include "runtime/api/Failure.h"

#include <cstdlib>
#include <cstring>

using namespace heddle;

static thread_local std::string lastError;

heddle_status heddle::report(const Status &status, heddle_status kind) {
  if (status.ok())
    return HEDDLE_OK;
  lastError = status.message();
  return kind;
}

char *heddle::copyForCaller(const std::string &text) {
  auto *copy = static_cast<char *>(malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

const char *heddle_version() { return HEDDLE_VERSION; }

const char *heddle_error() { return lastError.c_str(); }

void heddle_free(void *memory) { free(memory); }
