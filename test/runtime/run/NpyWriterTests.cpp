//===- NpyWriterTests.cpp - Vectors as a NumPy file -----------------------===//
//
// The bytes of a file are compared with NumPy's documentation of its format.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ArtifactBuilder.h"

#include "tools/run/vectors/NpyWriter.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

class NpyWriterTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "heddle-npy-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  size_t filesInFolder() const {
    std::filesystem::directory_iterator begin(folder), end;
    return static_cast<size_t>(std::distance(begin, end));
  }

  std::string folder;
};

} // namespace

TEST_F(NpyWriterTest, writes_the_format) {
  std::string path = folder + "/a.npy";
  {
    Result<NpyWriter> writer = NpyWriter::create(path, {2, 2, 3});
    ASSERT_TRUE(writer.ok()) << writer.message();
    const float cells[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    // Any order.
    ASSERT_TRUE(writer->write(1, 0, cells[2]).ok());
    ASSERT_TRUE(writer->writeMissing(1, 1).ok());
    ASSERT_TRUE(writer->write(0, 0, cells[0], 2).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(writer->commit().ok());
  }
  EXPECT_EQ(filesInFolder(), 1u);
  std::string bytes = readFile(path);
  ASSERT_EQ(bytes.size(), 128 + 12 * sizeof(float));
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  std::string dictionary =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 3), }";
  EXPECT_EQ(bytes.substr(10, dictionary.size()), dictionary);
  EXPECT_EQ(bytes[127], '\n');
  float values[12];
  std::memcpy(values, bytes.data() + 128, sizeof(values));
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(values[i], float(i + 1));
  for (int i = 9; i < 12; ++i)
    EXPECT_TRUE(std::isnan(values[i]));
}

TEST_F(NpyWriterTest, appends_rows) {
  std::string path = folder + "/a.npy";
  Result<NpyWriter> writer = NpyWriter::createRows(path, 2);
  ASSERT_TRUE(writer.ok()) << writer.message();
  const float rows[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  for (const float *row : rows)
    ASSERT_TRUE(writer->append(row).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(writer->commit().ok());
  std::string bytes = readFile(path);
  ASSERT_EQ(bytes.size(), 128 + 6 * sizeof(float));
  std::string dictionary =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
  EXPECT_EQ(bytes.substr(10, dictionary.size()), dictionary);
  EXPECT_EQ(bytes[127], '\n');
  float values[6];
  std::memcpy(values, bytes.data() + 128, sizeof(values));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(values[i], float(i + 1));
}

TEST_F(NpyWriterTest, appends_rows_of_bytes) {
  std::string path = folder + "/a.npy";
  Result<NpyWriter> writer = NpyWriter::createRows(path, 3, {"|i1", 1});
  ASSERT_TRUE(writer.ok()) << writer.message();
  for (const char *row : {"abc", "def"})
    ASSERT_TRUE(writer->append(row).ok());
  ASSERT_TRUE(writer->commit().ok());
  std::string bytes = readFile(path);
  EXPECT_EQ(bytes.substr(128), "abcdef");
  std::string dictionary =
      "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(bytes.substr(10, dictionary.size()), dictionary);
}

TEST_F(NpyWriterTest, leaves_nothing_without_commit) {
  std::string path = folder + "/a.npy";
  {
    Result<NpyWriter> writer = NpyWriter::create(path, {1, 1, 1});
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(filesInFolder(), 1u);
  }
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(NpyWriterTest, arrays_may_be_empty) {
  std::string path = folder + "/a.npy";
  Result<NpyWriter> writer = NpyWriter::create(path, {0, 0, 7});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_NE(readFile(path).find("(0, 0, 7)"), std::string::npos);
  Result<NpyWriter> rows = NpyWriter::createRows(path, 7);
  ASSERT_TRUE(rows.ok());
  ASSERT_TRUE(rows->commit().ok());
  EXPECT_NE(readFile(path).find("(0, 7)"), std::string::npos);
}

TEST_F(NpyWriterTest, refuses_places_it_cannot_write) {
  auto message = [](const std::string &path, int64_t rows) {
    Result<NpyWriter> writer = NpyWriter::create(path, {rows, 2, 3});
    return writer.ok() ? "created" : writer.message();
  };
  EXPECT_EQ(message(folder + "/no/a.npy", 1), "cannot write '" + folder +
                                                  "/no/a.npy': No such file or "
                                                  "directory");
  EXPECT_EQ(message(folder, 1),
            "cannot write '" + folder + "': it is not a regular file");
  EXPECT_EQ(message("/dev/full", 1),
            "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(message(folder + "/a.npy", int64_t(1) << 61),
            "cannot write '" + folder +
                "/a.npy': an array of 2305843009213693952 x 2 x 3 is too "
                "large");
}
