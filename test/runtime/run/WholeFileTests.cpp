//===- WholeFileTests.cpp - A file that is there whole or not at all ------===//

#include "tools/WholeFile.h"

#include "test/runtime/ArtifactBuilder.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {

class WholeFileTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "heddle-whole-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder += "/";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  size_t countFiles() const {
    std::filesystem::directory_iterator files(folder);
    return size_t(std::distance(begin(files), end(files)));
  }

  std::string folder;
};

TEST_F(WholeFileTest, follows_links) {
  std::filesystem::create_directory(folder + "there");
  std::filesystem::create_symlink("there/second", folder + "first");
  std::filesystem::create_symlink("../file", folder + "there/second");
  for (const char *text : {"new", "newer"}) {
    ASSERT_TRUE(writeWholeFile(folder + "first", text).ok());
    EXPECT_EQ(readFile(folder + "file"), text);
    EXPECT_TRUE(std::filesystem::is_symlink(folder + "first"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder + "there/second"));
  }
  EXPECT_EQ(countFiles(), 3u);
  std::filesystem::create_symlink("round", folder + "round");
  EXPECT_FALSE(writeWholeFile(folder + "round", "text").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "round"));
}

TEST_F(WholeFileTest, names_may_be_as_long_as_the_system_has_them) {
  for (size_t size : {1, 247, 248, 249, 255}) {
    std::string path = folder + std::string(size, 'q');
    ASSERT_TRUE(writeWholeFile(path, "text").ok()) << size;
    EXPECT_EQ(readFile(path), "text");
  }
  std::string letters;
  for (int i = 0; i < 85; ++i)
    letters += "\u6c49";
  EXPECT_TRUE(writeWholeFile(folder + letters, "text").ok());
  EXPECT_EQ(writeWholeFile(folder + std::string(256, 'q'), "text").message(),
            "cannot write '" + folder + std::string(256, 'q') +
                "': File name too long");
  EXPECT_EQ(countFiles(), 6u);
}

TEST_F(WholeFileTest, pipes_and_devices_receive_it) {
  std::string pipe = folder + "pipe", text(200'000, 'x'), read;
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(checkWritable(pipe).ok());
  // With a folder of temporary files, and without one.
  const char *before = getenv("TMPDIR");
  std::string kept = before ? before : "";
  for (const char *temporary : {folder.c_str(), "/none"}) {
    setenv("TMPDIR", temporary, /*overwrite=*/1);
    std::thread reader([&] { read = readFile(pipe); });
    EXPECT_TRUE(writeWholeFile(pipe, text).ok());
    reader.join();
    EXPECT_EQ(read, text);
  }
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));

  EXPECT_TRUE(writeWholeFile("/dev/null", text).ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(writeWholeFile("/dev/full", text).message(),
            "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(WholeFileTest, standard_output_is_named) {
  int before = dup(STDOUT_FILENO);
  fflush(stdout);
  close(STDOUT_FILENO);
  std::string sentence = writeWholeFile("-", "text").message();
  dup2(before, STDOUT_FILENO);
  close(before);
  EXPECT_EQ(sentence, "cannot write standard output: Bad file descriptor");
}

TEST_F(WholeFileTest, a_file_has_the_mode_that_the_umask_leaves) {
  mode_t before = umask(027);
  Result<WholeFile> file =
      WholeFile::create(folder + "file", WholeFile::Kind::Binary, 0777);
  umask(before);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->keep().ok());
  EXPECT_EQ(std::filesystem::status(folder + "file").permissions(),
            std::filesystem::perms(0750));
}

TEST_F(WholeFileTest, open_files_go_on) {
  std::string path = folder + "file";
  int file = open(path.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(write(file, "one ", 4), 4);
  EXPECT_TRUE(writeWholeFile("/dev/fd/" + std::to_string(file), "two ").ok());
  ASSERT_EQ(write(file, "three", 5), 5);
  close(file);
  EXPECT_EQ(readFile(path), "one two three");
  EXPECT_EQ(writeWholeFile("/dev/fd/" + std::to_string(file), "x").message(),
            "cannot write '/dev/fd/" + std::to_string(file) +
                "': Bad file descriptor");
}

TEST_F(WholeFileTest, leaves_nothing_that_is_not_kept) {
  std::string path = folder + "file";
  EXPECT_TRUE(checkWritable(path).ok());
  {
    ASSERT_TRUE(WholeFile::create(path).ok());
  }
  EXPECT_EQ(countFiles(), 0u);
  EXPECT_EQ(checkWritable(folder).message(),
            "cannot write '" + folder + "': it is not a regular file");
  EXPECT_EQ(checkWritable("/none/file").message(),
            "cannot write '/none/file': No such file or directory");
}

} // namespace
