//===- MergesFile.cpp - Reads merges.txt ----------------------------------===//
//
// The slow tokenizers of transformers 4.57.6 read the file, each in its own
// way, and their conversion takes the merges as a dictionary has them.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/MergesFile.h"
#include "lib/Import/Tokenizers/PythonText.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace heddle {

/// What str.split and str.strip of Python take for white space, as far as it is
/// ASCII: no piece that spells bytes has another.
static constexpr StringLiteral kSpaces = " \t\n\v\f\r\x1C\x1D\x1E\x1F";

/// The lines that have merges.
static SmallVector<StringRef> takeLines(StringRef text, MergeLines lines) {
  constexpr size_t mostOfClip = 49152 - 256 - 2;
  if (lines == MergeLines::OfClip)
    text = text.trim(kSpaces);
  SmallVector<StringRef> all;
  text.split(all, '\n');
  if (lines == MergeLines::BehindFirst)
    all.pop_back();
  if (!all.empty() && (lines != MergeLines::BehindVersion ||
                       all.front().ltrim(kSpaces).starts_with("#version:")))
    all.erase(all.begin());
  if (lines == MergeLines::OfClip && all.size() > mostOfClip)
    all.truncate(mostOfClip);
  return all;
}

Expected<json::Array> readMergesFile(const std::string &path,
                                     MergeLines lines) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  std::string text = readPythonText((*buffer)->getBuffer());
  if (!json::isUTF8(text))
    return makeError("'" + path + "' is no UTF-8");
  json::Array merges;
  StringSet<> known;
  for (StringRef line : takeLines(text, lines)) {
    SmallVector<StringRef> pieces;
    SplitString(line, pieces, kSpaces);
    if (pieces.empty())
      continue;
    if (pieces.size() != 2)
      return makeError("'" + path + "' has the line '" + line +
                       "' (expected two pieces)");
    if (known.insert((pieces[0] + " " + pieces[1]).str()).second)
      merges.push_back(json::Array{pieces[0].str(), pieces[1].str()});
  }
  return merges;
}

} // namespace heddle
