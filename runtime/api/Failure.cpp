//===- Failure.cpp - Why a call of heddle.h failed ------------------------===//
//
// Each thread has a sentence of its own, so that sessions on several threads do
// not overwrite each other's, and a pointer to it stays valid until the next
// failure there. Copies that callers receive come from malloc, whatever they
// hold: heddle_free frees all of them.
//
//===----------------------------------------------------------------------===//

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

heddle_status heddle::giveCopy(const void *bytes, size_t size, void **copy) {
  auto *memory = static_cast<char *>(malloc(size + 1));
  *copy = memory;
  if (!memory)
    return report(Status::error("there is no memory for ", size + 1, " bytes"));
  if (size > 0)
    std::memcpy(memory, bytes, size);
  memory[size] = '\0';
  return HEDDLE_OK;
}

heddle_status heddle::giveText(const std::string &text, char **copy) {
  void *memory;
  heddle_status status = giveCopy(text.data(), text.size(), &memory);
  *copy = static_cast<char *>(memory);
  return status;
}

const char *heddle_version() { return HEDDLE_VERSION; }

const char *heddle_error() { return lastError.c_str(); }

void heddle_free(void *memory) { free(memory); }
