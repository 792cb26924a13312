//===- api.cpp - Calls of heddle.h ----------------------------------------===//
//
// An input is lines of calls on a session of the toy model, which reads
// characters: `name=value` sets, `!` cancels, `?` asks for tokens as they come,
// anything else is a text of the next batch, with what stands behind a tab as
// its target. An empty line translates the batch, `#` scores it, `>` and `>#`
// do so as a stream, `%` embeds and labels it, `>%` does so as a stream, `^`
// takes hidden states, and `@` with a form its logits.
//
//===----------------------------------------------------------------------===//

#include "../runtime/ToyModel.h"
#include "../runtime/ToyTokenizer.h"
#include "ScratchFolder.h"
#include "runtime/heddle.h"

#include <cstdio>
#include <cstring>
#include <vector>

using namespace heddle;

namespace {
class Calls {
public:
  Calls() {
    heddle_settings_create("", &settings);
    heddle_session_create(model(), nullptr, &session);
    set("ids=true");
    set("max-length=12");
  }
  ~Calls() {
    heddle_session_free(session);
    heddle_settings_free(settings);
  }

  void take(std::string_view line) {
    if (line == "!")
      heddle_cancel(session);
    else if (line == "?")
      heddle_session_on_token(session, ignore, nullptr);
    else if (line.empty() || line == "#")
      run(line.empty() ? heddle_translate : heddle_score);
    else if (line == ">" || line == ">#")
      stream(line == ">" ? heddle_translate_stream : heddle_score_stream);
    else if (line == "%" || line == ">%")
      label(line.front() == '>');
    else if (line == "^" || line.front() == '@')
      takeRows(line == "^" ? "" : std::string(line.substr(1)));
    else if (line.find('=') != line.npos)
      set(std::string(line));
    else
      add(line);
  }

private:
  static heddle_model *model() {
    static heddle_model *loaded = [] {
      static const fuzz::ScratchFolder folder;
      nlohmann::json manifest = test::withLabels(
          test::withEmbedding(test::withBestStep(test::toyManifest())));
      manifest["tokenizer"] = {
          {"kind", "characters"}, {"unknown", 3}, {"bos", 1}, {"eos", 2}};
      test::ArtifactBuilder toy = test::toyArtifact(manifest);
      toy.add("tokenizer", test::buildToyTokenizer("____abcde", "____abcdefg",
                                                   3, 4, {{1}, {2}}));
      std::string path = folder.write("toy", toy.build());
      heddle_model *model = nullptr;
      if (heddle_model_load(path.c_str(), 0, &model) != HEDDLE_OK) {
        fprintf(stderr, "%s\n", heddle_error());
        abort();
      }
      return model;
    }();
    return loaded;
  }
  static int ignore(void *, size_t, int32_t id, const char *, size_t, int) {
    return id == 7;
  }

  void set(const std::string &line) {
    std::string name = line.substr(0, line.find('='));
    std::string value = line.substr(name.size() + 1);
    // More threads than that are no other code.
    if ((name == "threads" || name == "workers") && value.size() > 1)
      return;
    heddle_settings_set(settings, name.c_str(), value.c_str());
    heddle_session_configure(session, settings);
  }
  void add(std::string_view line) {
    size_t tab = line.find('\t');
    heddle_input input = {};
    input.text = line.data();
    input.text_size = std::min(tab, line.size());
    if (tab != line.npos) {
      input.target = line.data() + tab + 1;
      input.target_size = line.size() - tab - 1;
    }
    inputs.push_back(input);
    for (unsigned kind : {HEDDLE_SOURCE, HEDDLE_TARGET_PART,
                          HEDDLE_TARGET_BEGINNING, HEDDLE_TARGET})
      encode(kind, line);
    // Most are none.
    encode(unsigned(line.size()), line);
  }
  /// And back.
  void encode(unsigned kind, std::string_view line) {
    int32_t *ids = nullptr;
    size_t count = 0;
    char *text = nullptr;
    if (heddle_encode(session, kind, line.data(), line.size(), nullptr, &ids,
                      &count) == HEDDLE_OK)
      heddle_decode(session, ids, count, &text, nullptr);
    heddle_free(text);
    heddle_free(ids);
  }

  /// Gives the batch one by one; it is not always there, and an input that
  /// begins with a tilde is nonsense.
  static heddle_next next(void *context, int mayWait, heddle_input *input) {
    auto &self = *static_cast<Calls *>(context);
    if (!mayWait && self.streamed % 3 == 1)
      return HEDDLE_NEXT_LATER;
    if (self.streamed == self.inputs.size())
      return HEDDLE_NEXT_END;
    *input = self.inputs[self.streamed++];
    bool isNonsense = input->text_size > 0 && input->text[0] == '~';
    return isNonsense ? heddle_next(input->text_size + 3) : HEDDLE_NEXT_INPUT;
  }
  heddle_source source() {
    heddle_source source = {};
    source.context = this;
    source.next = next;
    streamed = 0;
    return source;
  }
  void label(bool asStream) {
    heddle_label_sink labelSink = {};
    labelSink.labels = [](void *, const heddle_label *labels, size_t count) {
      return int(count > 0 && strlen(labels[0].text) != labels[0].text_size);
    };
    heddle_vector_sink vectorSink = {};
    vectorSink.vector = [](void *, const float *, size_t) { return 0; };
    heddle_source inOrder = source();
    float *vectors = nullptr;
    size_t width = 0;
    if (asStream)
      heddle_embed_stream(session, &inOrder, &vectorSink);
    else
      heddle_embed(session, inputs.data(), inputs.size(), &vectors, &width);
    heddle_free(vectors);
    for (auto [all, each] :
         {std::pair(&heddle_classify, &heddle_classify_stream),
          {&heddle_tag, &heddle_tag_stream},
          {&heddle_find_answers, &heddle_find_answers_stream},
          {&heddle_fill, &heddle_fill_stream}}) {
      heddle_labels *labels = nullptr;
      inOrder = source();
      if (asStream)
        each(session, &inOrder, &labelSink);
      else
        all(session, inputs.data(), inputs.size(), &labels);
      heddle_labels_free(labels);
    }
    inputs.clear();
  }
  void stream(heddle_status (*call)(heddle_session *, const heddle_source *,
                                    const heddle_sink *)) {
    heddle_source inOrder = source();
    heddle_sink sink = {};
    sink.answer = [](void *, const heddle_answer_text *answers, size_t count) {
      return int(count > 0 && answers[0].text_size > 1000000);
    };
    call(session, &inOrder, &sink);
    inputs.clear();
  }

  static int takeRow(void *, size_t, size_t, size_t rows, const float *values,
                     size_t width) {
    float sum = 0;
    for (size_t i = 0; i < rows * width; ++i)
      sum += values[i];
    return sum != sum;
  }
  void takeRows(const std::string &form) {
    if (form.empty())
      heddle_hidden_states(session, inputs.data(), inputs.size(), takeRow,
                           nullptr);
    else
      heddle_logits(session, inputs.data(), inputs.size(), form.c_str(),
                    takeRow, nullptr);
    inputs.clear();
  }
  void run(heddle_status (*call)(heddle_session *, const heddle_input *, size_t,
                                 heddle_answers **)) {
    heddle_answers *answers = nullptr;
    call(session, inputs.data(), inputs.size(), &answers);
    for (size_t i = 0; answers && i < inputs.size(); ++i)
      for (size_t j = 0; j < heddle_answer_count(answers, i); ++j)
        if (heddle_answer(answers, i, j)->text[0] == '?')
          abort();
    heddle_answers_free(answers);
    inputs.clear();
  }

  heddle_settings *settings = nullptr;
  heddle_session *session = nullptr;
  std::vector<heddle_input> inputs;
  size_t streamed = 0;
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Calls calls;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    calls.take(line);
  }
  return 0;
}
