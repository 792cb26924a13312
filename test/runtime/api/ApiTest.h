//===- ApiTest.h - Tests of heddle.h on the toy model -----------*- C++ -*-===//
//
// A model, settings and a session, and what the toy's oracle answers.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_RUNTIME_API_APITEST_H
#define HEDDLE_TEST_RUNTIME_API_APITEST_H

#include "runtime/heddle.h"
#include "test/runtime/ToyModel.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace heddle::test {

class ApiTest : public ToyModelTest {
protected:
  void SetUp() override {
    ToyModelTest::SetUp();
    if (IsSkipped())
      return;
    folder = testing::TempDir() + "/heddle-api-XXXXXX";
    ASSERT_TRUE(mkdtemp(folder.data()));
    path = folder + "/toy";
    load(toyManifest());
  }
  void TearDown() override {
    heddle_session_free(session);
    heddle_settings_free(settings);
    heddle_model_free(model);
    if (!path.empty())
      unlink(path.c_str());
    rmdir(folder.c_str());
  }

  /// A session of a model with this manifest, without settings.
  void load(const nlohmann::json &manifest,
            const std::map<std::string, std::string> &sections = {}) {
    heddle_session_free(session);
    heddle_settings_free(settings);
    heddle_model_free(model);
    ArtifactBuilder builder = toyArtifact(manifest);
    for (const auto &[name, content] : sections)
      builder.add(name, content);
    bytes = builder.build();
    std::ofstream(path, std::ios::binary) << bytes;
    ASSERT_EQ(heddle_model_load(path.c_str(), HEDDLE_VERIFY, &model), HEDDLE_OK)
        << heddle_error();
    ASSERT_EQ(heddle_settings_create("", &settings), HEDDLE_OK);
    ASSERT_EQ(heddle_session_create(model, settings, &session), HEDDLE_OK);
  }
  heddle_status set(const char *name, const char *value) {
    heddle_status status = heddle_settings_set(settings, name, value);
    return status ? status : heddle_session_configure(session, settings);
  }

  std::string folder, path, bytes;
  heddle_model *model = nullptr;
  heddle_settings *settings = nullptr;
  heddle_session *session = nullptr;
};

/// Inputs that a stream takes in order, and what is said of them.
struct StreamedInputs {
  std::vector<heddle_input> inputs;
  std::vector<std::string> notices = {};
  size_t next = 0;

  /// Borrows this object, as does the function of a sink whose context it is.
  heddle_source source() {
    heddle_source source = {};
    source.context = this;
    source.next = [](void *context, int, heddle_input *input) {
      auto &all = *static_cast<StreamedInputs *>(context);
      if (all.next == all.inputs.size())
        return HEDDLE_NEXT_END;
      *input = all.inputs[all.next++];
      return HEDDLE_NEXT_INPUT;
    };
    return source;
  }
  static void notice(void *context, size_t input, const char *sentence) {
    static_cast<StreamedInputs *>(context)->notices.push_back(
        std::to_string(input) + ": " + sentence);
  }
};

/// Borrows the text.
inline heddle_input textOf(std::string_view text) {
  heddle_input input = {};
  input.text = text.data();
  input.text_size = text.size();
  return input;
}

inline heddle_input inputOf(const Ids &ids) {
  heddle_input input = {};
  input.ids = ids.data();
  input.id_count = ids.size();
  return input;
}

inline std::vector<heddle_input> inputsOf(const std::vector<Ids> &sources) {
  std::vector<heddle_input> inputs;
  for (const Ids &source : sources)
    inputs.push_back(inputOf(source));
  return inputs;
}

inline Ids expected(const Ids &source) {
  return toyGreedy(source, toyManifest()["tasks"]["generate"], 12,
                   toyCandidates(source));
}

inline Ids idsOf(const heddle_answer_text &answer) {
  return Ids(answer.ids, answer.ids + answer.id_count);
}

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_API_APITEST_H
