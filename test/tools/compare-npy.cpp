//===- compare-npy.cpp - Compares two files of logits ---------------------===//
//
//   compare-npy FOUND EXPECTED --within BOUND
//     Shapes are equal, NaN stands at the same places, and no other value
//     differs by more than BOUND times the largest magnitude in EXPECTED.
//   compare-npy FOUND EXPECTED --rows ROW,ROW,...
//     Row i of FOUND has the bits of row ROW i of EXPECTED (counted from 0).
//     Where one file has more columns than the other they are NaN: the longest
//     sentence of a file decides how many there are.
//
// Files are little-endian float32 [rows, columns, depth] in C order, as
// heddle-run and numpy write them. Exit code 0 where all of this holds; else 1
// and one sentence.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <regex>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

/// A mapped file; it stays mapped to the end of the process.
struct Logits {
  size_t rows, columns, depth;
  const char *data;

  float at(size_t row, size_t column, size_t id) const {
    float value;
    memcpy(&value, cell(row, column) + id * sizeof(float), sizeof(float));
    return value;
  }
  const char *cell(size_t row, size_t column) const {
    return data + (row * columns + column) * depth * sizeof(float);
  }
};

} // namespace

[[noreturn]] static void fail(const std::string &sentence) {
  fprintf(stderr, "compare-npy: %s\n", sentence.c_str());
  exit(1);
}

static Logits open(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0)
    fail("cannot read '" + path + "'");
  size_t size = static_cast<size_t>(status.st_size);
  // Magic, version 1.0, the length of the header.
  constexpr size_t kPrefix = 10;
  void *mapped = size < kPrefix
                     ? MAP_FAILED
                     : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (mapped == MAP_FAILED || memcmp(mapped, "\x93NUMPY\1\0", 8) != 0)
    fail("'" + path + "' is no .npy file of version 1.0");
  const char *bytes = static_cast<const char *>(mapped);
  size_t length = static_cast<uint8_t>(bytes[8]) +
                  size_t(256) * static_cast<uint8_t>(bytes[9]);
  if (length > size - kPrefix)
    fail("the header of '" + path + "' ends behind the file");

  std::string header(bytes + kPrefix, length);
  std::regex form("\\{'descr': '<f4', 'fortran_order': False, "
                  "'shape': \\((\\d{1,9}), (\\d{1,9}), (\\d{1,9})\\), \\}\\s*");
  std::smatch shape;
  if (!std::regex_match(header, shape, form))
    fail("'" + path + "' has the header " + header +
         ", expected '<f4' of three dimensions in C order");
  Logits logits = {std::stoul(shape[1]), std::stoul(shape[2]),
                   std::stoul(shape[3]), bytes + kPrefix + length};
  size_t count = (size - kPrefix - length) / sizeof(float);
  if (logits.rows * logits.columns > count ||
      logits.rows * logits.columns * logits.depth != count)
    fail("'" + path + "' has " + std::to_string(count) +
         " values, which is not what its shape says");
  return logits;
}

static std::string text(double value) {
  char buffer[32];
  snprintf(buffer, sizeof(buffer), "%.7g", value);
  return buffer;
}

static std::string at(size_t row, size_t column, size_t id) {
  return " at [" + std::to_string(row) + ", " + std::to_string(column) + ", " +
         std::to_string(id) + "]";
}

static void compareValues(const Logits &found, const Logits &expected,
                          double bound) {
  if (found.rows != expected.rows || found.columns != expected.columns)
    fail("found " + std::to_string(found.rows) + " rows of " +
         std::to_string(found.columns) + " columns, expected " +
         std::to_string(expected.rows) + " of " +
         std::to_string(expected.columns));
  float largest = 0, difference = 0;
  for (size_t row = 0; row < found.rows; ++row)
    for (size_t column = 0; column < found.columns; ++column)
      for (size_t id = 0; id < found.depth; ++id) {
        float f = found.at(row, column, id), e = expected.at(row, column, id);
        if (std::isnan(f) != std::isnan(e) || std::isinf(f) || std::isinf(e))
          fail("found " + text(f) + at(row, column, id) + ", expected " +
               text(e));
        if (std::isnan(e))
          continue;
        largest = std::fmax(largest, std::fabs(e));
        difference = std::fmax(difference, std::fabs(f - e));
      }
  if (largest == 0)
    fail("there is no value to compare with");
  printf("largest difference %.2g of the largest magnitude %.3g\n",
         difference / largest, largest);
  if (difference > bound * largest)
    fail("the files differ by " + text(difference) + ", expected at most " +
         text(bound * largest));
}

static void compareRow(const Logits &found, size_t row, const Logits &expected,
                       size_t expectedRow) {
  size_t columns = std::min(found.columns, expected.columns);
  for (size_t column = 0; column < columns; ++column)
    if (memcmp(found.cell(row, column), expected.cell(expectedRow, column),
               found.depth * sizeof(float)) != 0)
      fail("row " + std::to_string(row) + " and the expected row " +
           std::to_string(expectedRow) + " differ in column " +
           std::to_string(column));
  const Logits &wider = found.columns > columns ? found : expected;
  size_t widerRow = &wider == &found ? row : expectedRow;
  for (size_t column = columns; column < wider.columns; ++column)
    for (size_t id = 0; id < wider.depth; ++id)
      if (!std::isnan(wider.at(widerRow, column, id)))
        fail("only one of the files has a value" + at(widerRow, column, id));
}

static void compareRows(const Logits &found, const Logits &expected,
                        const std::string &list) {
  std::vector<size_t> rows;
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    rows.push_back(std::stoul(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (rows.size() != found.rows)
    fail("found " + std::to_string(found.rows) + " rows, expected " +
         std::to_string(rows.size()));
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows[row] >= expected.rows)
      fail("there is no row " + std::to_string(rows[row]));
    compareRow(found, row, expected, rows[row]);
  }
}

int main(int argc, char **argv) {
  std::string mode = argc == 5 ? argv[3] : "";
  if (mode != "--within" && mode != "--rows")
    fail("expected FOUND EXPECTED --within BOUND or --rows ROW,ROW,...");
  Logits found = open(argv[1]), expected = open(argv[2]);
  if (found.depth != expected.depth)
    fail("found a vocabulary of " + std::to_string(found.depth) +
         ", expected " + std::to_string(expected.depth));
  if (mode == "--within")
    compareValues(found, expected, std::strtod(argv[4], nullptr));
  else
    compareRows(found, expected, argv[4]);
}
