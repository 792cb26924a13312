//===- FusionReport.cpp - What was fused, as a colleague would say it -----===//
//
// A layer is what checkpoints write in front of a tensor's own name: all up to
// the first part with a number in it (`encoder_l1`, `model.decoder.layers.0`).
// Names are for people here; no pass reads them.
//
//===----------------------------------------------------------------------===//

#include "lib/Fusion/FusionReport.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

namespace {
class Listener : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Listener(std::vector<FusionRemark> &remarks) : remarks(remarks) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    FusionRemark heard;
    heard.pass = remark.getCategoryName().str();
    heard.function = remark.getFunction().str();
    for (StringRef name : namesIn(remark.getLocation()))
      heard.names.push_back(name.str());
    heard.isFused = remark.getRemarkName() == "fused";
    for (const remark::detail::Remark::Arg &part : remark.getArgs())
      heard.sentence += part.val;
    remarks.push_back(std::move(heard));
  }

private:
  std::vector<FusionRemark> &remarks;
};
} // namespace

void FusionReport::listenTo(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = "fuse-.*|fold-.*";
  LogicalResult enabled = remark::enableOptimizationRemarks(
      context, std::make_unique<Listener>(remarks),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
  assert(succeeded(enabled) && "a listener needs nothing to start");
  (void)enabled;
}

static constexpr StringLiteral kNoLayer = "outside of layers";
static constexpr StringLiteral kSeveralLayers = "across layers";

/// The layer that a tensor belongs to; empty for none.
static StringRef layerOf(StringRef name) {
  size_t begin = 0;
  while (begin < name.size()) {
    size_t end = std::min(name.find_first_of("._", begin), name.size());
    if (end != name.size() && any_of(name.slice(begin, end), isDigit))
      return name.take_front(end);
    begin = end + 1;
  }
  return "";
}

static StringRef headingOf(const FusionRemark &remark) {
  llvm::SetVector<StringRef> layers;
  for (StringRef name : remark.names)
    if (StringRef layer = layerOf(name); !layer.empty())
      layers.insert(layer);
  if (layers.size() > 1)
    return kSeveralLayers;
  return layers.empty() ? StringRef(kNoLayer) : layers.front();
}

/// A sentence as it stands under the heading of its layer: names without it.
static std::string shorten(StringRef sentence, StringRef layer) {
  std::string text;
  for (size_t at; (at = sentence.find(layer)) != StringRef::npos;) {
    text += sentence.take_front(at);
    sentence = sentence.drop_front(at + layer.size());
    if (sentence.starts_with("_") || sentence.starts_with("."))
      sentence = sentence.drop_front();
    else
      text += layer;
  }
  return text + sentence.str();
}

namespace {
/// A sentence and the functions it holds for.
struct Line {
  bool isFused;
  std::string sentence;
  llvm::SetVector<StringRef> functions;
};

/// What was said about a layer.
struct Section {
  std::vector<Line> lines;
  llvm::SetVector<StringRef> functions;

  void add(const FusionRemark &remark, StringRef layer);
  void print(raw_ostream &stream) const;
};
} // namespace

void Section::add(const FusionRemark &remark, StringRef layer) {
  std::string sentence = shorten(remark.sentence, layer);
  auto line = find_if(lines, [&](const Line &each) {
    return each.isFused == remark.isFused && each.sentence == sentence;
  });
  if (line == lines.end())
    line = lines.insert(line, {remark.isFused, sentence, {}});
  line->functions.insert(remark.function);
  functions.insert(remark.function);
}

static std::string format(const llvm::SetVector<StringRef> &functions) {
  return " (@" + join(functions, ", @") + ")";
}

/// Breaks a text into lines of at most 80 columns. It starts where `indent`
/// ends, and so do all other lines.
static void printWrapped(raw_ostream &stream, StringRef text,
                         StringRef indent) {
  size_t column = indent.size();
  for (StringRef word : split(text, ' ')) {
    if (column > indent.size() && column + 1 + word.size() > 80) {
      stream << "\n" << indent;
      column = indent.size();
    } else if (column > indent.size()) {
      stream << " ";
      ++column;
    }
    stream << word;
    column += word.size();
  }
  stream << "\n";
}

void Section::print(raw_ostream &stream) const {
  for (bool isFused : {true, false})
    for (const Line &line : lines) {
      if (line.isFused != isFused)
        continue;
      // Functions go without saying where they are those of the heading.
      std::string where =
          line.functions == functions ? "" : format(line.functions);
      stream << (isFused ? "  + " : "  - ");
      printWrapped(stream, line.sentence + where, "    ");
    }
}

void FusionReport::print(raw_ostream &stream,
                         ArrayRef<StringLiteral> passes) const {
  MapVector<StringRef, Section> sections;
  for (const FusionRemark &remark : remarks)
    sections[headingOf(remark)].add(remark, headingOf(remark));
  // Layers of which the same is to be said share a paragraph.
  struct Paragraph {
    std::string where, body;
    std::vector<std::string> layers;
  };
  std::vector<Paragraph> paragraphs;
  for (const auto &[layer, section] : sections) {
    std::string where = format(section.functions), text;
    raw_string_ostream body(text);
    section.print(body);
    auto same = find_if(paragraphs, [&](const Paragraph &paragraph) {
      return paragraph.where == where && paragraph.body == text;
    });
    if (same == paragraphs.end())
      same = paragraphs.insert(same, {where, text, {}});
    same->layers.push_back(layer.str());
  }
  for (const Paragraph &paragraph : paragraphs) {
    printWrapped(stream, joinWords(paragraph.layers) + paragraph.where, "");
    stream << paragraph.body << "\n";
  }
  for (StringRef pass : passes) {
    auto count = [&](bool isFused) {
      return count_if(remarks, [&](const FusionRemark &remark) {
        return remark.pass == pass && remark.isFused == isFused;
      });
    };
    stream << pass << ": " << count(true) << " fused, " << count(false)
           << " declined\n";
  }
}

} // namespace heddle
