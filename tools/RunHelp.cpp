//===- RunHelp.cpp - The text of heddle-run --help ------------------------===//

#include "tools/RunHelp.h"

#include "runtime/heddle.h"

#include <string_view>
#include <vector>

using namespace heddle;

/// What stands before the flags.
static std::string introduce(const std::string &program) {
  std::string use = program.empty() ? "heddle-run FILE" : program;
  std::string model = program.empty()
                          ? "that\nheddle-compile wrote to FILE, and prints a "
                            "line for each.\n"
                          : "in\nthis file, and prints a line for each.\n";
  return "usage: " + use +
         " [TEXT...] [options]\n\n"
         "Translates each TEXT, or each line of standard input, with the "
         "model " +
         model + "\n  " + use + " \"Good morning.\"\n  " + use +
         " --beam 4 <in.txt >out.txt\n  " + use + " --info\n";
}

static constexpr std::string_view kEnd = R"(
The exit code is 0, 1 where the input, the file or the machine is at fault, and
2 where the command line is.
)";

/// The flags that no setting has, behind the settings of their group.
static constexpr heddle_setting kOwnFlags[] = {
    {"bad-words", "FILE", "Search",
     "never generate the sequences of FILE, one a line"},
    {"prefix", "FILE", "Search", "begin each target with a line of FILE"},
    {"score", "FILE", "Other jobs",
     "print how likely the lines of FILE are as translations: the "
     "log-probability, a tab and that of each token; at the end, on standard "
     "error, the perplexity of all"},
    {"teacher", "FILE", "Other jobs",
     "score the target ids in FILE, one line an input, and"},
    {"logits", "FILE.npy", "Other jobs",
     "write the logits, float32 [lines, longest, vocabulary]"},
    {"form", "FORM", "Other jobs",
     "with --teacher: the decoder's form, full (the default), step or chunk"},
    {"hidden", "FILE.npy", "Other jobs",
     "write what the encoder makes of each line instead of translating it, "
     "float32 [lines, longest, width]"},
    {"profile[=FILE]", nullptr, "About a run",
     "say at the end, on standard error, how long each kernel took and how "
     "close it came to this machine's peaks, which takes a second to measure; "
     "FILE gets the same as JSON, FILE.html a page with layers, too"},
    {"verify", nullptr, "About a run",
     "check the weights too, and the zeros between sections"},
    {"info", nullptr, "About a run",
     "print what the file holds; the memory of decoding at --max-length "
     "positions "
     "where that is given"},
    {"license", nullptr, "About a run",
     "print the notices of what is linked in"},
    {"help", nullptr, "About a run", "print this"},
    {"version", nullptr, "About a run", "print the version"}};

static constexpr size_t kColumns = 80, kHelpColumn = 21;

/// Adds a flag, and its help beside and below it.
static void addFlag(std::string &text, const heddle_setting &flag) {
  std::string line = "  --" + std::string(flag.name);
  if (flag.value)
    line += " " + std::string(flag.value);
  std::string_view rest = flag.help;
  auto flush = [&] {
    text += line + "\n";
    line.clear();
  };
  if (line.size() >= kHelpColumn)
    flush();
  line.resize(kHelpColumn, ' ');
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    bool isFirst = line.size() == kHelpColumn;
    if (!isFirst && line.size() + 1 + word.size() > kColumns) {
      flush();
      line.resize(kHelpColumn, ' ');
      isFirst = true;
    }
    line += isFirst ? "" : " ";
    line += word;
  }
  flush();
}

std::string heddle::getRunHelp(const std::string &program) {
  size_t count = 0;
  const heddle_setting *settings = heddle_settings_list(&count);
  std::vector<heddle_setting> flags;
  for (size_t i = 0; i < count; ++i)
    if (settings[i].name != std::string_view("profile"))
      flags.push_back(settings[i]);
  flags.insert(flags.end(), std::begin(kOwnFlags), std::end(kOwnFlags));

  std::string text = introduce(program);
  for (std::string_view group :
       {"Search", "Samples", "Text", "Machine", "Other jobs", "About a run"}) {
    text += "\n" + std::string(group) + "\n";
    for (const heddle_setting &flag : flags)
      if (flag.group == group)
        addFlag(text, flag);
  }
  return text.append(kEnd);
}
