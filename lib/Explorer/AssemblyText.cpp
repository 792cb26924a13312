//===- AssemblyText.cpp - One pass over the lines of LLVM's assembly ------===//
//
// `.type` begins a function and `.size` ends it. `.loc` gives the source line
// of the instructions that follow. Other directives are dropped, and so are
// labels that only mark places; labels of jumps stay. The text comes from
// LLVM's own printer, so that fixed beginnings of lines are enough and no
// parser is needed.
//
//===----------------------------------------------------------------------===//

#include "lib/Explorer/AssemblyText.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;

/// `symbol` of ".type symbol,@function"; empty for any other line.
static StringRef functionOf(StringRef line) {
  if (!line.consume_front(".type") || !line.consume_back(",@function"))
    return "";
  return line.trim().trim('"');
}

/// The source line of ".loc FILE LINE ...".
static bool takeSource(StringRef line, unsigned &source) {
  if (!line.consume_front(".loc"))
    return false;
  auto [file, rest] = line.trim().split(' ');
  if (rest.split(' ').first.getAsInteger(10, source))
    source = 0;
  return true;
}

/// Labels that nothing jumps to: where functions and lines begin and end.
static bool isMark(StringRef line) {
  return line.starts_with(".Lfunc") || line.starts_with(".Ltmp") ||
         line.starts_with(".Linfo") || line.starts_with(".Ldebug");
}

std::vector<AssemblyFunction> heddle::splitAssembly(StringRef assembly) {
  std::vector<AssemblyFunction> functions;
  bool isInside = false;
  unsigned count = 0, source = 0;
  for (StringRef line : llvm::split(assembly, '\n')) {
    StringRef text = line.trim();
    if (StringRef symbol = functionOf(text); !symbol.empty()) {
      functions.push_back({symbol.str(), "", {}});
      isInside = true;
      count = source = 0;
      continue;
    }
    if (!isInside || text.empty() || takeSource(text, source) || isMark(text))
      continue;
    bool isLabel = text.ends_with(":");
    if (text.starts_with(".") && !isLabel) {
      isInside = !text.starts_with(".size");
      continue;
    }
    AssemblyFunction &function = functions.back();
    if (!isLabel && source != 0)
      function.sources.push_back({count, source});
    function.text += isLabel ? "" : "  ";
    for (char c : text)
      function.text += c == '\t' ? ' ' : c;
    function.text += '\n';
    ++count;
  }
  return functions;
}
