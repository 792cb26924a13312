//===- NpyRowsTests.cpp - Vectors from a NumPy file -----------------------===//
//
// Headers that NumPy writes and reads, and files that are none of a model's
// vectors.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ArtifactBuilder.h"

#include "tools/run/vectors/NpyRows.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

class NpyRowsTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "heddle-npy-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    path = folder + "/a.npy";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// A file of version 1.0.
  static std::string file(const std::string &header, const std::string &data) {
    return std::string("\x93NUMPY\x01\0", 8) + char(header.size() & 0xFF) +
           char(header.size() >> 8) + header + data;
  }
  /// One whose data begins at byte 128.
  static std::string padded(std::string dictionary, const std::string &data) {
    dictionary.resize(117, ' ');
    return file(dictionary + "\n", data);
  }
  void write(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  /// What opening the file as vectors of two numbers says.
  std::string message(const std::string &bytes) {
    write(bytes);
    Result<NpyRows> rows = NpyRows::open(path, 2);
    return rows.ok() ? "opened" : rows.message();
  }
  /// Likewise, of its header.
  std::string messageOf(const std::string &dictionary) {
    return message(padded(dictionary, std::string(16, 'x')));
  }

  std::string folder, path;
};

const char *const kVectors =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";

} // namespace

TEST_F(NpyRowsTest, knows_numpys_files) {
  write("\x93NUMPY");
  std::filesystem::rename(path, folder + "/other");
  EXPECT_TRUE(isNpyFile(folder + "/other"));
  EXPECT_TRUE(isNpyFile("absent.npy"));
  EXPECT_FALSE(isNpyFile("absent"));
  EXPECT_FALSE(isNpyFile("npy"));
  EXPECT_FALSE(isNpyFile(folder));
  write("\x93NUMP");
  std::filesystem::rename(path, folder + "/other");
  EXPECT_FALSE(isNpyFile(folder + "/other"));
}

TEST_F(NpyRowsTest, opens_all_types) {
  for (auto [element, columns, type] :
       {std::tuple("<f4", 20, HEDDLE_VECTOR_FLOAT32),
        std::tuple("<f2", 20, HEDDLE_VECTOR_FLOAT16),
        std::tuple("|i1", 20, HEDDLE_VECTOR_INT8),
        std::tuple("|u1", 3, HEDDLE_VECTOR_BITS)}) {
    std::string data(3 * heddle_vector_bytes(type, 20), '#');
    write(padded("{'descr': '" + std::string(element) +
                     "', 'fortran_order': False, 'shape': (3, " +
                     std::to_string(columns) + "), }",
                 data));
    Result<NpyRows> rows = NpyRows::open(path, 20);
    ASSERT_TRUE(rows.ok()) << rows.message();
    EXPECT_EQ(rows->format().type, type);
    EXPECT_EQ(rows->count(), 3);
    EXPECT_EQ(std::string(rows->data(), data.size()), data);
  }
}

TEST_F(NpyRowsTest, reads_headers_as_numpy_does) {
  for (const char *header :
       {kVectors, "{'shape': (2, 2), 'fortran_order': False, 'descr': '<f4'}",
        " {\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2, 2),} "})
    EXPECT_EQ(messageOf(header), "opened") << header;
  // Longer sizes.
  for (char version : {2, 3}) {
    std::string bytes = padded(kVectors, std::string(16, 'x'));
    bytes[6] = version;
    bytes.insert(10, 2, '\0');
    // The array is to begin at a multiple of four.
    bytes.erase(100, 2);
    bytes[8] = char(bytes[8] - 2);
    EXPECT_EQ(message(bytes), "opened");
  }
  // Arrays without rows.
  EXPECT_EQ(message(padded("{'descr': '<f4', 'fortran_order': False, 'shape': "
                           "(0, 2), }",
                           "")),
            "opened");
}

TEST_F(NpyRowsTest, refuses_headers) {
  const std::string name = "'" + path + "'",
                    unreadable =
                        "the header of " + name +
                        " cannot be read, expected a dictionary with the type "
                        "'descr', 'fortran_order' and 'shape'";
  for (const char *header :
       {"", "{", "}", "[]", "{}", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 2)}",
        "{descr: '<f4', 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} {",
        "{'descr': '<f4', 'fortran_order': False, 'size': 7, 'shape': (2, "
        "2)}"})
    EXPECT_EQ(messageOf(header), unreadable) << header;
  EXPECT_EQ(messageOf("{'descr': '<f4', 'fortran_order': True, 'shape': (2, "
                      "2), }"),
            name + " has the array in Fortran order, expected C order "
                   "(numpy.ascontiguousarray)");
  const std::string expected =
      "but vectors of 2 numbers are (lines, 2) of '<f4', (lines, 2) of '<f2', "
      "(lines, 2) of '|i1' or (lines, 1) of '|u1'";
  for (const char *type : {"<f8", ">f4", "|O", "<u2", "|b1", ""})
    EXPECT_EQ(messageOf("{'descr': '" + std::string(type) +
                        "', 'fortran_order': False, 'shape': (2, 2)}"),
              name + " is (2, 2) of '" + type + "', " + expected);
  for (const char *shape :
       {"(2, 3)", "(2,)", "()", "(2, 2, 1)", "(1, 2, 2)", "(-2, 2)", "(2, -2)",
        "(2.0, 2)", "(2L, 2)", "(, 2)",
        "(9999999999999999999999999999999999999999, 2)"})
    EXPECT_EQ(messageOf("{'descr': '<f4', 'fortran_order': False, 'shape': " +
                        std::string(shape) + "}"),
              name + " is " + shape + " of '<f4', " + expected);
  // Whole vectors are no bits.
  EXPECT_EQ(messageOf("{'descr': '|u1', 'fortran_order': False, 'shape': (2, "
                      "2)}"),
            name + " is (2, 2) of '|u1', " + expected);
}

TEST_F(NpyRowsTest, refuses_files_that_are_not_whole) {
  const std::string name = "'" + path + "'",
                    whole = padded(kVectors, std::string(16, 'x'));
  auto Open = [&](const std::string &place) {
    Result<NpyRows> rows = NpyRows::open(place, 2);
    return rows.ok() ? "opened" : rows.message();
  };
  EXPECT_EQ(Open(folder + "/absent.npy"), "cannot open '" + folder +
                                              "/absent.npy': No such file or "
                                              "directory");
  EXPECT_EQ(Open(folder),
            "'" + folder + "' is not a regular file, expected a NumPy file");
  EXPECT_EQ(message(""), name + " is empty, expected a NumPy file");
  for (const char *bytes : {"PK\3\4", "\x93NUMP", "\x93NUMPy\1"})
    EXPECT_EQ(message(bytes), name + " does not begin as NumPy files do");
  for (int version : {0, 4}) {
    std::string bytes = whole;
    bytes[6] = char(version);
    EXPECT_EQ(message(bytes), name + " has version " + std::to_string(version) +
                                  " of NumPy's format (supported: 1 to 3)");
  }
  EXPECT_EQ(message(whole.substr(0, 6)),
            name + " has version 0 of NumPy's format (supported: 1 to 3)");
  EXPECT_EQ(message(whole.substr(0, 127)),
            name + " has 127 bytes, but its header ends at byte 128");
  EXPECT_EQ(message(whole.substr(0, 9)),
            name + " has 9 bytes, but its header ends at byte 128");
  for (size_t size : {128u, 143u, 145u})
    EXPECT_EQ(message((whole + "x").substr(0, size)),
              name + " has " + std::to_string(size - 128) +
                  " bytes behind its header, but an array (2, 2) of '<f4' has "
                  "2 * 8");
  EXPECT_EQ(message(padded("{'descr': '<f4', 'fortran_order': False, 'shape': "
                           "(999999999999999999, 2)}",
                           "")),
            name + " has 0 bytes behind its header, but an array "
                   "(999999999999999999, 2) of '<f4' has 999999999999999999 * "
                   "8");
  EXPECT_EQ(message(file(kVectors, std::string(16, 'x'))),
            name + " has its array at byte 69, expected a multiple of 4");
}
