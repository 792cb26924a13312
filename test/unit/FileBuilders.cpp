//===- FileBuilders.cpp - Small model files for tests ---------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "FileBuilders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace llvm;

namespace heddle::test {

std::string buildMarianFile(const std::vector<MarianTensor> &tensors) {
  std::string bytes = bytesOf<uint64_t>(1) + bytesOf<uint64_t>(tensors.size());
  std::string names, shapes, data;
  for (const MarianTensor &tensor : tensors) {
    bytes += bytesOf<uint64_t>(tensor.name.size() + 1) +
             bytesOf<uint64_t>(tensor.type) +
             bytesOf<uint64_t>(tensor.shape.size()) +
             bytesOf<uint64_t>(tensor.data.size());
    names += tensor.name + std::string(1, '\0');
    shapes += bytesOf(tensor.shape);
    data += tensor.data;
  }
  // Three bytes of padding, so that a reader that ignores them is found out.
  return bytes + names + shapes + bytesOf<uint64_t>(3) + "pad" + data;
}

std::string buildNpzFile(const std::vector<NpzArray> &arrays) {
  std::string files, directory;
  for (const NpzArray &array : arrays) {
    std::string name = array.name + ".npy";
    std::string bytes = "\x93NUMPY" + std::string("\1\0", 2) +
                        bytesOf<uint16_t>(array.header.size()) + array.header +
                        array.data;
    uint32_t checksum = llvm::crc32(arrayRefFromStringRef(bytes));
    // Version, flags, method, time, date, checksum, sizes, lengths of texts.
    std::string common =
        bytesOf<uint16_t>({20, 0, 0, 0, 0}) + bytesOf<uint32_t>(checksum) +
        bytesOf<uint32_t>(bytes.size()) + bytesOf<uint32_t>(bytes.size()) +
        bytesOf<uint16_t>(name.size()) + bytesOf<uint16_t>(0);
    directory += "PK\1\2" + bytesOf<uint16_t>(20) + common +
                 bytesOf<uint16_t>({0, 0, 0}) + bytesOf<uint32_t>(0) +
                 bytesOf<uint32_t>(files.size()) + name;
    files += "PK\3\4" + common + name + bytes;
  }
  uint16_t count = arrays.size();
  return files + directory + "PK\5\6" + bytesOf<uint16_t>({0, 0}) +
         bytesOf<uint16_t>(count) + bytesOf<uint16_t>(count) +
         bytesOf<uint32_t>(directory.size()) + bytesOf<uint32_t>(files.size()) +
         bytesOf<uint16_t>(0);
}

std::string buildSafetensorsFile(const std::string &header,
                                 const std::string &data) {
  return bytesOf<uint64_t>(header.size()) + header + data;
}

std::unique_ptr<MemoryBuffer> makeBuffer(const std::string &bytes) {
  return MemoryBuffer::getMemBufferCopy(bytes, "file");
}

TemporaryFolder::TemporaryFolder() {
  SmallString<128> path;
  EXPECT_FALSE(sys::fs::createUniqueDirectory("heddle-unit", path));
  name = path.str().str();
}

TemporaryFolder::~TemporaryFolder() { sys::fs::remove_directories(name); }

std::string TemporaryFolder::write(const std::string &file,
                                   const std::string &bytes) const {
  std::string path = name + "/" + file;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::vector<std::string> TemporaryFolder::list() const {
  std::vector<std::string> names;
  std::error_code error;
  for (sys::fs::directory_iterator entry(name, error), end;
       !error && entry != end; entry.increment(error))
    names.push_back(sys::path::filename(entry->path()).str());
  llvm::sort(names);
  return names;
}

std::string readFile(const std::string &path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

std::string writeArtifact(const ArtifactContents &contents) {
  SmallString<0> bytes;
  raw_svector_ostream stream(bytes);
  heddle::writeArtifact(stream, contents);
  return bytes.str().str();
}

std::string toUtf8(uint32_t codePoint) {
  char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = buffer;
  ConvertCodePointToUTF8(codePoint, end);
  return std::string(buffer, end);
}

} // namespace heddle::test
