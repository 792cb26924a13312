//===- Main.cpp - bench-tokenizer: pieces beside the library --------------===//
//
//   bench-tokenizer MODEL.spm FILE
//
// Loads a SentencePiece model, cuts the lines of a text and joins their pieces,
// with Heddle's tables and with the library, in turns; the best of seven rounds
// of each, in one thread. Ids and texts that differ are an error.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "runtime/tokenizer/TokenizerStages.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sentencepiece_processor.h>

using namespace heddle;
using Clock = std::chrono::steady_clock;

static constexpr int kRounds = 7;

static int fail(const std::string &sentence) {
  std::fprintf(stderr, "bench-tokenizer: error: %s\n", sentence.c_str());
  return 1;
}

/// The lesser of `best` and the seconds that `work` takes.
static void measure(double &best, const std::function<void()> &work) {
  auto begin = Clock::now();
  work();
  best = std::min(best,
                  std::chrono::duration<double>(Clock::now() - begin).count());
}

namespace {
/// Seconds of Heddle and of the library.
struct Seconds {
  double ours = 1e9, theirs = 1e9;

  void print(const char *what, double count, const char *unit) const {
    std::printf("%-6s %12.1f %12.1f %s, %.2fx\n", what, count / ours,
                count / theirs, unit, theirs / ours);
  }
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("expected a SentencePiece model and a file of text");
  auto model = readSentencePieceModel(argv[1]);
  if (!model)
    return fail(llvm::toString(model.takeError()));
  StageList list;
  addSentencePieceCutter(*model, StageList::kBothSides, list);
  addSentencePieceJoiner(*model, /*numbers=*/nullptr, list);
  const std::string section = list.build();
  std::vector<std::string> lines;
  std::ifstream file(argv[2]);
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  if (lines.empty())
    return fail("'" + std::string(argv[2]) + "' has no lines");

  Seconds load, cut, join;
  std::optional<TokenizerStages> stages;
  std::optional<sentencepiece::SentencePieceProcessor> library;
  std::vector<std::vector<int>> ids(lines.size()), theirIds(lines.size());
  std::vector<std::string> texts(lines.size()), theirTexts(lines.size());
  for (int round = 0; round < kRounds; ++round) {
    measure(load.ours, [&] {
      auto parsed = TokenizerStages::parse(section, {});
      if (parsed.ok())
        stages = std::move(*parsed);
    });
    if (!stages)
      return fail("the table of '" + std::string(argv[1]) + "' is damaged");
    measure(load.theirs,
            [&] { library.emplace().Load(argv[1]).IgnoreError(); });
    measure(cut.ours, [&] {
      for (size_t i = 0; i < lines.size(); ++i) {
        std::vector<Piece> pieces;
        stages->cut(lines[i], TokenizerStages::Side::Source, /*tracks=*/false,
                    pieces);
        ids[i].clear();
        ids[i].reserve(pieces.size());
        for (const Piece &piece : pieces)
          ids[i].push_back(piece.id);
      }
    });
    measure(cut.theirs, [&] {
      for (size_t i = 0; i < lines.size(); ++i)
        library->Encode(lines[i], &theirIds[i]).IgnoreError();
    });
    measure(join.ours, [&] {
      for (size_t i = 0; i < lines.size(); ++i)
        texts[i] = stages->join(ids[i]);
    });
    measure(join.theirs, [&] {
      for (size_t i = 0; i < lines.size(); ++i)
        library->Decode(ids[i], &theirTexts[i]).IgnoreError();
    });
  }
  if (ids != theirIds || texts != theirTexts)
    return fail("the library cuts or joins '" + std::string(argv[2]) +
                "' otherwise");
  std::printf("%-6s %12s %12s\n", "", "Heddle", "library");
  load.print("load", 1, "models/s");
  cut.print("cut", double(lines.size()), "lines/s");
  join.print("join", double(lines.size()), "lines/s");
  return 0;
}
