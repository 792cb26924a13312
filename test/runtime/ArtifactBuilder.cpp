//===- ArtifactBuilder.cpp - Artifacts for tests --------------------------===//
//
// Header, table, sections at multiples of a page.
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

static uint64_t checksum(const std::string &bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

ArtifactBuilder &ArtifactBuilder::add(const std::string &name,
                                      const std::string &bytes) {
  sections.emplace_back(name, bytes);
  return *this;
}

ArtifactBuilder &ArtifactBuilder::addWeights(const std::string &bytes) {
  std::string sums;
  for (size_t at = 0; at < bytes.size(); at += format::kWeightsChunk) {
    uint64_t sum = checksum(bytes.substr(at, format::kWeightsChunk));
    sums.append(reinterpret_cast<const char *>(&sum), sizeof(sum));
  }
  return add("weights", bytes).add("weights.checksums", sums);
}

std::string ArtifactBuilder::build() const {
  auto align = [](uint64_t offset, uint64_t step) {
    return (offset + step - 1) / step * step;
  };
  std::string sums;
  for (const auto &[name, bytes] : sections)
    if (name == "weights.checksums")
      sums = bytes;

  std::vector<format::Section> table;
  std::string body;
  uint64_t first =
      align(sizeof(format::Header) + sections.size() * sizeof(format::Section),
            format::kSectionAlignment);
  for (const auto &[name, bytes] : sections) {
    format::Section entry = {};
    strncpy(entry.name, name.c_str(), sizeof(entry.name));
    entry.offset = align(first + body.size(), format::alignmentOf(name));
    body.resize(entry.offset - first);
    entry.size = bytes.size();
    entry.checksum = checksum(name == "weights" ? sums : bytes);
    table.push_back(entry);
    body += bytes;
  }

  format::Header header = {};
  std::memcpy(header.magic, format::kMagic, sizeof(header.magic));
  header.version = format::kVersion;
  header.sectionCount = static_cast<uint32_t>(table.size());
  header.fileSize = first + body.size();
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char *>(table.data()),
               table.size() * sizeof(format::Section));
  bytes.resize(first);
  bytes += body;
  sealTable(bytes);
  return bytes;
}

format::Section &test::tableEntry(std::string &bytes, size_t index) {
  return reinterpret_cast<format::Section *>(bytes.data() +
                                             sizeof(format::Header))[index];
}

void test::sealTable(std::string &bytes) {
  auto *header = reinterpret_cast<format::Header *>(bytes.data());
  header->tableChecksum = checksum(bytes.substr(
      sizeof(format::Header), header->sectionCount * sizeof(format::Section)));
}

TemporaryFile::TemporaryFile(const std::string &bytes)
    : name(testing::TempDir() + "heddle-test-XXXXXX") {
  int file = mkstemp(name.data());
  EXPECT_GE(file, 0) << name;
  close(file);
  std::ofstream(name, std::ios::binary) << bytes;
}

TemporaryFile::~TemporaryFile() { unlink(name.c_str()); }

void TemporaryFile::put(size_t offset, char byte) const {
  std::fstream file(name, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

std::string test::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}
