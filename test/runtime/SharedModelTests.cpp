//===- SharedModelTests.cpp - One model, a session a thread ---------------===//
//
// Sessions of one model share its code, weights, tokenizer and shortlist and
// nothing else. Runs under ThreadSanitizer too, with the kernel.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/search/Generate.h"
#include "runtime/threads/Thread.h"

using namespace heddle;
using namespace heddle::test;

using SharedModelTest = ToyModelTest;

TEST_F(SharedModelTest, serves_many_threads) {
  TemporaryFile file(toyArtifact(toyManifest()).build());
  Result<Model> model = Model::load(file.path());
  ASSERT_TRUE(model.ok()) << model.message();
  std::vector<Ids> sources = toySources(60), expected;
  for (const Ids &source : sources)
    expected.push_back(toyGreedy(source, toyManifest()["tasks"]["generate"], 12,
                                 toyCandidates(source)));

  std::vector<std::vector<Ids>> results(4);
  std::vector<Thread> threads;
  for (std::vector<Ids> &result : results) {
    Result<Thread> thread = Thread::start([&] {
      Session session(*model);
      for (auto first = sources.begin(); first != sources.end(); first += 5) {
        auto batch = generate(*model, session, {first, first + 5},
                              /*prefixes=*/{}, {});
        ASSERT_TRUE(batch.ok()) << batch.message();
        for (const std::vector<Hypothesis> &hypotheses : *batch)
          result.push_back(hypotheses.front().tokens);
      }
    });
    ASSERT_TRUE(thread.ok()) << thread.message();
    threads.push_back(std::move(*thread));
  }
  threads.clear(); // Waits for each.
  for (const std::vector<Ids> &result : results)
    EXPECT_EQ(result, expected);
}
