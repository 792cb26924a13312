//===- FileBuilders.cpp - Small model files for tests ---------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "FileBuilders.h"
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

} // namespace heddle::test
