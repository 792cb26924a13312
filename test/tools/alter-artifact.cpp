//===- alter-artifact.cpp - Artifacts with one other byte -----------------===//
//
//   alter-artifact ARTIFACT COPY COUNT SEED TEXT
//     Changes one byte of COPY, which it writes, COUNT times, and expects what
//     ArtifactFormat.h promises: whatever stands in another place than weights
//     and padding is refused at every load, these with HEDDLE_VERIFY, each by
//     one sentence that names the file. With the weights altered TEXT is
//     translated all the same, to anything; padding changes nothing.
//
// Half of the places are drawn from the whole file, half from a part of it that
// is drawn before: header, table, sections, what is between them. The runtime
// works in a process of its own, so that its death is one more failure. Exit
// code 0, or 1 and a line for each of the first failures.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/heddle.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace heddle;

/// More would say the same.
static constexpr int kMostFailures = 10;

[[noreturn]] static void fail(const std::string &sentence) {
  fprintf(stderr, "alter-artifact: %s\n", sentence.c_str());
  exit(1);
}

namespace {
/// Bytes of a file.
struct Part {
  std::string name;
  uint64_t begin, end;
  /// Whether they are read with HEDDLE_VERIFY alone.
  bool isVerified;
};

struct Change {
  uint64_t place;
  const Part *part;
  char from, to;

  std::string text() const {
    std::ostringstream text;
    text << "byte " << place << ", " << place - part->begin << " of "
         << part->name << ", from " << int(uint8_t(from)) << " to "
         << int(uint8_t(to));
    return text.str();
  }
};

/// What the process of the runtime says to the one that watches it.
struct Progress {
  size_t next;
  int failures;
};
} // namespace

/// The parts of an artifact; they are all of it.
static std::vector<Part> partsOf(const std::string &bytes) {
  format::Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  uint64_t end = sizeof(header) + header.sectionCount * sizeof(format::Section);
  std::vector<Part> sections, parts = {{"the header", 0, sizeof(header), false},
                                       {"the table", 64, end, false}};
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    format::Section entry;
    std::memcpy(&entry, &bytes[sizeof(header) + i * sizeof(entry)],
                sizeof(entry));
    std::string name = entry.name;
    sections.push_back(
        {name, entry.offset, entry.offset + entry.size, name == "weights"});
  }
  std::sort(sections.begin(), sections.end(),
            [](const Part &a, const Part &b) { return a.begin < b.begin; });
  sections.push_back({"the end", bytes.size(), bytes.size(), false});
  for (const Part &section : sections) {
    if (end < section.begin)
      parts.push_back({"the padding", end, section.begin, true});
    if (section.begin < section.end)
      parts.push_back(section);
    end = section.end;
  }
  return parts;
}

static std::vector<Change> drawChanges(const std::string &bytes,
                                       const std::vector<Part> &parts,
                                       size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Change> changes;
  for (size_t i = 0; i < count; ++i) {
    uint64_t place = random() % bytes.size();
    if (i % 2 == 0) {
      const Part &drawn = parts[random() % parts.size()];
      place = drawn.begin + random() % (drawn.end - drawn.begin);
    }
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part &each) {
      return each.begin <= place && place < each.end;
    });
    // One bit, or any.
    char mask = char(random() % 2 ? 1 << random() % 8 : 1 + random() % 255);
    changes.push_back({place, &*part, bytes[place], char(bytes[place] ^ mask)});
  }
  return changes;
}

namespace {
/// A copy of an artifact that is altered and used.
class Copy {
public:
  Copy(const char *path, std::string text)
      : path(path), text(std::move(text)), file(open(path, O_WRONLY)) {
    if (file < 0)
      fail("cannot write '" + this->path + "'");
    expected = translate();
    if (expected.empty())
      fail("'" + this->path + "' does not translate: " + heddle_error());
  }

  void put(uint64_t place, char byte) {
    if (pwrite(file, &byte, 1, off_t(place)) != 1)
      fail("cannot write '" + path + "'");
  }

  /// What is wrong with how a change is met; empty if nothing is.
  std::string check(const Part &part) {
    heddle_model *model = nullptr;
    if (heddle_model_load(path.c_str(), 0, &model) != HEDDLE_OK)
      return checkSentence();
    heddle_model_free(model);
    if (!part.isVerified)
      return "it is loaded";
    if (heddle_model_load(path.c_str(), HEDDLE_VERIFY, &model) == HEDDLE_OK)
      return "it is loaded with HEDDLE_VERIFY";
    if (std::string wrong = checkSentence(); !wrong.empty())
      return wrong;
    char *description;
    if (heddle_describe(path.c_str(), HEDDLE_VERIFY, 0, &description) ==
        HEDDLE_OK)
      return "it is described with HEDDLE_VERIFY";
    std::string translated = translate();
    if (part.name != "weights" && translated != expected)
      return "it translates to '" + translated + "', expected '" + expected +
             "'";
    return "";
  }

private:
  /// Of the last call.
  std::string checkSentence() const {
    std::string sentence = heddle_error();
    bool isOne = sentence.find(path) != sentence.npos &&
                 sentence.find('\n') == sentence.npos && sentence.back() != '.';
    return isOne ? "" : "its sentence is '" + sentence + "'";
  }

  /// The text translated; empty where that fails.
  std::string translate() const {
    heddle_model *model = nullptr;
    heddle_session *session = nullptr;
    heddle_answers *answers = nullptr;
    heddle_settings *settings = nullptr;
    heddle_input input = {};
    input.text = text.data();
    input.text_size = text.size();
    std::string translated;
    if (heddle_model_load(path.c_str(), 0, &model) == HEDDLE_OK &&
        heddle_settings_create("", &settings) == HEDDLE_OK &&
        heddle_settings_set(settings, "max-length", "12") == HEDDLE_OK &&
        heddle_session_create(model, settings, &session) == HEDDLE_OK &&
        heddle_translate(session, &input, 1, &answers) == HEDDLE_OK)
      translated = heddle_answer(answers, 0, 0)->text;
    heddle_answers_free(answers);
    heddle_session_free(session);
    heddle_settings_free(settings);
    heddle_model_free(model);
    return translated;
  }

  std::string path, text, expected;
  int file;
};
} // namespace

/// Tries the changes from the next one on.
static void tryChanges(const char *path, const std::string &text,
                       const std::vector<Change> &changes, Progress &progress) {
  constexpr unsigned mostSeconds = 30;
  Copy copy(path, text);
  while (progress.next < changes.size() && progress.failures < kMostFailures) {
    const Change &change = changes[progress.next];
    alarm(mostSeconds);
    copy.put(change.place, change.to);
    std::string wrong = copy.check(*change.part);
    copy.put(change.place, change.from);
    if (!wrong.empty()) {
      ++progress.failures;
      fprintf(stderr, "%s: %s\n", change.text().c_str(), wrong.c_str());
    }
    ++progress.next;
  }
}

static void write(const char *path, const std::string &bytes) {
  if (!(std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes))
    fail(std::string("cannot write '") + path + "'");
}

int main(int count, char **arguments) {
  if (count != 6)
    fail("usage: alter-artifact ARTIFACT COPY COUNT SEED TEXT");
  std::ostringstream content;
  content << std::ifstream(arguments[1], std::ios::binary).rdbuf();
  std::string bytes = content.str();
  if (bytes.size() < sizeof(format::Header))
    fail(std::string("'") + arguments[1] + "' is no artifact");
  std::vector<Part> parts = partsOf(bytes);
  std::vector<Change> changes = drawChanges(
      bytes, parts, size_t(atoi(arguments[3])), uint32_t(atoi(arguments[4])));

  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED)
    fail("cannot allocate memory");
  while (progress->next < changes.size() &&
         progress->failures < kMostFailures) {
    write(arguments[2], bytes);
    pid_t child = fork();
    if (child == 0) {
      tryChanges(arguments[2], arguments[5], changes, *progress);
      exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
      fail("cannot run a process");
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      return 1;
    if (WIFSIGNALED(status)) {
      fprintf(stderr, "%s: it dies of signal %d\n",
              changes[progress->next].text().c_str(), WTERMSIG(status));
      ++progress->failures;
      ++progress->next;
    }
  }
  unlink(arguments[2]);
  if (progress->failures == 0)
    return 0;
  fprintf(stderr, "alter-artifact: with seed %s\n", arguments[4]);
  return 1;
}
