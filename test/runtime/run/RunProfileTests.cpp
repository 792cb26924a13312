//===- RunProfileTests.cpp - heddle-run --profile from outside ------------===//
//
// The toy's kernels count their rows, so that flops are known: a step of the
// decoder does one a row.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"
#include "runtime/api/ProfileReport.h"
#include "runtime/threads/AvailableCores.h"

#include <cstring>
#include <filesystem>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

namespace {

class RunProfileTest : public RunToolTest {
protected:
  /// Tokens that the toy generates, each of which took a row of a step.
  static int64_t countTokens(const std::vector<Ids> &sources) {
    int64_t tokens = 0;
    for (const Ids &source : sources)
      tokens += int64_t(toyGreedy(source, toyManifest()["tasks"]["generate"],
                                  12, toyCandidates(source))
                            .size());
    return tokens;
  }

  /// A call of decode.step.
  static void addSteps(Profile &profile, int64_t nanoseconds) {
    int64_t dims[] = {/*rows=*/4, /*batch=*/2, /*capacity=*/12};
    profile.addEntry(/*number=*/3, dims, 0, nanoseconds);
  }

  /// The JSON in the page of a file.
  json readPage(const std::string &file) {
    std::string page = read(file), begin = "id=\"data\">";
    EXPECT_EQ(page.find("<!doctype html>"), 0u);
    size_t from = page.find(begin) + begin.size();
    return json::parse(page.substr(from, page.find("</script>", from) - from));
  }
};

} // namespace

TEST_F(RunProfileTest, table_and_json) {
  std::vector<Ids> sources = toySources(50);
  for (const char *flags : {"", " --workers 3 --batch 2", " --threads 2"}) {
    Outcome outcome = run("toy --ids --profile=p.json" + std::string(flags),
                          idLines(sources));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, answers(sources, true));
    EXPECT_EQ(outcome.errors.find("kernel"), 0u);
    for (const char *part :
         {"\nshortlist_step ", "\nbetween them ", "\npeaks of ", "x86-64-v3"})
      EXPECT_NE(outcome.errors.find(part), std::string::npos) << part;
    // Kernels that were not called have no row.
    EXPECT_EQ(outcome.errors.find("unused"), std::string::npos);
    EXPECT_EQ(outcome.errors.find("\nstep"), std::string::npos);

    json report = json::parse(read("p.json"));
    EXPECT_EQ(report["isa"], "x86-64-v3");
    // Workers that found a batch to run.
    int64_t workers = report["workers"];
    EXPECT_GE(workers, 1);
    int64_t most = !*flags ? availableCores() : flags[3] == 'w' ? 3 : 1;
    EXPECT_LE(workers, most);
    EXPECT_EQ(report["threads"], *flags && flags[3] == 't' ? 2 : workers);
    EXPECT_GT(report["peak_each_worker"]["flops_per_second"], 1e8);
    EXPECT_GT(report["peak_each_worker"]["bytes_per_second"], 1e8);
    ASSERT_EQ(report["kernels"].size(), 1u);
    const json &kernel = report["kernels"][0];
    EXPECT_EQ(kernel["name"], "shortlist_step");
    EXPECT_EQ(kernel["flops"], countTokens(sources)) << flags;
    EXPECT_EQ(kernel["bytes"], 4 * countTokens(sources));
    EXPECT_GT(kernel["calls"], 0);
    EXPECT_GT(kernel["seconds"], 0);
    EXPECT_GT(report["entries"]["calls"], kernel["calls"]);
    EXPECT_GE(report["entries"]["seconds"], kernel["seconds"]);
  }
}

TEST_F(RunProfileTest, layers_and_functions) {
  EXPECT_EQ(run("toy --ids --workers 2 --batch 4 --profile=p.json",
                idLines(toySources(50)))
                .exitCode,
            0);
  json report = json::parse(read("p.json"));
  EXPECT_EQ(report["model"], "toy");
  double seconds = 0;
  int64_t calls = 0;
  std::vector<std::string> names;
  for (const json &function : report["functions"]) {
    names.push_back(function["name"]);
    seconds += double(function["seconds"]);
    calls += int64_t(function["calls"]);
    const json &median = function["median"];
    EXPECT_GT(median["seconds"], 0);
    EXPECT_LE(median["seconds"], function["seconds"]);
    EXPECT_EQ(median["kernels_left_out"], 0);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"encode", "shortlist.prepare",
                                             "shortlist.step"}));
  EXPECT_EQ(calls, report["entries"]["calls"]);
  EXPECT_NEAR(seconds, report["entries"]["seconds"], 1e-9);

  // The one kernel is called at one place.
  const json &step = report["functions"][2];
  ASSERT_EQ(step["places"].size(), 1u);
  const json &place = step["places"][0], &kernel = report["kernels"][0];
  EXPECT_EQ(place["layer"], "toy.shortlist");
  EXPECT_EQ(place["kernel"], kernel["name"]);
  for (const char *key : {"calls", "seconds", "flops", "bytes"})
    EXPECT_EQ(place[key], kernel[key]) << key;
  const json &median = step["median"];
  EXPECT_EQ(median["dims"].size(), 4u);
  int64_t rows = median["dims"]["rows"];
  EXPECT_GE(rows, 1);
  ASSERT_EQ(median["kernels"].size(), 1u);
  const json &called = median["kernels"][0];
  EXPECT_EQ(called["place"], 0);
  EXPECT_EQ(called["flops"], rows);
  EXPECT_GE(called["start"], 0);
  EXPECT_LE(double(called["start"]) + double(called["seconds"]),
            double(median["seconds"]) + 1e-9);
}

TEST_F(RunProfileTest, page) {
  std::vector<Ids> sources = toySources(10);
  Outcome outcome = run("toy --ids --profile=p.html", idLines(sources));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, answers(sources, true));
  // The table is there, too.
  EXPECT_EQ(outcome.errors.find("kernel"), 0u);
  std::string page = read("p.html");
  for (const char *absent : {"/* data */", "/* page.css */", "/* page.js */",
                             "<!-- ", "@import", "src=", "https://"})
    EXPECT_EQ(page.find(absent), std::string::npos) << absent;
  json report = readPage("p.html");
  EXPECT_EQ(report["kernels"][0]["flops"], countTokens(sources));
  EXPECT_EQ(report["functions"].size(), 3u);
}

TEST_F(RunProfileTest, page_of_names_that_look_like_html) {
  json manifest = toyManifest();
  std::string evil = "</script><!--<b>";
  manifest["model"]["name"] = manifest["layers"][1] = evil;
  write("evil", toyArtifact(manifest).build());
  EXPECT_EQ(run("evil --ids --profile=p.html 1").exitCode, 0);
  EXPECT_EQ(read("p.html").find("<b>"), std::string::npos);
  json report = readPage("p.html");
  EXPECT_EQ(report["model"], evil);
  EXPECT_EQ(report["functions"][2]["places"][0]["layer"], evil);
}

TEST_F(RunProfileTest, idle_workers_share_nothing) {
  EXPECT_EQ(run("toy --ids --workers 3 --profile=p.json 1").exitCode, 0);
  json report = json::parse(read("p.json"));
  EXPECT_EQ(report["workers"], 1);
  EXPECT_EQ(report["threads"], 1);
}

TEST_F(RunProfileTest, several_workers_share_the_peaks) {
  Result<Model> model = Model::load(folder + "/toy");
  ASSERT_TRUE(model.ok()) << model.status().message();
  // Each of two workers multiplies 25 GFLOP and reads 4 GB in a second.
  Profile profile(model->manifest());
  for (int worker = 0; worker < 2; ++worker) {
    profile.add(&profile, 0, 1'000'000'000, 25'000'000'000, 4'000'000'000);
    addSteps(profile, 1'000'000'000);
  }
  ProfileSetting setting{/*workers=*/2, /*threads=*/4, {100, 300, 400, 10}};
  std::string table = describeProfile(*model, profile, setting);
  EXPECT_NE(table.find("100.0 %    25.0   50 %     4.0   80 %\n"),
            std::string::npos)
      << table;
  EXPECT_NE(
      table.find(
          "\npeaks of 4 threads, x86-64-v3, a worker's share of 2: "
          "50.0 GFLOP/s, 150.0 in bf16, 200.0 in int8, 5.0 GB/s from memory\n"),
      std::string::npos)
      << table;
  EXPECT_EQ(table.find("reference"), std::string::npos);
  json report = json::parse(profileAsJson(*model, profile, setting));
  EXPECT_EQ(report["threads"], 4);
  EXPECT_EQ(report["workers"], 2);
  EXPECT_EQ(report["kernels"][0]["type"], "f32");
  EXPECT_EQ(report["peak_each_worker"]["flops_per_second"], 50e9);
  EXPECT_EQ(report["peak_each_worker"]["bf16_flops_per_second"], 150e9);
  EXPECT_EQ(report["peak_each_worker"]["int8_ops_per_second"], 200e9);
  EXPECT_EQ(report["peak_each_worker"]["bytes_per_second"], 5e9);
}

TEST_F(RunProfileTest, caches_are_no_part_of_memory) {
  Result<Model> model = Model::load(folder + "/toy");
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto table = [&](int64_t bytes) {
    Profile profile(model->manifest());
    profile.add(&profile, 0, 1'000'000'000, 50'000'000'000, bytes);
    addSteps(profile, 1'000'000'000);
    return describeProfile(*model, profile, {1, 1, {100, 300, 400, 10}});
  };
  std::string sentence =
      "\ncache: reads from caches, faster than memory gives bytes\n";
  std::string fast = table(162'900'000'000), slow = table(10'000'000'000);
  EXPECT_NE(fast.find("100.0 %    50.0   50 %   162.9  cache\n"),
            std::string::npos)
      << fast;
  EXPECT_NE(fast.find(sentence), std::string::npos);
  EXPECT_NE(slow.find("   10.0  100 %\n"), std::string::npos) << slow;
  EXPECT_EQ(slow.find(sentence), std::string::npos);
}

TEST_F(RunProfileTest, short_types_have_peaks_of_their_own) {
  json manifest = toyManifest();
  for (auto [type, row] :
       {std::pair("i8", "100.0 %   200.0   50 %     4.0   40 %\n"),
        {"bf16", "100.0 %   200.0   67 %     4.0   40 %\n"}}) {
    manifest["kernel_types"] = {type, "f32", "f32"};
    write(type, toyArtifact(manifest).build());
    Result<Model> model = Model::load(folder + "/" + type);
    ASSERT_TRUE(model.ok()) << model.status().message();
    Profile profile(model->manifest());
    profile.add(&profile, 0, 1'000'000'000, 200'000'000'000, 4'000'000'000);
    addSteps(profile, 1'000'000'000);
    std::string table =
        describeProfile(*model, profile, {1, 1, {100, 300, 400, 10}});
    EXPECT_NE(table.find(row), std::string::npos) << table;
  }

  manifest["kernel_types"] = {"i8"};
  write("few", toyArtifact(manifest).build());
  EXPECT_NE(Model::load(folder + "/few")
                .status()
                .message()
                .find("has 1 types of 3 kernels"),
            std::string::npos);
}

TEST_F(RunProfileTest, without_kernels) {
  json manifest = toyManifest();
  manifest["kernels"] = json::array();
  for (json &entry : manifest["entries"])
    for (const char *key : {"kernels", "layers"})
      entry.erase(key);
  std::string bytes = toyArtifact(manifest).build();
  write("reference", bytes);
  Result<Model> model = Model::load(folder + "/reference");
  ASSERT_TRUE(model.ok()) << model.status().message();
  Profile profile(model->manifest());
  addSteps(profile, 5'000'000);
  EXPECT_NE(describeProfile(*model, profile, {1, 1, {100, 300, 400, 10}})
                .find("the reference lowering has no kernels: its loops are "
                      "not told apart\npeaks of 1 thread, x86-64-v3: "),
            std::string::npos);
}

TEST_F(RunProfileTest, of_a_teacher) {
  write("targets", "1 2\n3\n");
  Outcome outcome = run("toy --ids --teacher targets --logits a.npy --form "
                        "step --profile",
                        "1\n2\n");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.errors.find("\nstep "), std::string::npos);
}

TEST_F(RunProfileTest, failures) {
  // Said before anything runs.
  Outcome outcome = run("toy --ids --profile=no/p.json 1");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.errors.find("heddle-run: error: cannot write 'no/p.json': "
                                "No such file or directory"),
            std::string::npos);
  std::filesystem::create_directory(folder + "/folder.html");
  for (const char *sentence : {"'no/p.html': No such file or directory",
                               "'folder.html': it is not a regular file"}) {
    std::string file(sentence + 1, strchr(sentence + 1, '\''));
    outcome = run("toy --ids --profile=" + file + " 1");
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_EQ(outcome.errors, std::string("heddle-run: error: cannot write ") +
                                  sentence + "\n");
  }
  // Nothing that was written on the way is left.
  for (const auto &file : std::filesystem::directory_iterator(folder))
    EXPECT_EQ(file.path().string().find(".html."), std::string::npos);
  // A run that fails has no profile.
  expectUsageError("toy --ids --profile= 1",
                   "--profile has an empty value, expected a file");
  expectError("toy --ids --profile x",
              "text 1 has 'x', expected token ids separated by spaces");
}
