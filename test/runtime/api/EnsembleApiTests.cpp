//===- EnsembleApiTests.cpp - Ensembles of heddle.h -----------------------===//

#include "ApiTest.h"

using namespace heddle::test;

namespace {
class EnsembleApiTest : public ApiTest {
protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (!IsSkipped())
      combine({model, model});
  }
  void TearDown() override {
    heddle_model_free(ensemble);
    ApiTest::TearDown();
  }
  void combine(const std::vector<const heddle_model *> &members) {
    heddle_model_free(ensemble);
    ASSERT_EQ(heddle_ensemble_create(members.data(), members.size(), &ensemble),
              HEDDLE_OK)
        << heddle_error();
    heddle_session_free(session);
    session = nullptr;
    ASSERT_EQ(heddle_session_create(ensemble, settings, &session), HEDDLE_OK)
        << heddle_error();
  }

  heddle_model *ensemble = nullptr;
};
} // namespace

TEST_F(EnsembleApiTest, translates_and_outlives_its_members) {
  heddle_model_free(model);
  model = nullptr;
  std::vector<Ids> tokens;
  auto take = [](void *context, size_t, int32_t id, const char *, size_t, int) {
    static_cast<Ids *>(context)->push_back(id);
    return 0;
  };
  for (const Ids &source : toySources(10)) {
    heddle_input input = inputOf(source);
    heddle_answers *answers = nullptr;
    Ids told;
    ASSERT_EQ(heddle_session_on_token(session, take, &told), HEDDLE_OK);
    ASSERT_EQ(heddle_translate(session, &input, 1, &answers), HEDDLE_OK)
        << heddle_error();
    // A shortlist is the model's own, and takes no part.
    Ids greedy = toyGreedy(source, toyManifest()["tasks"]["generate"], 12, {});
    EXPECT_EQ(idsOf(*heddle_answer(answers, 0, 0)), greedy);
    EXPECT_EQ(told, greedy);
    heddle_answers_free(answers);
  }
}

TEST_F(EnsembleApiTest, weights_are_one_for_each_member) {
  EXPECT_EQ(set("ensemble-weights", "1,2"), HEDDLE_OK) << heddle_error();
  EXPECT_EQ(set("ensemble-mean", "linear"), HEDDLE_OK) << heddle_error();
  EXPECT_EQ(set("ensemble-weights", "1,2,3"), HEDDLE_FAILED);
  EXPECT_STREQ(heddle_error(),
               "ensemble-weights has 3 numbers, expected one for each of 2 "
               "models");
  for (const char *wrong : {"", "1,", "-1,1", "0,0", "1;2", "nan,1", "1e7,1"})
    EXPECT_EQ(heddle_settings_set(settings, "ensemble-weights", wrong),
              HEDDLE_MISUSED)
        << wrong;
  EXPECT_EQ(heddle_settings_set(settings, "ensemble-mean", "both"),
            HEDDLE_MISUSED);
  EXPECT_STREQ(heddle_error(),
               "ensemble-mean has the value 'both', expected log or linear");
}

TEST_F(EnsembleApiTest, is_of_models_that_translate) {
  heddle_model *other = nullptr;
  const heddle_model *members[] = {model, nullptr, ensemble};
  EXPECT_EQ(heddle_ensemble_create(members, 2, &other), HEDDLE_MISUSED);
  EXPECT_STREQ(heddle_error(), "'member' is NULL");
  EXPECT_EQ(heddle_ensemble_create(members + 2, 1, &other), HEDDLE_MISUSED);
  EXPECT_STREQ(heddle_error(), "a member of an ensemble is an ensemble itself");
  EXPECT_EQ(heddle_ensemble_create(members, 0, &other), HEDDLE_MISUSED);
  EXPECT_EQ(heddle_ensemble_create(members, 1, nullptr), HEDDLE_MISUSED);
  heddle_engine *engine = nullptr;
  EXPECT_EQ(heddle_engine_create(ensemble, nullptr, &engine), HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()),
            "an engine runs one model, but '" + path +
                "' is the first of an ensemble of 2");
  EXPECT_EQ(set("profile", "true"), HEDDLE_FAILED);
  EXPECT_EQ(other, nullptr);
}
