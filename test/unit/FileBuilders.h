//===- FileBuilders.h - Small model files for tests -------------*- C++ -*-===//
//
// Builds files from the descriptions of their formats alone, so that readers
// are tested against the formats and not against themselves.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_FILEBUILDERS_H
#define HEDDLE_TEST_UNIT_FILEBUILDERS_H

#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Weights/TensorFile.h"
#include <string>
#include <vector>

namespace heddle::test {

/// The bytes of a value, in this machine's order.
template <typename T> std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}
template <typename T> std::string bytesOf(const std::vector<T> &values) {
  std::string bytes;
  for (T value : values)
    bytes += bytesOf(value);
  return bytes;
}

/// One tensor of a Marian file.
struct MarianTensor {
  std::string name;
  uint64_t type;
  std::vector<int32_t> shape;
  std::string data;
};
inline constexpr uint64_t kFloat32 = 0x404, kIntGemm8 = 0x4101, kInt8 = 0x101;

std::string buildMarianFile(const std::vector<MarianTensor> &tensors);
/// An archive of numpy's arrays, stored as they are.
struct NpzArray {
  std::string name, header, data;
};
std::string buildNpzFile(const std::vector<NpzArray> &arrays);
std::string buildSafetensorsFile(const std::string &header,
                                 const std::string &data);

/// A buffer as the readers take it, named "file".
std::unique_ptr<llvm::MemoryBuffer> makeBuffer(const std::string &bytes);

/// A folder that is removed with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;

  const std::string &path() const { return name; }
  /// Writes a file and returns its path.
  std::string write(const std::string &file, const std::string &bytes) const;
  /// The names of its files, sorted.
  std::vector<std::string> list() const;

private:
  std::string name;
};

std::string readFile(const std::string &path);

/// The bytes of an artifact.
std::string writeArtifact(const ArtifactContents &contents);

std::string toUtf8(uint32_t codePoint);

/// The sentence of a failure; "" for success. Takes the error.
template <typename T> std::string sentenceOf(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}
inline std::string sentenceOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_FILEBUILDERS_H
