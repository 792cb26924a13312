//===- NpyWriter.cpp - Vectors as a NumPy file ----------------------------===//
//
// The format (numpy.lib.format): the magic "\x93NUMPY", the version's two
// bytes, the u16 length of the header, the header as a Python dictionary padded
// with spaces and a newline so that the data starts at a multiple of 64. All
// headers have one size, so that one can be written when its file is full.
//
//===----------------------------------------------------------------------===//

#include "tools/run/vectors/NpyWriter.h"

#include <cerrno>
#include <limits>
#include <unistd.h>
#include <vector>

using namespace heddle;

static constexpr int64_t kHeaderBytes = 128;

Status NpyWriter::writeHeader() {
  std::string middle = isOfRows ? ", " : ", " + std::to_string(shape[1]) + ", ";
  std::string dictionary = std::string("{'descr': '") + type.name +
                           "', 'fortran_order': False, 'shape': (" +
                           std::to_string(shape[0]) + middle +
                           std::to_string(shape[2]) + "), }";
  std::string header("\x93NUMPY\x01\x00", 8);
  dictionary.resize(kHeaderBytes - header.size() - sizeof(uint16_t) - 1, ' ');
  dictionary += '\n';
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  header += dictionary;
  return writeAt(0, header.data(), header.size());
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
  NpyWriter writer(std::move(*file), shape, /*isOfRows=*/false);
  Status status = writer.writeHeader();
  return status.ok() ? Result(std::move(writer)) : status;
}

Result<NpyWriter> NpyWriter::createRows(const std::string &path, int64_t width,
                                        NpyType type) {
  Result<NpyWriter> writer = create(path, {0, 1, width});
  if (writer.ok()) {
    // Its header is written at the end.
    writer->isOfRows = true;
    writer->type = type;
  }
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
  int64_t cellBytes = shape[2] * type.bytes;
  return writeAt(kHeaderBytes + cell * cellBytes, values,
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

Status NpyWriter::append(const void *row) {
  int64_t rowBytes = shape[2] * type.bytes;
  return writeAt(kHeaderBytes + rowBytes * shape[0]++, row,
                 static_cast<size_t>(rowBytes));
}

Status NpyWriter::commit() {
  Status status = isOfRows ? writeHeader() : Status::success();
  return status.ok() ? file.keep() : status;
}
