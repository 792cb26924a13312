//===- TeacherTests.cpp - Logits along given targets ----------------------===//
//
// Both forms of the toy decoder compute the same function, so here they agree
// bit for bit, with the oracle and with each other, in every batch.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ToyModel.h"

#include "runtime/search/TeacherForcing.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::test;

namespace {

class TeacherTest : public ToyModelTest {
protected:
  void SetUp() override {
    ToyModelTest::SetUp();
    if (IsSkipped())
      return;
    nlohmann::json manifest = toyManifest();
    // The raw logits know nothing of these.
    manifest["tasks"]["generate"]["suppress"] = {0, 1, 2};
    manifest["tasks"]["generate"]["max_target"] = 9;
    TemporaryFile file(toyArtifact(manifest).build());
    Result<Model> loaded = Model::load(file.path());
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    model = std::make_unique<Model>(std::move(*loaded));
  }

  std::unique_ptr<Model> model;
};

} // namespace

TEST_F(TeacherTest, both_forms_match_the_oracle) {
  std::vector<Ids> sources = toySources(20);
  std::vector<Ids> targets = toySources(21);
  targets.erase(targets.begin()); // Not the sources again.
  targets[3].clear();
  for (DecoderForm form : {DecoderForm::Full, DecoderForm::Step})
    for (size_t batch : {1, 4, 20}) {
      Session session(*model);
      size_t scored = 0;
      for (size_t first = 0; first < sources.size(); first += batch) {
        auto part = [&](const std::vector<Ids> &all) {
          return std::vector<Ids>(all.begin() + first,
                                  all.begin() + first + batch);
        };
        auto sink = [&](int64_t sentence, int64_t position,
                        const float *logits) {
          const Ids &target = targets[first + sentence];
          EXPECT_LT(position, int64_t(target.size()));
          Ids before(target.begin(), target.begin() + position);
          EXPECT_EQ(std::vector<float>(logits, logits + kToyTargetVocabulary),
                    toyLogits(sources[first + sentence], before));
          ++scored;
          return Status::success();
        };
        Status status = scoreTargets(*model, session, part(sources),
                                     part(targets), {form, kToyStart}, sink);
        EXPECT_TRUE(status.ok()) << status.message();
      }
      size_t expected = 0;
      for (const Ids &target : targets)
        expected += target.size();
      EXPECT_EQ(scored, expected);
    }
}

TEST_F(TeacherTest, the_sink_ends_the_scoring) {
  for (DecoderForm form : {DecoderForm::Full, DecoderForm::Step}) {
    Session session(*model);
    int calls = 0;
    Status status = scoreTargets(
        *model, session, {{1}, {2}}, {{1, 2}, {3, 4}}, {form, kToyStart},
        [&](int64_t, int64_t, const float *) {
          return ++calls == 2 ? Status::error("enough") : Status::success();
        });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "enough");
    EXPECT_EQ(calls, 2);
  }
}

TEST_F(TeacherTest, refuses_targets_that_do_not_fit) {
  Session session(*model);
  auto message = [&](const std::vector<Ids> &targets) {
    Status status = scoreTargets(
        *model, session, {{1}}, targets, {DecoderForm::Full, kToyStart},
        [](int64_t, int64_t, const float *) { return Status::success(); });
    return status.ok() ? "scored" : status.message();
  };
  EXPECT_EQ(message({}), "a batch of 1 sentence has 0 targets");
  EXPECT_EQ(message({{1, 11}}),
            "target 1 of a batch has the id 11 but the vocabulary has 11");
  EXPECT_EQ(message({Ids(10, 1)}), "target 1 of a batch has 10 tokens but the "
                                   "model has positions for 9");
  EXPECT_EQ(message({Ids(9, 1)}), "scored");
}
