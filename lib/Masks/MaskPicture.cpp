//===- MaskPicture.cpp - A mask as an image -------------------------------===//
//
// Cells that are alike become rectangles: runs of a row, joined with those of
// the same columns above. A layer is one path of them. Units are pixels; what
// text takes is estimated.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/MaskPicture.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace heddle;

/// The side of a panel, about: pairs are whole pixels. What stands below takes
/// as much.
static constexpr int64_t kSide = 384;
static constexpr int64_t kMargin = 16, kGap = 24, kLine = 18, kLetter = 7;

static constexpr StringLiteral kStyle = R"(<style>
text{font:12px ui-monospace,monospace;fill:#24292f}
.asked{fill:#d5e3f5}.pair{fill:#7aa7dd}.whole{fill:#1f5fae}
.frame{fill:none;stroke:#8c959f}
@media(prefers-color-scheme:dark){text{fill:#d8dee4}
.asked{fill:#24364d}.pair{fill:#3f76b8}.whole{fill:#9cc6f7}}
</style>
)";

namespace {
/// Cells [begin, end) of rows [top, bottom).
struct Rectangle {
  int64_t begin, end, top, bottom;
};
} // namespace

/// The cells of `length` rows and columns that are in a set, as rectangles.
static std::vector<Rectangle>
findRectangles(int64_t length, function_ref<bool(int64_t, int64_t)> isInside) {
  std::vector<Rectangle> done;
  /// By columns, the row where it begins.
  std::map<std::pair<int64_t, int64_t>, int64_t> open;
  for (int64_t row = 0; row <= length; ++row) {
    std::map<std::pair<int64_t, int64_t>, int64_t> next;
    for (int64_t at = 0; row < length && at < length; ++at) {
      if (!isInside(row, at))
        continue;
      int64_t begin = at;
      while (at < length && isInside(row, at))
        ++at;
      auto above = open.find({begin, at});
      next[{begin, at}] = above == open.end() ? row : above->second;
    }
    for (auto [run, top] : open)
      if (!next.count(run))
        done.push_back({run.first, run.second, top, row});
    open = std::move(next);
  }
  return done;
}

static void drawLayer(raw_ostream &stream, StringRef name, const PairGrid &grid,
                      function_ref<bool(int64_t, int64_t)> isInside) {
  std::vector<Rectangle> rectangles = findRectangles(grid.length, isInside);
  if (rectangles.empty())
    return;
  stream << "<path class=\"" << name << "\" d=\"";
  for (auto [begin, end, top, bottom] : rectangles)
    stream << 'M' << begin << ' ' << top << 'h' << end - begin << 'v'
           << bottom - top << 'H' << begin << 'z';
  stream << "\"/>\n";
}

static void drawGrid(raw_ostream &stream, const PairGrid &grid) {
  auto isWhole = [&](int64_t query, int64_t key) {
    return grid.visits[grid.at(query, key)] == Visit::Whole;
  };
  // What lies between the keys of a tile looks like the key before it.
  drawLayer(stream, "asked", grid, [&](int64_t query, int64_t key) {
    int64_t past = (key + grid.stride - query % grid.stride) % grid.stride;
    int64_t next = past <= key ? key - past : key - past + grid.stride;
    return next < grid.length &&
           grid.visits[grid.at(query, next)] == Visit::Asked;
  });
  drawLayer(stream, "pair", grid, [&](int64_t query, int64_t key) {
    return grid.pairs[grid.at(query, key)] && !isWhole(query, key);
  });
  drawLayer(stream, "whole", grid, isWhole);
}

/// "12,345".
static std::string formatCount(int64_t count) {
  std::string digits = std::to_string(count);
  for (int64_t at = digits.size() - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return digits;
}

static std::string formatShare(int64_t part, int64_t whole) {
  return formatv("{0:f1} %", 100.0 * part / whole);
}

static std::string formatHeads(const MaskPicture &picture,
                               const MaskPanel &panel) {
  if (static_cast<int64_t>(panel.heads.size()) == picture.numHeads)
    return picture.numHeads == 1 ? "one head" : "all heads";
  std::string text = panel.heads.size() == 1 ? "head " : "heads ";
  raw_string_ostream stream(text);
  interleaveComma(panel.heads, stream);
  return text;
}

/// What is below a panel.
static std::vector<std::string> describePanel(const MaskPicture &picture,
                                              const MaskPanel &panel) {
  const PairGrid &grid = panel.grid;
  int64_t pairs = count(grid.pairs, true);
  std::vector<std::string> lines = {
      formatHeads(picture, panel),
      formatCount(pairs) + " pairs, " +
          formatShare(pairs, grid.length * grid.length) + " of the dense",
      formatCount(grid.visitedTiles) + " of " + formatCount(grid.numTiles()) +
          " tiles of " + std::to_string(kBlockQueries) + " x " +
          std::to_string(kTileKeys) +
          (grid.stride > 1 ? " in steps of " + std::to_string(grid.stride)
                           : "") +
          ", " + formatShare(grid.visitedTiles, grid.numTiles()),
      formatCount(grid.wholeTiles) + " of them whole"};
  if (grid.listedPairs)
    lines.back() += "; " + formatCount(grid.listedPairs) + " pairs from lists";
  return lines;
}

/// Lines of at most `most` letters, broken at blanks.
static std::vector<std::string> wrap(StringRef text, size_t most) {
  std::vector<std::string> lines(1);
  for (StringRef word : split(text, ' ')) {
    std::string &last = lines.back();
    if (!last.empty() && last.size() + 1 + word.size() > most)
      lines.push_back(word.str());
    else
      last += (last.empty() ? "" : " ") + word.str();
  }
  return lines;
}

static void drawText(raw_ostream &stream, int64_t x, int64_t y,
                     StringRef text) {
  stream << "<text x=\"" << x << "\" y=\"" << y << "\">";
  printHTMLEscaped(text, stream);
  stream << "</text>\n";
}

static void drawLegend(raw_ostream &stream, int64_t y) {
  int64_t x = kMargin;
  for (auto [name, text] :
       {std::pair<StringRef, StringRef>{"whole", "whole tile"},
        {"pair", "pair"},
        {"asked", "visited, no pair"}}) {
    stream << "<rect class=\"" << name << "\" x=\"" << x << "\" y=\"" << y - 10
           << "\" width=\"10\" height=\"10\"/>\n";
    drawText(stream, x + 16, y, text);
    x += 16 + (text.size() + 2) * kLetter;
  }
}

/// What is above the panels.
static std::vector<std::string> describe(const MaskPicture &picture,
                                         size_t letters) {
  int64_t hidden = picture.numHeads;
  for (const MaskPanel &panel : picture.panels)
    hidden -= panel.heads.size();
  std::string sizes = "n = " + formatCount(picture.panels.front().grid.length) +
                      ", queries down, keys across";
  if (hidden)
    sizes += ", " + formatCount(hidden) + " more heads differ";
  std::vector<std::string> lines;
  for (StringRef text :
       {StringRef(picture.mask), StringRef(picture.owner), StringRef(sizes)})
    append_range(lines, wrap(text, letters));
  return lines;
}

std::string heddle::drawMask(const MaskPicture &picture) {
  int64_t length = picture.panels.front().grid.length;
  int64_t scale = std::max<int64_t>(1, (kSide + length / 2) / length);
  int64_t side = scale * length;
  int64_t step = std::max(side, kSide) + kGap;
  int64_t width = 2 * kMargin + picture.panels.size() * step - kGap;
  std::vector<std::string> lines =
      describe(picture, (width - 2 * kMargin) / kLetter);

  std::string body;
  raw_string_ostream stream(body);
  int64_t y = 0;
  for (const std::string &line : lines)
    drawText(stream, kMargin, y += kLine, line);
  int64_t top = y + kLine, bottom = top + side;
  for (auto [index, panel] : enumerate(picture.panels)) {
    int64_t x = kMargin + index * step;
    stream << "<g transform=\"translate(" << x << ' ' << top << ") scale("
           << scale << ")\" shape-rendering=\"crispEdges\">\n";
    drawGrid(stream, panel.grid);
    stream << "</g>\n<rect class=\"frame\" x=\"" << x << "\" y=\"" << top
           << "\" width=\"" << side << "\" height=\"" << side << "\"/>\n";
    y = bottom;
    for (const std::string &line : describePanel(picture, panel))
      drawText(stream, x, y += kLine, line);
  }
  drawLegend(stream, y += kLine + kLine / 2);

  std::string document;
  raw_string_ostream(document)
      << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width
      << "\" height=\"" << y + kMargin << "\" viewBox=\"0 0 " << width << ' '
      << y + kMargin << "\">\n"
      << kStyle << body << "</svg>\n";
  return document;
}
