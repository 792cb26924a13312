//===- ZshCompletion.cpp - Command lines completed by zsh -----------------===//
//
// A function for compinit, by _arguments of zshcompsys(1).
//
//===----------------------------------------------------------------------===//

#include "tools/help/ToolPage.h"

using namespace heddle;

/// The first words of a flag's help: a menu has one line for each.
static std::string shorten(const std::string &help) {
  std::string words = help.substr(0, help.find_first_of(";:(,"));
  return words.substr(0, words.find_last_not_of(' ') + 1);
}

/// Inside of an argument of _arguments, in quotes.
static std::string escape(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\'')
      escaped += "'\\'";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// What completes a value.
static std::string actionOf(const Flag &flag) {
  std::string words;
  for (const std::string &choice : listChoices(flag))
    words += (words.empty() ? "" : " ") + choice;
  if (!words.empty())
    return "(" + words + ")";
  return isFile(flag) ? "_files" : isFolder(flag) ? "_files -/" : " ";
}

static std::string specOf(const Flag &flag) {
  std::string spec = flag.name, value;
  if (!flag.value.empty()) {
    bool isLong = flag.name.compare(0, 2, "--") == 0;
    spec += flag.isValueOptional ? "=-" : isLong ? "=" : "+";
    value = ":" + escape(flag.value) + ":" + actionOf(flag);
    value.insert(0, flag.isValueOptional ? ":" : "");
  }
  return "'" + spec + "[" + escape(shorten(flag.help)) + "]" + value + "'";
}

std::string heddle::writeZshCompletion(const ToolPage &page) {
  std::string text = "#compdef " + page.name +
                     "\n# Completes the command line of " + page.name +
                     " in zsh: a file of a folder in $fpath.\n_arguments";
  for (const Flag &flag : page.flags)
    text += " \\\n  " + specOf(flag);
  return text + " \\\n  '*:file:_files'\n";
}
