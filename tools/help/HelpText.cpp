//===- HelpText.cpp - The text of --help ----------------------------------===//

#include "tools/help/ToolPage.h"

#include <algorithm>

using namespace heddle;

static constexpr size_t kColumns = 80, kHelpColumn = 21;

/// Adds words in lines that begin at a column, behind what is on the line.
static void addWords(std::string &text, std::string line, size_t column,
                     std::string_view words) {
  auto flush = [&] {
    text += line + "\n";
    line.clear();
  };
  if (column && line.size() >= column)
    flush();
  line.resize(column, ' ');
  while (!words.empty()) {
    std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    bool isFirst = line.size() == column;
    if (!isFirst && line.size() + 1 + word.size() > kColumns) {
      flush();
      line.resize(column, ' ');
      isFirst = true;
    }
    line += isFirst ? "" : " ";
    line += word;
  }
  flush();
}

static std::string nameWithValue(const Flag &flag) {
  if (flag.value.empty())
    return flag.name;
  return flag.isValueOptional ? flag.name + "[=" + flag.value + "]"
                              : flag.name + " " + flag.value;
}

std::string heddle::writeHelp(const ToolPage &page) {
  std::string text = "usage: " + page.usage + "\n\n";
  addWords(text, "", 0, page.description);
  text += "\n";
  for (const std::string &example : page.examples)
    text += "  " + example + "\n";
  for (const std::string &group : page.groups) {
    text += "\n" + group + "\n";
    for (const Flag &flag : page.flags)
      if (flag.group == group)
        addWords(text, "  " + nameWithValue(flag), kHelpColumn, flag.help);
  }
  for (const Listing &listing : page.listings) {
    text += "\n" + listing.title + "\n";
    for (const std::string &line : listing.lines)
      text += "  " + line + "\n";
  }
  text += "\n";
  addWords(text, "", 0, page.exitStatus);
  return text;
}

std::vector<std::string> heddle::listChoices(const Flag &flag) {
  std::vector<std::string> choices;
  std::string_view rest = flag.value;
  if (rest.find('|') == std::string_view::npos)
    return choices;
  while (!rest.empty()) {
    std::string_view choice = rest.substr(0, rest.find('|'));
    bool isWord = std::none_of(choice.begin(), choice.end(),
                               [](char c) { return c >= 'A' && c <= 'Z'; });
    if (isWord)
      choices.emplace_back(choice);
    rest.remove_prefix(std::min(rest.size(), choice.size() + 1));
  }
  return choices;
}

bool heddle::isFile(const Flag &flag) {
  return flag.value.compare(0, 4, "FILE") == 0;
}

bool heddle::isFolder(const Flag &flag) { return flag.value == "DIR"; }
