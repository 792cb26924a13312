//===- RunMistakesTests.cpp - What a person may type at first -------------===//
//
// Command lines that other tools take, or that lack a sign: none may be
// translated as if it were text, and each is answered by what was meant.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

#include <filesystem>
#include <sys/stat.h>

using namespace heddle::test;

namespace {
class RunMistakesTest : public RunToolTest {};
} // namespace

TEST_F(RunMistakesTest, flags_with_one_dash) {
  const char *text = "text that begins with - must follow a '--'";
  auto expect = [&](const std::string &arguments, const std::string &flag,
                    const std::string &note) {
    expectUsageError("text " + arguments,
                     "unknown flag '" + flag + "' (" + note + text + ")");
  };
  expect("-b 4", "-b", "is '--beam', '--batch' or '--bad-words' meant? ");
  expect("-b4 cafe", "-b4", "is '--beam', '--batch' or '--bad-words' meant? ");
  expect("-w=2 cafe", "-w=2", "is '--word-penalty' or '--workers' meant? ");
  expect("-beam 4 cafe", "-beam", "is '--beam' meant? ");
  expect("-bach=4", "-bach=4", "is '--batch' meant? ");
  expect("-t 4", "-t", "heddle-run --help lists all; ");
  expect("-4", "-4", "");
  expect("'-5 degrees'", "-5 degrees", "");
  expect("-i letters.txt", "-i",
         "lines are read from standard input: heddle-run FILE <letters.txt; ");
  expect("-o=answers", "-o=answers",
         "answers go to standard output: heddle-run FILE >answers.txt; ");
  expectUsageError(
      "-m text cafe",
      "unknown flag '-m' (the model's file is the first argument: "
      "heddle-run FILE; text that begins with - must follow a '--')");
}

TEST_F(RunMistakesTest, flags_with_two_dashes) {
  for (auto [flag, note] :
       {std::pair("--bach", "is '--batch' meant?"),
        std::pair("--bacth", "is '--batch' meant?"),
        std::pair("--beam-size", "is '--beam' meant?"),
        std::pair("--num_beams", "is '--beam' meant?"),
        std::pair("--max_length", "is '--max-length' meant?"),
        std::pair("--temp", "is '--temperature' meant?"),
        std::pair("--cpu-threads", "is '--threads' meant?"),
        std::pair("--Beam", "is '--beam' meant?"),
        std::pair("--BEAM", "is '--beam' meant?"),
        std::pair("--MAX_LENGTH", "is '--max-length' meant?"),
        std::pair("--dtype", "it is a flag of heddle-compile: the artifact has "
                             "what it decides"),
        std::pair("--target", "it is a flag of heddle-compile: the artifact "
                              "has what it decides"),
        std::pair("--quiet", "errors and warnings are all that is said beside "
                             "the answers"),
        std::pair("--n-gram", "text that begins with - must follow a '--'"),
        std::pair("--fp16", "text that begins with - must follow a '--'"),
        std::pair("---", "text that begins with - must follow a '--'"),
        std::pair("--input", "lines are read from standard input: heddle-run "
                             "FILE <letters.txt")})
    expectUsageError(std::string("text ") + flag + " 4",
                     std::string("unknown flag '") + flag + "' (" + note + ")");
  expectUsageError("text --scores=yes cafe",
                   "--scores takes no value, found 'yes'");
  // As pages of the web have them.
  expectUsageError(
      "text \u2014beam 4",
      "'\u2014beam' begins with a typographic dash, expected '--beam'");
  expectUsageError(
      "text \u2013\u2013beam=4 cafe",
      "'\u2013\u2013beam=4' begins with a typographic dash, expected "
      "'--beam=4'");
}

TEST_F(RunMistakesTest, flags_in_place_of_values) {
  auto expect = [&](const char *arguments, const char *flag, const char *next) {
    expectUsageError(std::string("text ") + arguments,
                     std::string(flag) + " needs a value, found the flag '" +
                         next + "'");
  };
  expect("--batch --scores cafe", "--batch", "--scores");
  expect("--prefix --scores cafe", "--prefix", "--scores");
  expect("--device --beam=2 cafe", "--device", "--beam=2");
  expect("--suppress -h cafe", "--suppress", "-h");
  // What is no flag is a value: a name, a number.
  write("-names", "");
  EXPECT_EQ(run("text --bad-words -names cafe").exitCode, 0);
  expectUsageError("text --batch -3 cafe",
                   "--batch has the value '-3', expected a number from 1 to "
                   "4096");
  EXPECT_EQ(run("text --prefix=--scores cafe").exitCode, 1);
}

TEST_F(RunMistakesTest, other_files_in_place_of_the_artifact) {
  std::filesystem::create_directory(folder + "/folder");
  expectError("folder cafe", "'folder' is a directory, expected an artifact");
  write("folder/config.json", "{}");
  const char *compile = "is a folder of a model, expected an artifact: "
                        "heddle-compile folder -o FILE writes one";
  expectUsageError("folder cafe", std::string("'folder' ") + compile);
  std::filesystem::remove(folder + "/folder/config.json");
  for (const char *name : {"model.bin", "model.npz", "model.int8.alphas.bin"}) {
    write(std::string("folder/") + name, "");
    expectUsageError("folder cafe", std::string("'folder' ") + compile);
    std::filesystem::remove(folder + "/folder/" + name);
  }
}

TEST_F(RunMistakesTest, texts_that_begin_with_a_dash) {
  std::string answer = run("text cafe").output;
  EXPECT_EQ(run("text -- -cafe --cafe -").exitCode, 0);
  EXPECT_EQ(run("text -- cafe").output, answer);
  // A dash and a space begin speech.
  for (const char *speech : {"'- cafe'", "'-- cafe'", "'\u2014 beam'"})
    EXPECT_EQ(run(std::string("text ") + speech).exitCode, 0) << speech;
}

TEST_F(RunMistakesTest, texts_that_name_files) {
  write("letters.txt", "cafe\n");
  write("my letters", "cafe\n");
  std::filesystem::create_directory(folder + "/letters");
  ASSERT_EQ(mkfifo((folder + "/fifo").c_str(), 0600), 0);
  auto sentence = [](const std::string &name, const std::string &kind,
                     const std::string &use) {
    return "'" + name + "' is a " + kind +
           ", but texts are read as they stand: expected heddle-run " + use +
           " (the text '" + name + "' must follow a '--')";
  };
  expectUsageError("text letters.txt",
                   sentence("letters.txt", "file", "text <letters.txt"));
  expectUsageError("text cafe ./letters.txt",
                   sentence("./letters.txt", "file", "text <./letters.txt"));
  expectUsageError("text 'my letters'",
                   sentence("my letters", "file", "text <my letters"));
  expectUsageError("text fifo", sentence("fifo", "file", "text <fifo"));
  expectUsageError("text letters", sentence("letters", "folder", "text <FILE"));
  expectUsageError("text /dev/stdin",
                   sentence("/dev/stdin", "file", "text </dev/stdin"));
  expectUsageError(
      "letters.txt toy",
      "'toy' is an artifact, expected one artifact, before all texts "
      "('letters.txt' stands there)");
  expectUsageError(
      "toy text cafe",
      "'text' is an artifact, expected one artifact, before all texts "
      "('toy' stands there)");
  std::string answer = run("text cafe").output;
  EXPECT_EQ(run("text < letters.txt").output, answer);
  EXPECT_EQ(run("text -- letters").exitCode, 0);
  write("cafe", "");
  EXPECT_EQ(run("text -- cafe").output, answer);
  EXPECT_EQ(run("text cafe --").exitCode, 2);
}

TEST_F(RunMistakesTest, standard_input_by_name) {
  std::string answer = run("text cafe").output;
  EXPECT_EQ(run("text -", "cafe\n").output, answer);
  EXPECT_EQ(run("text - --batch 2", "cafe\n").output, answer);
  for (const char *texts : {"- cafe", "cafe -", "- -- cafe"})
    expectUsageError(
        std::string("text ") + texts,
        "'-' is standard input, which is read if no text is given, but 'cafe' "
        "is given (the text '-' must follow a '--')");
  expectUsageError("-", "standard input is no model, expected heddle-run FILE");
  expectUsageError("text --info -", "--info takes no text, found '-'");
  for (const char *flag : {"--prefix", "--bad-words", "--hidden", "--score"})
    expectUsageError(std::string("text ") + flag + " -",
                     std::string(flag) + " has the value '-', expected a file "
                                         "(one of that name is ./-)");
  expectUsageError("text --profile=- cafe", "--profile has the value '-', "
                                            "expected a file (one of that name "
                                            "is ./-)");
}
