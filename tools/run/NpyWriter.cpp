//===- NpyWriter.cpp - Vectors as a NumPy file ----------------------------===//
//
// The format (numpy.lib.format): the magic "\x93NUMPY", the version's two
// bytes, the u16 length of the header, the header as a Python dictionary padded
// with spaces and a newline so that the data starts at a multiple of 64.
//
//===----------------------------------------------------------------------===//

#include "tools/run/NpyWriter.h"

#include <cerrno>
#include <limits>
#include <unistd.h>
#include <vector>

using namespace heddle;

static std::string headerFor(const std::array<int64_t, 3> &shape) {
  std::string dictionary =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
      std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + ", " +
      std::to_string(shape[2]) + "), }";
  std::string header("\x93NUMPY\x01\x00", 8);
  size_t unpadded = header.size() + sizeof(uint16_t) + dictionary.size() + 1;
  dictionary.append((64 - unpadded % 64) % 64, ' ');
  dictionary += '\n';
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

Result<NpyWriter> NpyWriter::create(const std::string &path,
                                    std::array<int64_t, 3> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(elements, extent, &elements) ||
        elements > std::numeric_limits<int64_t>::max() / 8)
      return Status::error("cannot write '", path, "': an array of ", shape[0],
                           " x ", shape[1], " x ", shape[2], " is too large");
  Result<WholeFile> file = WholeFile::create(path, WholeFile::Kind::Binary);
  if (!file.ok())
    return file.status();
  NpyWriter writer(std::move(*file), shape);
  std::string header = headerFor(shape);
  if (Status status = writer.writeAt(0, header.data(), header.size());
      !status.ok())
    return status;
  writer.dataOffset = static_cast<int64_t>(header.size());
  return writer;
}

Status NpyWriter::writeAt(int64_t offset, const void *bytes, size_t size) {
  const char *rest = static_cast<const char *>(bytes);
  while (size > 0) {
    ssize_t written = pwrite(file.descriptor(), rest, size, offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return file.failure(errno);
    rest += written;
    offset += written;
    size -= static_cast<size_t>(written);
  }
  return Status::success();
}

Status NpyWriter::write(int64_t row, int64_t column, const float *values,
                        int64_t count) {
  int64_t cell = row * shape[1] + column;
  int64_t cellBytes = shape[2] * int64_t(sizeof(float));
  return writeAt(dataOffset + cell * cellBytes, values,
                 static_cast<size_t>(count * cellBytes));
}

Status NpyWriter::writeMissing(int64_t row, int64_t column) {
  std::vector<float> missing(static_cast<size_t>(shape[2]),
                             std::numeric_limits<float>::quiet_NaN());
  for (; column < shape[1]; ++column)
    if (Status status = write(row, column, missing.data()); !status.ok())
      return status;
  return Status::success();
}

Status NpyWriter::commit() { return file.keep(); }
