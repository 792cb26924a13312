//===- PerfMap.cpp - Names of compiled code for perf ----------------------===//
//
// The linker left a table of all symbols, kernels included, which is mapped by
// nobody: it is found through the object's section headers.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/PerfMap.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>

using namespace heddle;

bool heddle::isPerfMapWanted() {
  const char *wanted = getenv("HEDDLE_PERF_MAP");
  return wanted && *wanted && std::string_view(wanted) != "0";
}

/// Entry `index` of a table of `count` from a byte on, if it has it.
template <typename T>
static std::optional<T> readEntry(std::string_view bytes, uint64_t begin,
                                  uint64_t count, uint64_t index) {
  if (begin > bytes.size() || index >= count ||
      index >= (bytes.size() - begin) / sizeof(T))
    return std::nullopt;
  T entry;
  std::memcpy(&entry, bytes.data() + begin + index * sizeof(T), sizeof(T));
  return entry;
}

/// Lines of the map; none if the object has no table of symbols.
static std::string listFunctions(std::string_view object, const char *base) {
  auto header = readEntry<Elf64_Ehdr>(object, 0, 1, 0);
  if (!header)
    return "";
  auto section = [&](uint64_t index) {
    return readEntry<Elf64_Shdr>(object, header->e_shoff, header->e_shnum,
                                 index);
  };
  std::string lines;
  for (uint64_t i = 0; auto table = section(i); ++i) {
    auto strings = section(table->sh_link);
    if (table->sh_type != SHT_SYMTAB || !strings ||
        strings->sh_offset > object.size())
      continue;
    std::string_view names =
        object.substr(strings->sh_offset, strings->sh_size);
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    for (uint64_t j = 0;
         auto symbol = readEntry<Elf64_Sym>(object, table->sh_offset, count, j);
         ++j) {
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_size == 0 ||
          symbol->st_name >= names.size())
        continue;
      std::string_view name = names.substr(symbol->st_name);
      char place[48];
      snprintf(place, sizeof(place), "%llx %llx ",
               static_cast<unsigned long long>(
                   reinterpret_cast<uint64_t>(base) + symbol->st_value),
               static_cast<unsigned long long>(symbol->st_size));
      lines.append(place).append(name.substr(0, name.find('\0'))) += '\n';
    }
  }
  return lines;
}

Status heddle::addToPerfMap(std::string_view object, const char *base) {
  static std::mutex mutex;
  static bool isBegun = false;
  std::lock_guard<std::mutex> lock(mutex);
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  // An earlier process may have had the number. Others write to /tmp, too: a
  // file is never opened through a link, and a new one must be new.
  if (!isBegun)
    unlink(path.c_str());
  int file = open(path.c_str(),
                  O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                      (isBegun ? 0 : O_CREAT | O_EXCL),
                  0644);
  std::string lines = listFunctions(object, base);
  bool isWritten = file >= 0 && write(file, lines.data(), lines.size()) ==
                                    static_cast<ssize_t>(lines.size());
  int error = errno;
  if (file >= 0)
    close(file);
  if (!isWritten)
    return Status::error(
        "cannot write '", path,
        "', which HEDDLE_PERF_MAP asks for: ", strerror(error));
  isBegun = true;
  return Status::success();
}
