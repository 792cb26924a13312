//===- stream.cpp - Text as it is generated -------------------------------===//
//
// Prints the translation of a text word by word, as a person would like to
// read it, with settings that the command line gives:
//
//   stream en-pt.heddle "Good morning." beam=1 max-length=20
//
//===----------------------------------------------------------------------===//

#include <heddle.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {
/// Owners of what the library gives out.
struct Free {
  void operator()(heddle_model *model) const { heddle_model_free(model); }
  void operator()(heddle_settings *all) const { heddle_settings_free(all); }
  void operator()(heddle_session *session) const {
    heddle_session_free(session);
  }
  void operator()(heddle_answers *answers) const {
    heddle_answers_free(answers);
  }
};
template <typename T> using Owner = std::unique_ptr<T, Free>;

/// Calls a function that gives something out.
template <typename T, typename Function, typename... Arguments>
Owner<T> call(Function function, Arguments... arguments) {
  T *result = nullptr;
  function(arguments..., &result);
  return Owner<T>(result);
}

int fail() {
  std::fprintf(stderr, "stream: %s\n", heddle_error());
  return 1;
}

int print(void *, size_t, int32_t, const char *text, size_t size, int isLast) {
  std::fwrite(text, 1, size, stdout);
  if (isLast)
    std::putchar('\n');
  return std::fflush(stdout);
}
} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fputs("usage: stream MODEL TEXT [SETTING=VALUE...]\n", stderr);
    return 2;
  }
  auto settings = call<heddle_settings>(heddle_settings_create, nullptr);
  for (int i = 3; i < argc; ++i) {
    std::string word = argv[i], name = word.substr(0, word.find('='));
    std::string value = word.substr(std::min(word.size(), name.size() + 1));
    if (heddle_settings_set(settings.get(), name.c_str(), value.c_str()))
      return fail();
  }
  auto model = call<heddle_model>(heddle_model_load, argv[1], 0u);
  if (!model)
    return fail();
  auto session =
      call<heddle_session>(heddle_session_create, model.get(), settings.get());
  if (!session)
    return fail();
  heddle_session_on_token(session.get(), print, nullptr);
  std::string text = argv[2];
  heddle_input input = {};
  input.text = text.data();
  input.text_size = text.size();
  auto answers =
      call<heddle_answers>(heddle_translate, session.get(), &input, size_t(1));
  return answers ? 0 : fail();
}
