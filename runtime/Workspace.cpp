//===- Workspace.cpp - Memory that is planned, then taken -----------------===//
//
// The block comes from mmap: a refusal is a status and not an exception, and
// pages that no batch touches cost nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/Workspace.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace heddle;

static constexpr int64_t kBufferAlignment = 64;

Workspace::Workspace(Workspace &&other) noexcept
    : planned(other.planned), block(std::exchange(other.block, nullptr)),
      blockSize(std::exchange(other.blockSize, 0)) {}

Workspace &Workspace::operator=(Workspace &&other) noexcept {
  std::swap(planned, other.planned);
  std::swap(block, other.block);
  std::swap(blockSize, other.blockSize);
  return *this;
}

Workspace::~Workspace() { release(); }

void Workspace::release() {
  if (block)
    munmap(block, static_cast<size_t>(blockSize));
  block = nullptr;
  blockSize = 0;
}

int64_t Workspace::place(std::optional<int64_t> bytes) {
  int64_t offset = planned.value_or(0), end;
  if (!planned || !bytes || *bytes < 0 ||
      __builtin_add_overflow(offset, *bytes, &end) ||
      __builtin_add_overflow(end, kBufferAlignment - 1, &end)) {
    planned = std::nullopt;
    return 0;
  }
  planned = end / kBufferAlignment * kBufferAlignment;
  return offset;
}

Status Workspace::take() {
  if (*planned <= blockSize)
    return Status::success();
  release();
  void *memory =
      mmap(nullptr, static_cast<size_t>(*planned), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
  if (memory == MAP_FAILED)
    return Status::error("needs ", *planned,
                         " bytes of memory: ", strerror(errno));
  block = static_cast<char *>(memory);
  blockSize = *planned;
  return Status::success();
}
