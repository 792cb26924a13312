//===- UnknownFlag.cpp - What an unknown flag may have meant --------------===//
//
// A flag of one dash is a letter, with or without a number behind it, or a long
// flag that lacks a dash. What contains a space is no flag.
//
//===----------------------------------------------------------------------===//

#include "tools/UnknownFlag.h"

#include "runtime/NearNames.h"

#include <algorithm>

using namespace heddle;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// In small letters.
static std::string lower(std::string_view text) {
  std::string small(text);
  for (char &c : small)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return small;
}

/// The long flags of a page, without their dashes.
static std::vector<std::string_view> namesOf(const ToolPage &page) {
  std::vector<std::string_view> names;
  for (const Flag &flag : page.flags)
    if (flag.name.compare(0, 2, "--") == 0)
      names.push_back(std::string_view(flag.name).substr(2));
  return names;
}

/// What the tool has in place of another tool's flag, "-i"; empty for nothing.
static std::string findForeign(std::string_view flag, const ToolPage &page) {
  for (const ForeignFlags &foreign : page.foreign)
    if (std::find(foreign.names.begin(), foreign.names.end(), flag) !=
        foreign.names.end())
      return foreign.instead;
  return "";
}

/// Whether a flag of one dash is a letter, maybe with a number: -b, -b4.
static bool isLetter(std::string_view name) {
  return !name.empty() && !isDigit(name[0]) &&
         std::all_of(name.begin() + 1, name.end(), isDigit);
}

/// The page's flag of that letter; empty if it has none.
static std::string findShort(char letter, const ToolPage &page) {
  for (const Flag &flag : page.flags)
    if (flag.name.size() == 2 && flag.name[1] == letter)
      return flag.name;
  return "";
}

std::string heddle::describeUnknownFlag(const std::string &argument,
                                        const ToolPage &page,
                                        std::string_view otherwise) {
  size_t equals = argument.find('=');
  std::string flag = argument.substr(0, equals);
  bool isLong = flag.compare(0, 2, "--") == 0;
  std::string name =
      flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  for (const Flag &each : page.flags)
    if (each.name == flag && each.value.empty())
      return flag + " takes no value, found '" + argument.substr(equals + 1) +
             "'";
  std::vector<std::string> notes;
  if (std::string instead = findForeign(flag, page); !instead.empty())
    notes.push_back(instead);
  else if (argument.find(' ') == std::string::npos) {
    bool isShort = !isLong && isLetter(name);
    std::string known = isShort ? findShort(name[0], page) : "";
    std::string nearest =
        !known.empty() ? askForNames({known})
                       : askForNames(findNearNames(isShort ? name.substr(0, 1)
                                                           : lower(name),
                                                   namesOf(page)),
                                     "--");
    if (!nearest.empty() || isShort)
      notes.push_back(!nearest.empty() ? nearest
                                       : page.name + " --help lists all");
  }
  // Of a long flag that is nearly one it need not be said.
  if (!otherwise.empty() && (notes.empty() || !isLong))
    notes.push_back(std::string(otherwise) +
                    " that begins with - must follow a '--'");
  if (notes.empty())
    notes.push_back(page.name + " --help lists all");
  std::string sentence = "unknown flag '" + argument + "' (" + notes[0];
  for (size_t i = 1; i < notes.size(); ++i)
    sentence += (notes[i - 1].back() == '?' ? " " : "; ") + notes[i];
  return sentence + ")";
}

std::string heddle::describePrintedDash(const std::string &argument,
                                        const ToolPage &page) {
  std::string_view rest = argument;
  size_t dashes = 0;
  // En dash, em dash and minus sign.
  for (std::string_view dash : {"\xE2\x80\x93", "\xE2\x80\x94", "\xE2\x88\x92"})
    while (rest.substr(0, dash.size()) == dash) {
      rest.remove_prefix(dash.size());
      ++dashes;
    }
  std::string_view name = rest.substr(0, rest.find('='));
  std::vector<std::string_view> names = namesOf(page);
  if (dashes == 0 || std::find(names.begin(), names.end(), name) == names.end())
    return "";
  return "'" + argument + "' begins with a typographic dash, expected '--" +
         std::string(rest) + "'";
}
