//===- LineReaderTests.cpp - Lines of files, and of a reader that moves ---===//

#include "test/runtime/ArtifactBuilder.h"

#include "tools/LineReader.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace heddle;
using namespace heddle::test;

namespace {

LineReader open(const std::string &path) {
  Result<LineReader> reader = LineReader::open(path);
  EXPECT_TRUE(reader.ok()) << reader.message();
  return std::move(*reader);
}

/// The next line, or what there is in its place.
std::string next(LineReader &reader) {
  Result<std::optional<std::string>> line = reader.next();
  if (!line.ok())
    return "failure: " + line.message();
  return *line ? **line : "end";
}

} // namespace

TEST(LineReaderTest, lines_and_their_ends) {
  TemporaryFile file("a\r\n\n b\nlast");
  LineReader reader = open(file.path());
  for (const char *line : {"a", "", " b", "last", "end", "end"})
    EXPECT_EQ(next(reader), line);
}

TEST(LineReaderTest, takes_along_what_it_has_read) {
  TemporaryFile file("a\nb\nc\n");
  LineReader first = open(file.path());
  EXPECT_EQ(next(first), "a");
  LineReader second = std::move(first);
  EXPECT_EQ(next(second), "b");
  EXPECT_EQ(second.nameOf(second.linesRead() - 1),
            "line 2 of '" + file.path() + "'");
}

TEST(LineReaderTest, remembers_the_end_when_it_moves) {
  TemporaryFile file("a\n");
  LineReader first = open(file.path());
  EXPECT_EQ(next(first), "a");
  EXPECT_EQ(next(first), "end");
  LineReader second = std::move(first);
  std::ofstream(file.path(), std::ios::app) << "b\n";
  EXPECT_TRUE(second.isReady());
  EXPECT_EQ(next(second), "end");
}
