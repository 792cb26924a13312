//===- JoinSteps.cpp - Decoders of the library tokenizers -----------------===//
//
// Each step has the texts of all pieces and makes others of them, as the parts
// of the decoder Sequence do.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/TextPattern.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>

using namespace heddle;

namespace {
struct Step {
  format::JoinStep form;
  std::string_view first, second;
  /// Of kReplacePattern.
  TextPattern pattern;
};

using Texts = std::vector<std::string>;

class JoinSteps final : public TextJoiner {
public:
  explicit JoinSteps(std::vector<Step> steps) : steps(std::move(steps)) {}

  std::string join(const std::vector<int32_t> &ids,
                   const TokenNames &names) const override;

private:
  std::vector<Step> steps;
};
} // namespace

static std::string concatenate(const Texts &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += text;
  return all;
}

static std::string replaced(std::string_view text, std::string_view from,
                            std::string_view to) {
  std::string made;
  for (size_t at; (at = text.find(from)) != std::string_view::npos;) {
    made.append(text, 0, at).append(to);
    text.remove_prefix(at + from.size());
  }
  return made.append(text);
}

static std::string replaced(const std::string &text, const TextPattern &pattern,
                            std::string_view to) {
  std::string made;
  size_t done = 0;
  while (true) {
    auto [begin, end] = pattern.find(text, done);
    made.append(text, done, begin - done);
    if (begin == text.size())
      return made;
    made.append(to);
    done = end;
  }
}

/// A run of bytes that is no UTF-8 becomes one U+FFFD a byte.
static Texts spellBytes(Texts texts) {
  Texts made;
  std::string bytes;
  auto finish = [&] {
    if (!isUtf8(bytes))
      made.insert(made.end(), bytes.size(), std::string(kReplacementText));
    else if (!bytes.empty())
      made.push_back(bytes);
    bytes.clear();
  };
  for (std::string &text : texts) {
    int byte = byteOfPiece(text);
    if (byte >= 0) {
      bytes += char(byte);
      continue;
    }
    finish();
    made.push_back(std::move(text));
  }
  finish();
  return made;
}

static std::string stripped(std::string_view text, const Step &step) {
  std::string_view end = step.first;
  for (uint32_t i = 0;
       i < step.form.atStart && text.substr(0, end.size()) == end; ++i)
    text.remove_prefix(end.size());
  for (uint32_t i = 0; i < step.form.atEnd && text.size() >= end.size() &&
                       text.substr(text.size() - end.size()) == end;
       ++i)
    text.remove_suffix(end.size());
  return std::string(text);
}

/// What a step makes of one of several texts.
static std::string change(const Step &step, const Texts &texts, size_t i) {
  switch (step.form.kind) {
  case format::kReplacePattern:
    return replaced(texts[i], step.pattern, step.second);
  case format::kReplaceText:
    return replaced(texts[i], step.first, step.second);
  case format::kStripEnds:
    return stripped(texts[i], step);
  case format::kUnmarkSpaces:
    return replaced(texts[i], step.first, i ? " " : step.second);
  case format::kRepairEach:
    return repairUtf8(texts[i]);
  case format::kStripEach:
    return std::string(stripLeft(stripRight(texts[i], /*isPython=*/true),
                                 /*isPython=*/true));
  default: // kUnmarkEnds
    return replaced(texts[i], step.first, i + 1 < texts.size() ? " " : "");
  }
}

std::string JoinSteps::join(const std::vector<int32_t> &ids,
                            const TokenNames &names) const {
  Texts texts;
  for (int32_t id : ids)
    if (names.pieces.hasPiece(id) && !names.isSpecial(id))
      texts.emplace_back(names.pieces.text(id));
  for (const Step &step : steps) {
    if (step.form.kind == format::kSpellBytes) {
      texts = spellBytes(std::move(texts));
    } else if (step.form.kind == format::kFuseAll) {
      texts = {concatenate(texts)};
    } else if (step.form.kind == format::kDropRepeats) {
      texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    } else if (step.form.kind == format::kDropEmpty) {
      texts.erase(std::remove(texts.begin(), texts.end(), std::string()),
                  texts.end());
    } else {
      for (size_t i = 0; i < texts.size(); ++i)
        texts[i] = change(step, texts, i);
    }
  }
  return concatenate(texts);
}

static bool isKnown(uint32_t kind) {
  return kind >= format::kReplaceText && kind <= format::kStripEach;
}

/// Whether a step does something to a text that it names.
static bool hasText(uint32_t kind) {
  return kind != format::kSpellBytes && kind != format::kFuseAll &&
         kind != format::kDropRepeats && kind != format::kDropEmpty &&
         kind != format::kRepairEach && kind != format::kStripEach;
}

stages::MadeJoiner stages::makeJoinSteps(std::string_view table) {
  TableReader reader(table);
  const format::StepsHeader *header = nullptr;
  const format::JoinStep *forms = nullptr;
  reader.take(header, 1);
  if (reader.isWhole())
    reader.take(forms, header->count);
  std::vector<Step> steps;
  bool isWhole = reader.isWhole();
  // The texts and what fills each up to a multiple of four.
  auto take = [&](uint32_t size) {
    std::string_view text = reader.takeBytes(size);
    reader.takeBytes(-size % 4);
    return text;
  };
  for (uint32_t i = 0; isWhole && i < header->count; ++i) {
    Step step{forms[i], take(forms[i].firstBytes), take(forms[i].secondBytes),
              TextPattern()};
    uint32_t kind = step.form.kind;
    isWhole = reader.isWhole() && isKnown(kind) &&
              (!hasText(kind) || !step.first.empty());
    if (isWhole && kind == format::kReplacePattern) {
      Result<TextPattern> pattern = TextPattern::parse(step.first);
      if (!pattern.ok())
        return pattern.status();
      step.pattern = *pattern;
    }
    steps.push_back(step);
  }
  if (!isWhole || !reader.takeRest().empty())
    return Status::error("is not a whole table of steps");
  return std::unique_ptr<TextJoiner>(
      std::make_unique<JoinSteps>(std::move(steps)));
}
