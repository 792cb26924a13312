//===- Folder.cpp - bench-folder-tokenizer: a folder's tokenizer ----------===//
//
//   bench-folder-tokenizer FOLDER --tokens
//   bench-folder-tokenizer FOLDER --time
//
// Cuts texts with the tokenizer of a folder of transformers, for
// bench/peers/tokenizers.py. Each line of the input is a text of JSON, or a
// pair [text, text, most tokens, stride]. --tokens prints a line for each, a
// list of windows [ids, types, texts, begins and ends in bytes]. --time prints
// the seconds of the best of seven rounds, in one thread, with ranges.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Tokenizers.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <iostream>
#include <limits>

using namespace heddle;
using Clock = std::chrono::steady_clock;

static constexpr int kRounds = 7;

static int fail(const std::string &sentence) {
  llvm::errs() << "bench-folder-tokenizer: error: " << sentence << "\n";
  return 1;
}

namespace {
struct Line {
  std::string first;
  std::optional<std::string> second;
  std::optional<Truncation> truncation;

  Result<std::vector<TextEncoding>> encode(const Tokenizer &tokenizer) const {
    TextPair pair{first};
    if (second)
      pair.second = *second;
    return tokenizer.encodeWindows(pair, truncation, /*tracks=*/true);
  }
};
} // namespace

static Line parse(const llvm::json::Value &value) {
  const llvm::json::Array *pair = value.getAsArray();
  if (!pair)
    return {value.getAsString().value_or("").str(), {}, {}};
  Truncation truncation;
  truncation.maxTokens = size_t(*(*pair)[2].getAsInteger());
  truncation.stride = size_t(*(*pair)[3].getAsInteger());
  return {(*pair)[0].getAsString()->str(), (*pair)[1].getAsString()->str(),
          truncation};
}

static void print(const std::vector<TextEncoding> &windows) {
  llvm::json::Array list;
  for (const TextEncoding &window : windows) {
    llvm::json::Array spans;
    for (const TextRange &range : window.ranges) {
      spans.push_back(range.begin);
      spans.push_back(range.end);
    }
    list.push_back(llvm::json::Array{
        llvm::json::Array(window.ids), llvm::json::Array(window.types),
        llvm::json::Array(window.texts), std::move(spans)});
  }
  llvm::outs() << llvm::json::Value(std::move(list)) << "\n";
}

int main(int argc, char **argv) {
  std::string_view mode = argc == 3 ? argv[2] : "";
  if (mode != "--tokens" && mode != "--time")
    return fail("expected a folder and --tokens or --time");
  auto imported = readFolderTokenizer(argv[1], "", /*vocabulary=*/1);
  if (!imported)
    return fail(llvm::toString(imported.takeError()));
  if (imported->sections.empty())
    return fail(imported->manifest.getString("reason").value_or("none").str());
  auto stages = TokenizerStages::parse(imported->sections[0].bytes, {});
  if (!stages.ok())
    return fail(stages.message());
  Manifest manifest;
  manifest.sourceVocabulary = manifest.targetVocabulary =
      std::numeric_limits<int32_t>::max();
  Tokenizer tokenizer(std::move(*stages), manifest);
  std::vector<Line> lines;
  for (std::string text; std::getline(std::cin, text);) {
    auto value = llvm::json::parse(text);
    if (!value)
      return fail(llvm::toString(value.takeError()));
    lines.push_back(parse(*value));
  }
  if (mode == "--tokens") {
    for (const Line &line : lines) {
      auto windows = line.encode(tokenizer);
      if (windows.ok())
        print(*windows);
      else
        llvm::outs() << llvm::json::Value(windows.message()) << "\n";
    }
    return 0;
  }
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    auto begin = Clock::now();
    for (const Line &line : lines)
      if (!line.encode(tokenizer).ok())
        return fail("a line has no tokens");
    best = std::min(
        best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  llvm::outs() << best << "\n";
  return 0;
}
