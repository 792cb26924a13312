//===- FusionReport.cpp - What was fused, as a colleague would say it -----===//
//
// A layer is what checkpoints write in front of a tensor's own name: all up to
// the first part with a number in it (`encoder_l1`, `model.decoder.layers.0`).
// Names are for people here; no pass reads them. What runs in no layer comes
// first, then layers in the order in which they run, then what several share.
//
//===----------------------------------------------------------------------===//

#include "lib/Fusion/FusionReport.h"
#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

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
  categories.passed = categories.missed =
      "fuse-.*|fold-.*|choose-.*|split-.*|drop-.*";
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

void FusionReport::readModule(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto forms = function->getAttrOfType<ArrayAttr>(kFormsAttr);
    auto step = StringAttr::get(module.getContext(), "step");
    functions.push_back({function.getSymName().str(),
                         forms && is_contained(forms, Attribute(step))});
    function.walk([&](Operation *op) {
      for (StringRef name : namesIn(op->getLoc()))
        if (StringRef layer = layerOf(name); !layer.empty())
          layers.insert({layer, layers.size() + 1});
    });
  }
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

/// A sentence and the functions it holds for.
struct FusionReport::Line {
  bool isFused;
  std::string sentence;
  Names functions;
};

/// What was said about a layer.
struct FusionReport::Section {
  std::vector<Line> lines;
  /// Those of the model; a step is one of its function.
  Names functions;

  void add(const FusionRemark &remark, StringRef layer, StringRef function);
};

void FusionReport::Section::add(const FusionRemark &remark, StringRef layer,
                                StringRef function) {
  std::string sentence = shorten(remark.sentence, layer);
  auto line = find_if(lines, [&](const Line &each) {
    return each.isFused == remark.isFused && each.sentence == sentence;
  });
  if (line == lines.end())
    line = lines.insert(line, {remark.isFused, sentence, {}});
  line->functions.insert(remark.function);
  functions.insert(function);
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

StringRef FusionReport::sourceOf(StringRef function) const {
  for (const Function &each : functions)
    if (function == each.name ||
        (each.hasStep && function.starts_with(each.name + ".")))
      return each.name;
  return function;
}

std::string FusionReport::describe(const Names &named) const {
  SmallVector<std::string> all, withStep;
  for (const Function &each : functions)
    if (named.contains(each.name))
      (each.hasStep ? withStep : all).push_back("@" + each.name);
  size_t steps = withStep.size();
  all.append(std::move(withStep));
  // What was derived stands for itself if its function is not named.
  for (StringRef name : named)
    if (!named.contains(sourceOf(name)))
      all.push_back(("@" + name).str());
  std::string text = join(all, ", ");
  if (steps != 0)
    text += steps == 1 ? " and its step" : " and their steps";
  return text;
}

void FusionReport::print(raw_ostream &stream, const Section &section) const {
  for (bool isFused : {true, false})
    for (const Line &line : section.lines) {
      if (line.isFused != isFused)
        continue;
      // Nothing if a line holds for all of the heading.
      bool isGeneral = all_of(section.functions, [&](StringRef function) {
        return line.functions.contains(function);
      });
      std::string where =
          isGeneral ? "" : " (only in " + describe(line.functions) + ")";
      stream << (isFused ? "  + " : "  - ");
      printWrapped(stream, line.sentence + where, "    ");
    }
}

size_t FusionReport::rankOf(StringRef heading) const {
  if (heading == kNoLayer)
    return 0;
  auto layer = layers.find(heading);
  return layer == layers.end() ? layers.size() + 1 : layer->second;
}

void FusionReport::print(raw_ostream &stream,
                         ArrayRef<FusionTotal> totals) const {
  std::map<std::pair<size_t, StringRef>, Section> sections;
  for (const FusionRemark &remark : remarks) {
    StringRef layer = headingOf(remark);
    sections[{rankOf(layer), layer}].add(remark, layer,
                                         sourceOf(remark.function));
  }
  // Layers of which the same is to be said share a paragraph.
  struct Paragraph {
    std::string where, body;
    std::vector<std::string> layers;
  };
  std::vector<Paragraph> paragraphs;
  for (const auto &[key, section] : sections) {
    std::string where = " (" + describe(section.functions) + ")", text;
    raw_string_ostream body(text);
    print(body, section);
    auto same = find_if(paragraphs, [&](const Paragraph &paragraph) {
      return paragraph.where == where && paragraph.body == text;
    });
    if (same == paragraphs.end())
      same = paragraphs.insert(same, {where, text, {}});
    same->layers.push_back(key.second.str());
  }
  for (const Paragraph &paragraph : paragraphs) {
    printWrapped(stream, joinWords(paragraph.layers) + paragraph.where, "");
    stream << paragraph.body << "\n";
  }
  for (const FusionTotal &total : totals) {
    auto count = [&](bool isFused) {
      return count_if(remarks, [&](const FusionRemark &remark) {
        return remark.pass == total.pass && remark.isFused == isFused;
      });
    };
    stream << total.pass << ": ";
    if (total.leftOut.empty())
      stream << count(true) << " fused, " << count(false) << " declined\n";
    else
      stream << "left out (" << total.leftOut << ")\n";
  }
}

} // namespace heddle
