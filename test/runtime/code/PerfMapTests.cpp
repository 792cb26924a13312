//===- PerfMapTests.cpp - Names for perf ----------------------------------===//
//
// The map of a process that ran the toy: its entries and what they call, in
// memory that no file is behind.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/run/RunToolTest.h"

#include <sys/stat.h>

using namespace heddle::test;

using PerfMapTest = RunToolTest;

TEST_F(PerfMapTest, names_entries_and_kernels) {
  // The shell's number is the tool's.
  Outcome outcome = runScript("export HEDDLE_PERF_MAP=1\n"
                              "bash -c 'echo $$ >number; exec \"$0\" toy --ids "
                              "1' \"$run\"\n"
                              "map=/tmp/perf-$(<number).map\n"
                              "cat \"$map\" >map\n"
                              "rm \"$map\"\n");
  EXPECT_EQ(outcome.output, answers({{1}}, true)) << outcome.errors;
  std::string map = "\n" + read("map");
  for (const char *name : {"encode", "shortlist_step", "step_rows"}) {
    size_t end = map.find(" " + std::string(name) + "\n");
    ASSERT_NE(end, std::string::npos) << name << " in" << map;
    size_t begin = map.rfind('\n', end) + 1;
    unsigned long long address = 0, size = 0;
    EXPECT_EQ(sscanf(map.c_str() + begin, "%llx %llx ", &address, &size), 2);
    EXPECT_GT(address, 0x10000u);
    EXPECT_GT(size, 1u);
    EXPECT_LT(size, 0x10000u);
  }
}

TEST_F(PerfMapTest, nothing_without_request) {
  for (const char *value : {"unset HEDDLE_PERF_MAP", "export HEDDLE_PERF_MAP=",
                            "export HEDDLE_PERF_MAP=0"})
    EXPECT_EQ(runScript(value + std::string("\n") +
                        "bash -c 'echo $$ >number; exec \"$0\" toy --ids "
                        "1' \"$run\" >answer\n"
                        "ls /tmp/perf-$(<number).map\n")
                  .output,
              "");
}

TEST_F(PerfMapTest, never_through_a_link) {
  // What another user left under the name of the map is replaced.
  Outcome outcome = runScript(
      "export HEDDLE_PERF_MAP=1\n"
      "echo precious >target\n"
      "bash -c 'ln -s \"$PWD/target\" /tmp/perf-$$.map; echo $$ >number; exec "
      "\"$0\" toy --ids 1' \"$run\"\n"
      "[ ! -L /tmp/perf-$(<number).map ] && rm /tmp/perf-$(<number).map\n");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(read("target"), "precious\n");
}
