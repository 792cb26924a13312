//===- RunWorkersTests.cpp - heddle-run --workers, --threads from outside -===//
//
// Whatever the number of workers and of their threads, the tool does what it
// does with one: the same bytes, the same errors, the same ends. Runs under
// ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

#include "runtime/threads/AvailableCores.h"

#include <algorithm>

using namespace heddle::test;

namespace {
using RunWorkersTest = RunToolTest;
} // namespace

TEST_F(RunWorkersTest, same_bytes_for_every_number) {
  std::vector<Ids> sources = toySources(150);
  std::string input = idLines(sources) + "\n\n1 2\n";
  std::string expected =
      answers(sources, /*shortlist=*/true) + "\n\n" + answers({{1, 2}}, true);
  for (const char *workers : {"1", "2", "3", "8", "256"})
    for (const char *batch : {"1", "4", "16"}) {
      Outcome outcome = run(std::string("toy --ids --workers ") + workers +
                                " --batch " + batch,
                            input);
      EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
      EXPECT_EQ(outcome.output, expected) << workers << " " << batch;
      EXPECT_EQ(outcome.errors, "");
    }
}

TEST_F(RunWorkersTest, same_bytes_for_every_number_of_threads) {
  std::vector<Ids> sources = toySources(150);
  for (const char *flags : {"--threads 2", "--threads 5 --batch 3",
                            "--threads 3 --workers 2", "--threads=256"}) {
    Outcome outcome = run(std::string("toy --ids ") + flags, idLines(sources));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, answers(sources, true)) << flags;
    EXPECT_EQ(
        run(std::string("toy --ids --no-shortlist ") + flags, idLines(sources))
            .output,
        answers(sources, false))
        << flags;
  }
}

TEST_F(RunWorkersTest, text_and_arguments) {
  std::string input;
  for (int i = 0; i < 40; ++i)
    input += std::string("cafe\n\nbad\nabcdefg\n").substr(i % 5);
  EXPECT_EQ(run("text --batch 2 --workers 3", input).output,
            run("text", input).output);
  EXPECT_EQ(run("toy --ids --workers 3 --batch 1 '1 2' '' 3").output,
            run("toy --ids '1 2' '' 3").output);
  EXPECT_EQ(run("toy --ids --workers=4", "").output, "");
}

TEST_F(RunWorkersTest, lines_that_are_wrong) {
  for (size_t before : {0, 1, 2, 17, 64}) {
    std::vector<Ids> sources = toySources(before);
    for (const char *flags : {" --batch 1", " --batch 3", ""}) {
      std::string where =
          "line " + std::to_string(before + 1) + " of standard input ";
      std::string arguments = "toy --ids --workers 4" + std::string(flags);
      expectError(arguments,
                  where + "has 'x', expected token ids separated by spaces",
                  idLines(sources) + "x\n1 2\ny\n");
      EXPECT_EQ(read("output"), answers(sources, true)) << arguments;
      expectError(arguments,
                  where + "has 10 tokens but the model has positions for 9",
                  idLines(sources) + "1 1 1 1 1 1 1 1 1 1\n9\n");
      EXPECT_EQ(read("output"), answers(sources, true)) << arguments;
    }
  }
}

TEST_F(RunWorkersTest, files_that_say_something_of_targets) {
  std::vector<Ids> sources = toySources(40);
  std::string prefixes;
  for (size_t i = 0; i < sources.size(); ++i)
    prefixes += i % 3 ? "\n" : "4 5\n";
  write("prefixes", prefixes);
  std::string expected =
      run("toy --ids --workers 1 --batch 1 --prefix prefixes", idLines(sources))
          .output;
  EXPECT_EQ(expected.find("4 5 "), 0u);
  for (const char *flags : {"", " --workers 3", " --workers 2 --batch 3"})
    EXPECT_EQ(run("toy --ids --prefix prefixes" + std::string(flags),
                  idLines(sources))
                  .output,
              expected)
        << flags;
  auto expectAfter = [&](const std::string &file, size_t answered,
                         const std::string &sentence) {
    write("prefixes", file);
    expectError("toy --ids --workers 2 --prefix prefixes", sentence,
                "1 2\n3\n4\n");
    std::string printed = read("output");
    EXPECT_EQ(size_t(std::count(printed.begin(), printed.end(), '\n')),
              answered);
  };
  expectAfter("4\n5\n", 2,
              "line 2 of 'prefixes' is the last, but the input has more lines");
  expectAfter("", 0, "'prefixes' has no line, but the input has lines");
  expectAfter("4\n5\n\n4\n", 3,
              "line 4 of 'prefixes' belongs to no line of input");
  expectAfter("4\nx\n5\n", 1,
              "line 2 of 'prefixes' has 'x', expected token ids separated by "
              "spaces");
  expectAfter("4\n11\n5\n", 1,
              "line 2 of 'prefixes' has the id 11 but the vocabulary has 11");
  write("prefixes", "4\n5\n\n");
  expectError("toy --ids --workers 2 --prefix prefixes",
              "line 2 of standard input is empty, but line 2 of 'prefixes' has "
              "a target for it",
              "1\n\n\n");
}

TEST_F(RunWorkersTest, output_that_cannot_be_written) {
  std::string input = idLines(toySources(100));
  for (const char *flags : {" --batch 1", ""}) {
    std::string arguments = "toy --ids --workers 3" + std::string(flags);
    expectError(arguments + " > /dev/full",
                "cannot write standard output: No space left on device", input);
    expectError(arguments + " >&-",
                "cannot write standard output: Bad file descriptor", input);
  }
  // A reader that leaves an input without an end.
  Outcome outcome = runScript("yes 1 2 3 | $run toy --ids --workers 3 | head "
                              "-1\necho ${PIPESTATUS[1]}\n");
  EXPECT_EQ(outcome.output, answers({{1, 2, 3}}, true) + "1\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(RunWorkersTest, failure_does_not_wait_for_input) {
  // Without an end token the one sentence takes long enough for another worker
  // to wait for the next, which the script holds back.
  nlohmann::json manifest = toyManifest();
  manifest["tasks"]["generate"]["suppress"] = {kToyEos};
  write("long", toyArtifact(manifest).build());
  Outcome outcome = runScript("mkfifo pipe\n"
                              "exec 3<>pipe\n"
                              "echo 1 2 >&3\n"
                              "timeout 60 $run long --ids --workers 3 --batch "
                              "1 --max-length 5000 < pipe > /dev/full\n");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.errors, "heddle-run: error: cannot write standard "
                            "output: No space left on device\n");
}

TEST_F(RunWorkersTest, answers_before_the_next_line_comes) {
  Outcome outcome =
      // The rest of a line may be long in coming, too.
      runScript("coproc tool { $run toy --ids --workers 3; }\n"
                "for line in '1 2' 3 '' '4 5 6' 7; do\n"
                "  echo \"$line\" >&${tool[1]}\n"
                "  read -r -t 60 answer <&${tool[0]} || exit 3\n"
                "  echo \"$answer\"\n"
                "done\n"
                "printf '8\\n1 2' >&${tool[1]}\n"
                "read -r -t 60 answer <&${tool[0]} || exit 3\n"
                "echo \"$answer\"\n");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output, answers({{1, 2}, {3}}, true) + "\n" +
                                answers({{4, 5, 6}, {7}, {8}}, true));
}

#if !__has_feature(thread_sanitizer) // Which has a thread of its own.
TEST_F(RunWorkersTest, as_many_as_cores) {
  auto threadsOf = [&](const std::string &before, const std::string &flags) {
    Outcome outcome =
        runScript("coproc tool { exec " + before + " $run toy --ids " + flags +
                  "; }\n"
                  "echo 1 2 >&${tool[1]}\n"
                  "read -r -t 60 answer <&${tool[0]} || exit 3\n"
                  "sed -n 's/^Threads:\t//p' /proc/$tool_PID/status\n");
    return outcome.exitCode == 0 ? std::stoll(outcome.output) : -1;
  };
  int64_t cores = heddle::availableCores();
  EXPECT_EQ(threadsOf("", ""), cores);
  EXPECT_EQ(threadsOf("", "--workers 5"), 5);
  EXPECT_EQ(threadsOf("", "--workers 2 --threads 3"), 6);
  EXPECT_EQ(threadsOf("", "--threads 256"), 256);
  // The first core that this process may use.
  EXPECT_EQ(threadsOf("taskset -c $(taskset -cp $$ | sed 's/.*: "
                      "\\([0-9]*\\).*/\\1/')",
                      ""),
            1);
}
#endif

#if !__has_feature(thread_sanitizer) // Which takes all of the address space.
TEST_F(RunWorkersTest, threads_that_nobody_has) {
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer needs all addresses";
#endif
  // Stacks of 8 MB in 500 MB of addresses.
  Outcome outcome = runScript("ulimit -s 8192 -v 500000\n"
                              "yes 1 | $run toy --ids --workers 256\n");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.errors.find("heddle-run: error: cannot start worker "), 0u)
      << outcome.errors;
  EXPECT_NE(outcome.errors.find(" of 256: Resource temporarily unavailable\n"),
            std::string::npos)
      << outcome.errors;
  // Where nobody asked for them by name, those that can be had do it.
  outcome = runScript("ulimit -s 400000 -v 500000\n"
                      "printf '1 2\\n3\\n' | $run toy --ids\n");
  EXPECT_EQ(outcome.output, answers({{1, 2}, {3}}, true)) << outcome.errors;
  outcome = runScript("ulimit -s 8192 -v 500000\n"
                      "$run toy --ids --threads 256 1\n");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.errors.find("heddle-run: error: cannot start thread "), 0u)
      << outcome.errors;
}
#endif
