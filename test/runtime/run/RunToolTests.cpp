//===- RunToolTests.cpp - heddle-run from outside -------------------------===//
//
// Runs the tool itself on the toy artifact: what it prints, what it says when
// something is wrong, and that this is always one sentence and exit code 1.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <sstream>

using namespace heddle::test;
using nlohmann::json;

TEST_F(RunToolTest, ids_in_order_for_every_batch) {
  std::vector<Ids> sources = toySources(50);
  for (const char *flags : {"", " --batch 1", " --batch=7", " --verify"}) {
    Outcome outcome = run(std::string("toy --ids") + flags, idLines(sources));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, answers(sources, /*shortlist=*/true));
    EXPECT_EQ(outcome.errors, "");
  }
  EXPECT_EQ(run("--no-shortlist --ids toy", idLines(sources)).output,
            answers(sources, /*shortlist=*/false));
}

TEST_F(RunToolTest, lines_of_all_kinds) {
  std::string one = answers({{1, 2}}, true);
  EXPECT_EQ(run("toy --ids", "1 2").output, one);
  EXPECT_EQ(run("toy --ids", " 1\t2 \r\n").output, one);
  EXPECT_EQ(run("toy --ids", "\n1 2\n  \n").output, "\n" + one + "\n");
  EXPECT_EQ(run("toy --ids", "").output, "");
  EXPECT_EQ(run("toy --ids '1 2' ''").output, one + "\n");
  EXPECT_EQ(run("toy --ids -- '1 2'").output, one);
  EXPECT_EQ(run("toy --ids --max-length 1 '1 2'").output.size(), 2u);
  // Twelve ids and no end before the last.
  std::string longest = run("toy --ids --min-length=12 '1 2'").output;
  EXPECT_EQ(std::count(longest.begin(), longest.end(), ' '), 11);
}

TEST_F(RunToolTest, text_in_text_out) {
  // "cafe" is 4 2 7 6 0 in the source table; output ids become capitals,
  // or the end of a line, which must not end a line here.
  Ids source = {4, 2, 7, 6, 0};
  Ids generated = toyGreedy(source, toyManifest()["tasks"]["generate"], 12,
                            toyCandidates(source));
  std::string expected;
  for (int32_t id : generated)
    if (id > 1)
      expected += "._ABCD FGHI"[id];
  EXPECT_EQ(expected, "GB ");
  EXPECT_EQ(run("text", "cafe\n").output, expected + "\n");
  EXPECT_EQ(run("text cafe ''").output, expected + "\n\n");
  EXPECT_EQ(run("text", "cafe\n\ncafe\n").output,
            expected + "\n\n" + expected + "\n");
  EXPECT_EQ(run("text", std::string("\xFF\0\x80\n", 4)).exitCode, 0);
}

TEST_F(RunToolTest, information) {
  Outcome outcome = run("toy --info --verify");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  for (const char *part :
       {"toy (hash)", "heddle 0.1.0", "x86-64-v3", "9 source, 11 target",
        "start -1, end 0, at most 12, source positions 9", "code.x86-64-v3",
        "98.3 kB", "decode.step (rows, batch, capacity)",
        "i32 [rows, capacity]"})
    EXPECT_NE(outcome.output.find(part), std::string::npos) << part;
  EXPECT_EQ(run("--help").output.find("usage: heddle-run FILE"), 0u);
  EXPECT_EQ(run("--version").output, "heddle-run 0.1.0\n");
}

TEST_F(RunToolTest, memory_of_decoding) {
  auto memoryOf = [this](const std::string &flags) {
    std::string text = run(flags).output;
    size_t begin = text.find("memory of");
    return text.substr(begin, text.find("sections\n") - begin);
  };
  // At 12 positions, the most that is generated, of 4 bytes. Steps that keep
  // the same would be told of once.
  EXPECT_EQ(memoryOf("toy --info"),
            R"(memory of a sentence at 12 positions, in decode.step
  1 cache of all positions                         48 B, 4 B a position
  1 state of constant size                         4 B
  1 table of the sentence                          12 B
memory of a sentence at 12 positions, in shortlist.step
  1 cache of all positions                         48 B, 4 B a position
  1 state of constant size                         4 B
  1 table of candidates                            4 B a candidate
  1 table of the sentence                          12 B
)");

  json manifest = toyManifest();
  json &entries = manifest["entries"];
  entries.erase(entries.begin() + 5);
  entries[3]["dims"] = {"rows",     "batch",       "source",
                        "capacity", "capacity<=7", "capacity<=9"};
  json &arguments = entries[3]["arguments"];
  json state = arguments[0];
  auto add = [&](const char *name, const json &shape) {
    state["name"] = name;
    state["shape"] = shape;
    arguments.push_back(state);
  };
  add("keys", {"rows", "capacity<=7", 1000});
  add("values", {"rows", "capacity<=7", 250});
  state["pinned"] = 2;
  add("all", {"rows", "capacity<=9", 3});
  arguments[4]["shape"] = {"batch", "source", 64};
  entries[2]["arguments"][2]["shape"] = arguments[4]["shape"];
  write("rings", ArtifactBuilder()
                     .add("manifest", manifest.dump())
                     .add("code.x86-64-v3", "")
                     .build());
  EXPECT_EQ(memoryOf("rings --info"),
            R"(memory of a sentence at 12 positions, in decode.step
  2 rings of the last 7 positions                  35.0 kB
  1 ring of the first 2 and the last 7 positions   108 B
  1 cache of all positions                         48 B, 4 B a position
  1 state of constant size                         4 B
  1 table of the source's positions                256 B a position of the source
)");
  // A ring is no longer than what is asked for.
  EXPECT_NE(memoryOf("rings --info --max-length 2")
                .find("  2 rings of the last 7 positions                  "
                      "10.0 kB\n"),
            std::string::npos);
  EXPECT_EQ(memoryOf("rings --info --max-length 2")
                .find("memory of a sentence at 2 positions"),
            0u);
}

TEST_F(RunToolTest, information_needs_no_machine) {
  json manifest = toyManifest();
  manifest["isas"] = {"x86-64-v9"};
  write("other", ArtifactBuilder()
                     .add("manifest", manifest.dump())
                     .add("code.x86-64-v9", "")
                     .build());
  EXPECT_EQ(run("other --info").exitCode, 0);
  expectError("other --ids", "'other' has code for 'x86-64-v9' but this "
                             "machine runs none of them");
}

TEST_F(RunToolTest, level_that_the_environment_names) {
  setenv("HEDDLE_ISA", "amx", 1);
  expectError("toy --ids 1",
              "HEDDLE_ISA is 'amx' but 'toy' has code for 'x86-64-v3'");
  EXPECT_EQ(run("toy --info").exitCode, 0);
  setenv("HEDDLE_ISA", "x86-64-v3", 1);
  EXPECT_EQ(run("toy --ids 1").output, answers({{1}}, true));
  unsetenv("HEDDLE_ISA");
}

TEST_F(RunToolTest, command_lines_that_are_wrong) {
  expectUsageError("", "no model file is given, expected heddle-run FILE");
  expectUsageError("''", "the name of the model file is empty");
  expectUsageError("toy --beams 4",
                   "unknown flag '--beams' (is '--beam' meant?)");
  expectUsageError("toy --ids=1", "--ids takes no value, found '1'");
  expectUsageError("toy --batch", "--batch needs a value");
  for (const char *value : {"0", "-1", "1.5", "x", "''", "99999999999999999999",
                            "4097", "' 7'", "7x"}) {
    std::string text = value;
    std::string shown = text[0] == '\'' ? text : "'" + text + "'";
    expectUsageError(std::string("toy --batch ") + value,
                     "--batch has the value " + shown +
                         ", expected a number from 1 to 4096");
  }
  expectUsageError("toy --min-length -1",
                   "--min-length has the value '-1', "
                   "expected a number from 0 to 1000000");
  expectUsageError("toy --min-length 4 --max-length 3",
                   "--min-length is 4 but --max-length is 3");
  expectUsageError("toy --max-source 0",
                   "--max-source has the value '0', expected "
                   "a number from 1 to 1000000");
  expectUsageError(
      "toy --max-length=1000001",
      "--max-length has the value '1000001', expected a number from 1 "
      "to 1000000");
  for (std::string flag : {"--workers", "--threads"})
    for (std::string value : {"0", "257", "two"})
      expectUsageError("toy " + flag + " " + value,
                       flag + " has the value '" + value +
                           "', expected a number from 1 to 256" +
                           (flag == "--workers" ? ", or all" : ""));
  expectUsageError("toy --batch 2 --batch=3",
                   "--batch is given twice, as '2' and as '3'");
  expectUsageError("toy --teacher x --logits y --form step --teacher x",
                   "--teacher is given twice, as 'x' and as 'x'");
  expectUsageError("toy --profile --profile=y",
                   "--profile is given twice, as '' and as 'y'");
  expectUsageError("toy --workers 2 --teacher x --logits y",
                   "--workers is for generated text, but --teacher scores");
  expectUsageError("toy --max-memory 1M",
                   "--max-memory has the value '1M', expected a number of MiB "
                   "from 1 to 1073741824");
  expectUsageError("toy --max-memory 2 --teacher x --logits y",
                   "--max-memory is for generated text, but --teacher scores");
  expectUsageError("toy --max-memory 2 --profile",
                   "--profile measures the machine's peaks, with memory that "
                   "--max-memory does not bound");
  for (const char *flag :
       {"--min-length 3", "--max-length 3", "--no-shortlist"}) {
    std::string name = std::string(flag).substr(0, std::string(flag).find(' '));
    expectUsageError(std::string("toy --teacher x --logits y ") + flag,
                     name + " is for generated text, but --teacher scores");
  }
  expectUsageError("toy --stop=", "--stop has an empty value, expected a text");
  expectUsageError(
      "toy --form half",
      "--form has the value 'half', expected full, step or prefill");
  expectUsageError("toy --form step", "--form needs --teacher FILE");
  expectUsageError("toy --teacher x", "--teacher needs --logits FILE.npy");
  expectUsageError("toy --logits x", "--logits needs --teacher FILE");
  expectUsageError("toy --teacher=",
                   "--teacher has an empty value, expected a file");
  expectUsageError("toy --info hello", "--info takes no text, found 'hello'");
  expectError("toy hello", "'toy' has no tokenizer, expected --ids");
  expectError("'a\nb'", "cannot open 'a?b': No such file or directory");
}

TEST_F(RunToolTest, constraints_that_leave_nothing) {
  // Three and four may come once, and nothing ends.
  std::string few = "toy --ids --no-shortlist --no-repeat-ngram 1 "
                    "--suppress 0,1,2,5,6,7,8,9,10 ";
  std::string greedy = run(few, "1 2\n").output;
  EXPECT_TRUE(greedy == "3 4\n" || greedy == "4 3\n") << greedy;
  EXPECT_EQ(run(few + "--beam 2", "1 2\n").output, "\n");
  EXPECT_EQ(run(few + "--beam 2 --n-best 2", "1 2\n\n").output,
            "1 |||  ||| F0= 0 ||| 0\n");
  expectError("toy --ids --suppress 0,1,2,3,4,5,6,7,8,9,10",
              "no token may come: all 11 of the vocabulary are suppressed or "
              "bad words",
              "1 2\n");
}

TEST_F(RunToolTest, alternatives_and_scores_of_tokens) {
  std::string few = "toy --ids --no-shortlist --max-length 2 ";
  std::string lines = run(few + "--alternatives 3", "1 2\n3\n").output;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 6) << lines;
  EXPECT_EQ(lines.find("0 ||| "), 0u) << lines;
  // Scores of tokens sum up to that of a line.
  lines = run(few + "--beam 2 --n-best 1 --token-scores", "1 2\n").output;
  size_t at = lines.find("WordScores= "), end = lines.find("F0= ");
  ASSERT_NE(at, std::string::npos) << lines;
  std::istringstream scores(lines.substr(at + strlen("WordScores= ")));
  double sum = 0, score = 0;
  while (scores >> score)
    sum += score;
  EXPECT_NEAR(sum, std::stod(lines.substr(end + strlen("F0= "))), 1e-5);
  expectUsageError("toy --token-scores", "--token-scores needs --scores, "
                                         "--n-best or --alternatives");
  expectUsageError("toy --alternatives 2 --n-best 2",
                   "--alternatives gives a translation with scores for each "
                   "next token, so --n-best adds none");
  expectUsageError("toy --alternatives 2 --sample",
                   "--alternatives gives the best next tokens, but --sample "
                   "draws");
}

TEST_F(RunToolTest, only_what_a_file_allows) {
  auto usesOnly = [](const std::string &text, const std::string &ids) {
    return text.find_first_not_of(ids) == std::string::npos;
  };
  write("allowed", "3 7\n");
  std::string all = run("toy --ids --allow allowed", "1 2\n3\n").output;
  EXPECT_TRUE(usesOnly(all, "037 \n")) << all;
  write("allowed", "3\n7\n");
  all = run("toy --ids --allow allowed", "1 2\n3\n").output;
  EXPECT_TRUE(usesOnly(all.substr(0, all.find('\n')), "03 ")) << all;
  EXPECT_TRUE(usesOnly(all.substr(all.find('\n')), "07 \n")) << all;
  expectError(
      "toy --ids --workers 1 --allow allowed",
      "line 3 of standard input has no list of allowed tokens: there are 2",
      "1 2\n3\n4\n");
  expectError("toy --ids --allow allowed",
              "line 2 of 'allowed' belongs to no line of input", "1 2\n");
  write("allowed", "3 11\n");
  expectError(
      "toy --ids --allow allowed",
      "line 1 of the allowed tokens has the id 11 but the vocabulary has 11",
      "1 2\n");
  write("nothing", "");
  expectError(
      "toy --ids --allow nothing",
      "'nothing' has no line, expected words or ids that targets may contain",
      "1\n");
}

TEST_F(RunToolTest, numbers_beyond_what_scores_hold) {
  auto expectLimits = [this](const std::string &flag, const std::string &value,
                             const std::string &limits) {
    expectUsageError("toy " + flag + " " + value,
                     flag.substr(flag.rfind("--")) + " has the value '" +
                         value + "', expected a number from " + limits);
  };
  const std::string most = " to 3.40282e+38";
  for (const char *value : {"1e308", "1e39", "1e999"}) {
    expectLimits("--sample --temperature", value, "0" + most);
    expectLimits("--length-penalty", value, "-3.40282e+38" + most);
    expectLimits("--repetition-penalty", value, "1.17549e-38" + most);
    expectLimits("--sample --top-p", value, "0 to 1");
  }
  expectLimits("--length-penalty", "-1e39", "-3.40282e+38" + most);
  expectLimits("--repetition-penalty", "1e-39", "1.17549e-38" + most);
}

TEST_F(RunToolTest, lines_that_are_wrong) {
  std::string first = "1 2\n3 4\n";
  std::string answered = answers({{1, 2}, {3, 4}}, true);
  auto expectAfterTwo = [&](const std::string &line,
                            const std::string &sentence) {
    expectError("toy --ids", sentence, first + line + "\n1\n");
    // What came before is not lost.
    EXPECT_EQ(read("output"), answered);
  };
  expectAfterTwo("1 x2", "line 3 of standard input has 'x2', expected token "
                         "ids separated by spaces");
  expectAfterTwo("1 2147483648",
                 "line 3 of standard input has '2147483648', expected token "
                 "ids separated by spaces");
  expectAfterTwo(std::string(5000, 'y'),
                 "line 3 of standard input has '" + std::string(32, 'y') +
                     "', expected token ids separated by spaces");
  expectAfterTwo("9", "line 3 of standard input has the id 9 but the "
                      "vocabulary has 9");
  expectAfterTwo("-1", "line 3 of standard input has the id -1 but the "
                       "vocabulary has 9");
  expectAfterTwo("1 1 1 1 1 1 1 1 1 1", "line 3 of standard input has 10 "
                                        "tokens but the model has positions "
                                        "for 9");
  expectAfterTwo(std::string(3 << 20, '1'),
                 "line 3 of standard input is longer than 1048576 bytes");
  expectError("toy --ids 7 x", "text 2 has 'x', expected token ids separated "
                               "by spaces");
  expectError("toy --ids < .", "cannot read standard input: Is a directory");
}

TEST_F(RunToolTest, lines_that_are_too_long) {
  auto refused = [](const char *limit) {
    return "line 2 of standard input has 4 tokens, expected at most " +
           std::string(limit) + " (--max-source N admits more)";
  };
  std::string lines = "1 2\n1 2 3 4\n";
  std::string all = answers({{1, 2}, {1, 2, 3, 4}}, true);
  expectError("toy --ids --max-source 3", refused("3"), lines);
  EXPECT_EQ(read("output"), answers({{1, 2}}, true));
  EXPECT_EQ(run("toy --ids --max-source=4", lines).output, all);
  // The model's own limit, and its positions, which no flag moves.
  json manifest = toyManifest();
  manifest["tasks"]["generate"]["max_source_length"] = 2;
  manifest["source"]["positions"] = 5;
  write("short", toyArtifact(manifest).build());
  expectError("short --ids", refused("2"), lines);
  EXPECT_EQ(run("short --ids --max-source 5", lines).output, all);
  expectError("short --ids --max-source 9",
              "line 1 of standard input has 6 tokens but the model has "
              "positions for 5",
              "1 2 3 4 5 6\n");
  write("targets", "1\n1\n");
  expectError("short --ids --teacher targets --logits a.npy", refused("2"),
              lines);
  EXPECT_NE(run("short --info")
                .output.find("source at most 2, source "
                             "positions 5"),
            std::string::npos);
}

TEST_F(RunToolTest, output_that_cannot_be_written) {
  expectError("toy --ids > /dev/full",
              "cannot write standard output: No space left on device", "1 2\n");
  expectError("toy --info > /dev/full",
              "cannot write standard output: No space left on device");
  expectError("toy --ids >&-",
              "cannot write standard output: Bad file descriptor", "1 2\n");
  // A reader that leaves is no error to talk about, but not a success either.
  std::string lines;
  for (int i = 0; i < 20000; ++i)
    lines += "1 2 3\n";
  write("lines", lines);
  Outcome outcome = runScript("$run toy --ids < lines | head -1\n"
                              "echo ${PIPESTATUS[0]}\n");
  EXPECT_EQ(outcome.output, answers({{1, 2, 3}}, true) + "1\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(RunToolTest, teacher_writes_the_logits_of_both_forms) {
  std::vector<Ids> sources = toySources(10);
  std::vector<Ids> targets = toySources(11);
  targets.erase(targets.begin());
  targets[2].clear();
  size_t longest = 0;
  for (const Ids &target : targets)
    longest = std::max(longest, target.size());
  write("targets", idLines(targets));
  for (const char *flags :
       {"", " --form full --batch 3", " --form step", " --form=step --batch 3",
        " --form step --threads 3"}) {
    Outcome outcome =
        run("toy --ids --teacher targets --logits a.npy" + std::string(flags),
            idLines(sources));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    std::string bytes = read("a.npy");
    size_t cells = sources.size() * longest;
    std::vector<float> values(cells * kToyTargetVocabulary);
    ASSERT_EQ(bytes.size(), 128 + values.size() * sizeof(float));
    EXPECT_NE(bytes.find("(10, " + std::to_string(longest) + ", 11)"),
              std::string::npos);
    std::memcpy(values.data(), bytes.data() + 128,
                values.size() * sizeof(float));
    for (size_t cell = 0; cell < cells; ++cell) {
      const Ids &target = targets[cell / longest];
      size_t position = cell % longest;
      auto begin = values.begin() + cell * kToyTargetVocabulary;
      std::vector<float> logits(begin, begin + kToyTargetVocabulary);
      if (position < target.size())
        EXPECT_EQ(logits,
                  toyLogits(sources[cell / longest],
                            Ids(target.begin(), target.begin() + position)));
      else
        for (float value : logits)
          EXPECT_NE(value, value); // NaN
    }
    std::filesystem::remove(folder + "/a.npy");
  }
}

TEST_F(RunToolTest, interrupted_logits_leave_no_file) {
  write("targets", "1 2\n3\n");
  // A shell's background jobs ignore SIGINT unless they are told otherwise.
  Outcome outcome = runScript(
      "mkfifo lines\n"
      "for signal in HUP INT TERM; do\n"
      "  env --default-signal $run toy --ids --teacher targets "
      "--logits a.npy <lines &\n"
      "  exec 3>lines\n"
      "  until compgen -G 'a.npy.*' >created; do sleep 0.01; done\n"
      "  kill -$signal $!\n"
      "  wait $!\n"
      "  echo $?\n"
      "  exec 3>&-\n"
      "  compgen -G 'a.npy*'\n"
      "done 2>/dev/null\n"
      // Where the caller ignores a signal, so does the tool.
      "(trap '' TERM; exec $run toy --ids --teacher targets --logits a.npy "
      "<lines) &\n"
      "exec 3>lines\n"
      "until compgen -G 'a.npy.*' >created; do sleep 0.01; done\n"
      "kill -TERM $!\n"
      "printf '1\\n2\\n' >&3\n"
      "exec 3>&-\n"
      "wait $!\n"
      "echo $? a.npy*\n");
  EXPECT_EQ(outcome.output, "129\n130\n143\n0 a.npy\n") << outcome.errors;
}

TEST_F(RunToolTest, logits_larger_than_a_file_may_be) {
  write("targets", "1\n" + idLines({Ids(1000, 1)}));
  write("lines", "1\n2\n");
  Outcome outcome = runScript("ulimit -f 64\n"
                              "$run toy --ids --teacher targets "
                              "--logits a.npy <lines\n"
                              "echo $?\n"
                              "compgen -G 'a.npy*'\n");
  EXPECT_EQ(outcome.output, "1\n");
  EXPECT_EQ(outcome.errors,
            "heddle-run: error: cannot write 'a.npy': File too large\n");
}

TEST_F(RunToolTest, teachers_that_are_wrong_leave_no_file) {
  write("targets", "1 2\n3\n");
  std::string flags = "toy --ids --teacher targets --logits a.npy";
  expectError(flags,
              "'targets' has 2 lines of targets but the input has 1 lines",
              "1\n");
  expectError(flags,
              "'targets' has 2 lines of targets but the input has 3 lines",
              "1\n2\n3\n");
  expectError(flags + " --batch 1",
              "'targets' has 2 lines of targets but the input has at least 3 "
              "lines",
              "1\n2\n3\n4\n");
  expectError(flags, "line 2 of the input has no token", "1\n\n");
  expectError(flags,
              "line 2 of standard input has '!', expected token ids "
              "separated by spaces",
              "1\n!\n");
  expectError("toy --ids --teacher absent --logits a.npy",
              "cannot open 'absent': No such file or directory");
  write("targets", "1 2\n11\n");
  expectError(flags, "line 2 of 'targets' has the id 11 but the vocabulary "
                     "has 11");
  write("targets", "1\n");
  expectError("toy --ids --teacher targets --logits no/a.npy 1",
              "cannot write 'no/a.npy': No such file or directory");
  size_t left = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    left += entry.path().string().find(".npy") != std::string::npos;
  EXPECT_EQ(left, 0u);
}
