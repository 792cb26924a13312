//===- CodeImage.cpp - What a shared object says of itself ----------------===//
//
// In the order in which a reader can trust what it reads: the ELF header, the
// program headers, the dynamic section, the tables that it names.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/CodeImage.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace heddle;

// Absent from older headers.
#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#define DT_RELRENT 37
#endif

/// Addresses in code are 32-bit distances.
static constexpr uint64_t kMostAddress = uint64_t(1) << 31;

/// Whether [begin, begin + size) lies in [low, low + length), whose end is a
/// number.
static bool isWithin(uint64_t begin, uint64_t size, uint64_t low,
                     uint64_t length) {
  return begin >= low && begin - low <= length &&
         size <= length - (begin - low);
}

static const CodeSegment *findSegment(const CodeImage &image, uint64_t address,
                                      uint64_t size,
                                      uint64_t CodeSegment::*length) {
  for (const CodeSegment &segment : image.segments)
    if (isWithin(address, size, segment.address, segment.*length))
      return &segment;
  return nullptr;
}

bool CodeImage::isWritable(uint64_t address, uint64_t size) const {
  const CodeSegment *segment =
      findSegment(*this, address, size, &CodeSegment::memorySize);
  return segment && segment->isWritable;
}

bool CodeImage::isExecutable(uint64_t address, uint64_t size) const {
  const CodeSegment *segment =
      findSegment(*this, address, size, &CodeSegment::fileSize);
  return segment && segment->isExecutable;
}

namespace {

/// Reads an object into an image.
class ImageReader {
public:
  ImageReader(std::string_view bytes, CodeImage &image)
      : bytes(bytes), image(image) {}

  Status read() {
    if (Status status = readHeader(); !status.ok())
      return status;
    for (const Elf64_Phdr &header : headers)
      if (Status status = readSegment(header); !status.ok())
        return status;
    if (image.segments.empty())
      return Status::error("has no segment to load");
    for (const Elf64_Phdr &header : headers)
      if (header.p_type == PT_GNU_RELRO)
        if (Status status = readRelro(header); !status.ok())
          return status;
    return readDynamic();
  }

private:
  Status readHeader();
  Status readSegment(const Elf64_Phdr &header);
  Status readLoaded(const Elf64_Phdr &header);
  Status readRelro(const Elf64_Phdr &header);
  Status readDynamic();
  Status readEntry(const Elf64_Dyn &entry);
  Status readSymbols();
  Status readRelocations();
  Status findTable(const char *what, uint64_t address, uint64_t size,
                   CodeTable &table);
  const char *fileBytesAt(const CodeTable &table) const;

  std::string_view bytes;
  CodeImage &image;
  std::vector<Elf64_Phdr> headers;
  /// What the dynamic section says, zero if it says nothing.
  uint64_t symbolTable = 0, symbolSize = sizeof(Elf64_Sym);
  uint64_t stringTable = 0, stringBytes = 0, hashTable = 0;
  uint64_t rela = 0, relaBytes = 0, relaSize = sizeof(Elf64_Rela);
  uint64_t calls = 0, callBytes = 0, callKind = DT_RELA;
  uint64_t packed = 0, packedBytes = 0, packedSize = sizeof(uint64_t);
};

} // namespace

Status ImageReader::readHeader() {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return Status::error("is not an x86-64 shared object");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
      header.e_machine != EM_X86_64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return Status::error("is not an x86-64 shared object");
  uint64_t size = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  if (!isWithin(header.e_phoff, size, 0, bytes.size()))
    return Status::error("has ", bytes.size(), " bytes but ", header.e_phnum,
                         " program headers from byte ", header.e_phoff);
  headers.resize(header.e_phnum);
  if (size != 0)
    std::memcpy(headers.data(), bytes.data() + header.e_phoff, size);
  return Status::success();
}

Status ImageReader::readSegment(const Elf64_Phdr &header) {
  switch (header.p_type) {
  case PT_LOAD:
    return header.p_memsz == 0 ? Status::success() : readLoaded(header);
  case PT_TLS:
    return Status::error("has thread-local storage, which is not supported");
  case PT_INTERP:
    return Status::error("is a program, expected a shared object");
  case PT_GNU_STACK:
    return header.p_flags & PF_X ? Status::error("asks for an executable stack")
                                 : Status::success();
  default:
    return Status::success();
  }
}

Status ImageReader::readLoaded(const Elf64_Phdr &header) {
  if (!isWithin(header.p_offset, header.p_filesz, 0, bytes.size()))
    return Status::error("has ", bytes.size(), " bytes but a segment of ",
                         header.p_filesz, " from byte ", header.p_offset);
  if (!isWithin(header.p_vaddr, header.p_memsz, 0, kMostAddress))
    return Status::error("has a segment of ", header.p_memsz,
                         " bytes at address ", header.p_vaddr,
                         ", expected an end of at most ", kMostAddress);
  if (header.p_filesz > header.p_memsz)
    return Status::error("has a segment of ", header.p_memsz,
                         " bytes in memory but ", header.p_filesz,
                         " in the file");
  if (header.p_vaddr % kPageBytes != header.p_offset % kPageBytes)
    return Status::error("has a segment at address ", header.p_vaddr,
                         " from byte ", header.p_offset,
                         ", which differ within a page");
  bool writes = header.p_flags & PF_W, executes = header.p_flags & PF_X;
  if (writes && executes)
    return Status::error("has a segment that is writable and executable");
  if (!writes && header.p_filesz != header.p_memsz)
    return Status::error("has a read-only segment of ", header.p_memsz,
                         " bytes in memory but ", header.p_filesz,
                         " in the file");
  if (pageFloor(header.p_vaddr) < image.span)
    return Status::error("has a segment at address ", header.p_vaddr,
                         " but the one before it ends at ", image.span);
  image.segments.push_back({header.p_vaddr, header.p_memsz, header.p_offset,
                            header.p_filesz, writes, executes});
  image.span = pageCeiling(header.p_vaddr + header.p_memsz);
  return Status::success();
}

Status ImageReader::readRelro(const Elf64_Phdr &header) {
  if (header.p_memsz == 0)
    return Status::success();
  if (!image.isWritable(header.p_vaddr, header.p_memsz))
    return Status::error("protects ", header.p_memsz, " bytes at address ",
                         header.p_vaddr,
                         " once they are relocated, which are in no writable "
                         "segment");
  uint64_t begin = pageFloor(header.p_vaddr);
  uint64_t end = pageFloor(header.p_vaddr + header.p_memsz);
  if (begin < end)
    image.readOnlyOnceRelocated = {begin, end - begin};
  return Status::success();
}

const char *ImageReader::fileBytesAt(const CodeTable &table) const {
  const CodeSegment *segment =
      findSegment(image, table.address, table.size, &CodeSegment::fileSize);
  return bytes.data() + segment->fileOffset +
         (table.address - segment->address);
}

Status ImageReader::findTable(const char *what, uint64_t address, uint64_t size,
                              CodeTable &table) {
  if (!findSegment(image, address, size, &CodeSegment::fileSize))
    return Status::error("has ", what, " of ", size, " bytes at address ",
                         address, ", which are in no segment");
  table = {address, size};
  return Status::success();
}

Status ImageReader::readDynamic() {
  auto header =
      std::find_if(headers.begin(), headers.end(), [](const Elf64_Phdr &each) {
        return each.p_type == PT_DYNAMIC;
      });
  if (header == headers.end())
    return Status::error("has no dynamic section");
  CodeTable dynamic;
  if (Status status = findTable("a dynamic section", header->p_vaddr,
                                header->p_filesz, dynamic);
      !status.ok())
    return status;
  const char *entries = fileBytesAt(dynamic);
  for (uint64_t at = 0; dynamic.size - at >= sizeof(Elf64_Dyn);
       at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, entries + at, sizeof(entry));
    if (entry.d_tag == DT_NULL)
      break;
    if (Status status = readEntry(entry); !status.ok())
      return status;
  }
  if (Status status = readSymbols(); !status.ok())
    return status;
  return readRelocations();
}

Status ImageReader::readEntry(const Elf64_Dyn &entry) {
  uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
  case DT_SYMTAB:
    symbolTable = value;
    break;
  case DT_SYMENT:
    symbolSize = value;
    break;
  case DT_STRTAB:
    stringTable = value;
    break;
  case DT_STRSZ:
    stringBytes = value;
    break;
  case DT_HASH:
    hashTable = value;
    break;
  case DT_RELA:
    rela = value;
    break;
  case DT_RELASZ:
    relaBytes = value;
    break;
  case DT_RELAENT:
    relaSize = value;
    break;
  case DT_JMPREL:
    calls = value;
    break;
  case DT_PLTRELSZ:
    callBytes = value;
    break;
  case DT_PLTREL:
    callKind = value;
    break;
  case DT_RELR:
    packed = value;
    break;
  case DT_RELRSZ:
    packedBytes = value;
    break;
  case DT_RELRENT:
    packedSize = value;
    break;
  case DT_NEEDED:
    return Status::error("needs a library (DT_NEEDED), which is not supported");
  case DT_INIT:
  case DT_INIT_ARRAY:
  case DT_PREINIT_ARRAY:
    return Status::error("has constructors, which are not supported");
  case DT_FINI:
  case DT_FINI_ARRAY:
    return Status::error("has destructors, which are not supported");
  case DT_REL:
    return Status::error("has relocations without addends (DT_REL), which are "
                         "not supported");
  case DT_TEXTREL:
    return Status::error("has text that is relocated, which is not supported");
  case DT_FLAGS:
    if (value & DF_TEXTREL)
      return Status::error("has text that is relocated, which is not "
                           "supported");
    if (value & DF_STATIC_TLS)
      return Status::error("has thread-local storage, which is not supported");
    break;
  default:
    break;
  }
  return Status::success();
}

Status ImageReader::readSymbols() {
  uint32_t counts[2];
  CodeTable head;
  if (hashTable == 0)
    return Status::error("has no table of symbols by their names (DT_HASH)");
  if (Status status = findTable("a table of symbols by their names", hashTable,
                                sizeof(counts), head);
      !status.ok())
    return status;
  std::memcpy(counts, fileBytesAt(head), sizeof(counts));
  image.bucketCount = counts[0];
  image.symbolCount = counts[1];
  if (image.bucketCount == 0)
    return Status::error("has a table of symbols by their names without "
                         "buckets");
  if (symbolSize != sizeof(Elf64_Sym))
    return Status::error("has symbols of ", symbolSize, " bytes, expected ",
                         sizeof(Elf64_Sym));
  if (Status status = findTable(
          "a table of symbols by their names", hashTable + sizeof(counts),
          sizeof(uint32_t) * (uint64_t(image.bucketCount) + image.symbolCount),
          image.hash);
      !status.ok())
    return status;
  if (Status status = findTable("a table of symbols", symbolTable,
                                uint64_t(image.symbolCount) * sizeof(Elf64_Sym),
                                image.symbols);
      !status.ok())
    return status;
  return findTable("a table of names", stringTable, stringBytes, image.names);
}

Status ImageReader::readRelocations() {
  if ((relaBytes != 0 && relaSize != sizeof(Elf64_Rela)) ||
      (callBytes != 0 && callKind != DT_RELA) ||
      (packedBytes != 0 && packedSize != sizeof(uint64_t)))
    return Status::error("has relocations of a kind that is not supported");
  const struct {
    uint64_t address, size, unit;
    CodeTable &table;
  } tables[] = {
      {rela, relaBytes, sizeof(Elf64_Rela), image.relocations},
      {calls, callBytes, sizeof(Elf64_Rela), image.callRelocations},
      {packed, packedBytes, sizeof(uint64_t), image.packedRelocations}};
  for (const auto &each : tables) {
    if (each.size == 0)
      continue;
    if (each.size % each.unit != 0)
      return Status::error("has ", each.size, " bytes of relocations of ",
                           each.unit, " bytes");
    if (Status status = findTable("a table of relocations", each.address,
                                  each.size, each.table);
        !status.ok())
      return status;
  }
  return Status::success();
}

Result<CodeImage> CodeImage::parse(std::string_view bytes) {
  CodeImage image;
  if (Status status = ImageReader(bytes, image).read(); !status.ok())
    return status;
  return image;
}
