//===- ScratchFolder.h - Inputs of a fuzzer as files ------------*- C++ -*-===//

#ifndef HEDDLE_TEST_FUZZ_SCRATCHFOLDER_H
#define HEDDLE_TEST_FUZZ_SCRATCHFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::fuzz {

/// A folder in memory, gone with the process where that ends well.
class ScratchFolder {
public:
  ScratchFolder() {
    if (!mkdtemp(name.data()))
      abort();
  }
  ~ScratchFolder() { std::filesystem::remove_all(name); }

  std::string path(const std::string &file = "") const {
    return file.empty() ? name : name + "/" + file;
  }
  /// Writes a file anew and returns its path.
  std::string write(const std::string &file, std::string_view bytes) const {
    std::ofstream(path(file), std::ios::binary | std::ios::trunc) << bytes;
    return path(file);
  }

private:
  std::string name = "/dev/shm/heddle-fuzz-XXXXXX";
};

} // namespace heddle::fuzz

#endif // HEDDLE_TEST_FUZZ_SCRATCHFOLDER_H
