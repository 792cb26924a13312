//===- CodeLoader.cpp - Compiled code becomes functions -------------------===//
//
// A reserved range, segments into it, relocations, protection. CodeImage has
// proved where segments and tables lie; here each entry of a table is compared
// with that before it is used.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/CodeLoader.h"

#include "runtime/code/CodeImports.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <utility>

using namespace heddle;

static Status mapError(const char *what, uint64_t size) {
  return Status::error("cannot be loaded: ", what, " ", size,
                       " bytes of memory: ", strerror(errno));
}

Result<LoadedCode> LoadedCode::load(const CodeSource &source) {
  Result<CodeImage> image = CodeImage::parse(source.bytes);
  if (!image.ok())
    return image.status();
  void *memory = mmap(nullptr, image->span, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return mapError("reserving", image->span);
  LoadedCode code(static_cast<char *>(memory), std::move(*image));
  for (const CodeSegment &segment : code.image.segments)
    if (Status status = code.mapSegment(source, segment); !status.ok())
      return status;
  if (Status status = code.relocate(source.callsLibraries); !status.ok())
    return status;
  if (Status status = code.protect(); !status.ok())
    return status;
  return code;
}

/// What a segment may be used for once it is relocated.
static int protectionOf(const CodeSegment &segment) {
  return PROT_READ | (segment.isWritable ? PROT_WRITE : 0) |
         (segment.isExecutable ? PROT_EXEC : 0);
}

Status LoadedCode::mapSegment(const CodeSource &source,
                              const CodeSegment &segment) {
  if (source.file < 0 || segment.fileSize == 0)
    return copySegment(source, segment);
  uint64_t begin = pageFloor(segment.address);
  uint64_t fileEnd = segment.address + segment.fileSize;
  uint64_t size = pageCeiling(fileEnd) - begin;
  if (mmap(memory + begin, size, protectionOf(segment), MAP_PRIVATE | MAP_FIXED,
           source.file, off_t(source.offset + pageFloor(segment.fileOffset))) ==
      MAP_FAILED) {
    // What is on such a file system may not be run, but read.
    if (segment.isExecutable && (errno == EPERM || errno == EACCES))
      return copySegment(source, segment);
    return mapError("mapping", size);
  }
  if (!segment.isWritable)
    return Status::success();
  // Zeros behind what the file has: the rest of its last page, and more pages.
  std::memset(memory + fileEnd, 0, pageCeiling(fileEnd) - fileEnd);
  uint64_t rest =
      pageCeiling(segment.address + segment.memorySize) - pageCeiling(fileEnd);
  if (rest != 0 &&
      mprotect(memory + pageCeiling(fileEnd), rest, PROT_READ | PROT_WRITE))
    return mapError("allocating", rest);
  return Status::success();
}

Status LoadedCode::copySegment(const CodeSource &source,
                               const CodeSegment &segment) {
  uint64_t begin = pageFloor(segment.address);
  uint64_t size = pageCeiling(segment.address + segment.memorySize) - begin;
  // Anonymous once more: a part of it may be a file's by now.
  if (mmap(memory + begin, size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    return mapError("allocating", size);
  std::memcpy(memory + segment.address,
              source.bytes.data() + segment.fileOffset, segment.fileSize);
  if (!segment.isWritable &&
      mprotect(memory + begin, size, protectionOf(segment)))
    return mapError("protecting", size);
  return Status::success();
}

Status LoadedCode::protect() {
  const CodeTable &once = image.readOnlyOnceRelocated;
  if (once.size != 0 && mprotect(memory + once.address, once.size, PROT_READ))
    return mapError("protecting", once.size);
  return Status::success();
}

template <typename T> T LoadedCode::read(uint64_t address) const {
  T value;
  std::memcpy(&value, memory + address, sizeof(value));
  return value;
}

std::string_view LoadedCode::nameAt(uint32_t offset) const {
  if (offset >= image.names.size)
    return "";
  const char *name = memory + image.names.address + offset;
  return {name, strnlen(name, image.names.size - offset)};
}

/// A name from a file, for a sentence.
static std::string quoted(std::string_view name) {
  constexpr size_t mostShown = 64;
  return "'" + std::string(name.substr(0, mostShown)) + "'";
}

Result<uint64_t> LoadedCode::valueOf(uint32_t index,
                                     bool callsLibraries) const {
  if (index >= image.symbolCount)
    return Status::error("has ", image.symbolCount,
                         " symbols but a relocation by symbol ", index);
  auto symbol =
      read<Elf64_Sym>(image.symbols.address + index * sizeof(Elf64_Sym));
  std::string name(nameAt(symbol.st_name));
  if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
    return Status::error("has thread-local storage, ", quoted(name),
                         ", which is not supported");
  if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
    return Status::error("chooses ", quoted(name),
                         " while it is loaded, which is not supported");
  if (symbol.st_shndx != SHN_UNDEF) {
    if (symbol.st_value > image.span)
      return Status::error("has the symbol ", quoted(name), " at address ",
                           symbol.st_value, " but ends at ", image.span);
    return reinterpret_cast<uint64_t>(memory) + symbol.st_value;
  }
  void *import = findCodeImport(name);
  if (!import && callsLibraries && !name.empty())
    import = dlsym(RTLD_DEFAULT, name.c_str());
  if (!import)
    return Status::error("calls ", quoted(name),
                         ", which this runtime does not offer");
  return reinterpret_cast<uint64_t>(import);
}

Status LoadedCode::store(uint64_t address, uint64_t value) {
  if (!image.isWritable(address, sizeof(value)))
    return Status::error("has a relocation at address ", address,
                         ", which is in no writable segment");
  std::memcpy(memory + address, &value, sizeof(value));
  return Status::success();
}

Status LoadedCode::relocate(bool callsLibraries) {
  if (Status status = relocatePacked(); !status.ok())
    return status;
  if (Status status = relocateTable(image.relocations, callsLibraries);
      !status.ok())
    return status;
  return relocateTable(image.callRelocations, callsLibraries);
}

Status LoadedCode::relocateTable(const CodeTable &table, bool callsLibraries) {
  for (uint64_t at = 0; at < table.size; at += sizeof(Elf64_Rela)) {
    // Once more from memory each time: a damaged table may lie where it points.
    auto entry = read<Elf64_Rela>(table.address + at);
    uint64_t addend = uint64_t(entry.r_addend), value = 0;
    switch (uint32_t type = ELF64_R_TYPE(entry.r_info)) {
    case R_X86_64_NONE:
      continue;
    case R_X86_64_RELATIVE:
      if (addend > image.span)
        return Status::error("has a relocation to address ", addend,
                             " but ends at ", image.span);
      value = reinterpret_cast<uint64_t>(memory) + addend;
      break;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT: {
      if (addend != 0)
        return Status::error("has a relocation by a symbol with the addend ",
                             addend, ", which is not supported");
      Result<uint64_t> symbol =
          valueOf(ELF64_R_SYM(entry.r_info), callsLibraries);
      if (!symbol.ok())
        return symbol.status();
      value = *symbol;
      break;
    }
    case R_X86_64_DTPMOD64:
    case R_X86_64_DTPOFF64:
    case R_X86_64_TPOFF64:
    case R_X86_64_TLSDESC:
      return Status::error("has thread-local storage, which is not supported");
    case R_X86_64_IRELATIVE:
      return Status::error("chooses a function while it is loaded, which is "
                           "not supported");
    default:
      return Status::error("has a relocation of type ", type,
                           ", which is not supported");
    }
    if (Status status = store(entry.r_offset, value); !status.ok())
      return status;
  }
  return Status::success();
}

/// An even entry is the address of a word; the 63 upper bits of an odd one are
/// the words behind the last.
Status LoadedCode::relocatePacked() {
  constexpr uint64_t wordBytes = sizeof(uint64_t), bits = 63;
  auto relocateWord = [&](uint64_t address) {
    uint64_t addend =
        image.isWritable(address, wordBytes) ? read<uint64_t>(address) : 0;
    if (addend > image.span)
      return Status::error("has a relocation to address ", addend,
                           " but ends at ", image.span);
    return store(address, reinterpret_cast<uint64_t>(memory) + addend);
  };
  uint64_t next = 0;
  for (uint64_t at = 0; at < image.packedRelocations.size; at += wordBytes) {
    auto entry = read<uint64_t>(image.packedRelocations.address + at);
    if (entry % 2 == 0) {
      if (Status status = relocateWord(entry); !status.ok())
        return status;
      next = entry + wordBytes;
      continue;
    }
    for (uint64_t bit = 0; bit < bits; ++bit)
      if (entry >> (bit + 1) & 1)
        if (Status status = relocateWord(next + bit * wordBytes); !status.ok())
          return status;
    next += bits * wordBytes;
  }
  return Status::success();
}

/// The hash of DT_HASH.
static uint32_t hashOf(std::string_view name) {
  uint32_t hash = 0;
  for (unsigned char c : name) {
    hash = (hash << 4) + c;
    uint32_t high = hash & 0xf0000000;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

void *LoadedCode::find(std::string_view wanted) const {
  auto slot = [&](uint64_t index) {
    return read<uint32_t>(image.hash.address + index * sizeof(uint32_t));
  };
  uint32_t index = slot(hashOf(wanted) % image.bucketCount);
  // A damaged chain may be a circle.
  for (uint32_t steps = 0; steps < image.symbolCount; ++steps) {
    if (index == STN_UNDEF || index >= image.symbolCount)
      return nullptr;
    auto symbol = read<Elf64_Sym>(image.symbols.address +
                                  uint64_t(index) * sizeof(Elf64_Sym));
    if (symbol.st_shndx != SHN_UNDEF &&
        ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
        nameAt(symbol.st_name) == wanted &&
        image.isExecutable(symbol.st_value, 1))
      return memory + symbol.st_value;
    index = slot(uint64_t(image.bucketCount) + index);
  }
  return nullptr;
}

LoadedCode::LoadedCode(LoadedCode &&other) noexcept
    : memory(std::exchange(other.memory, nullptr)),
      image(std::move(other.image)) {}

LoadedCode &LoadedCode::operator=(LoadedCode &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(image, other.image);
  return *this;
}

LoadedCode::~LoadedCode() {
  if (memory)
    munmap(memory, image.span);
}
