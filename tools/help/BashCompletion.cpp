//===- BashCompletion.cpp - Command lines completed by bash ---------------===//
//
// A function for `complete -F`. Bash cuts words at '=': `--emit=e` arrives as
// three of them.
//
//===----------------------------------------------------------------------===//

#include "tools/help/ToolPage.h"

using namespace heddle;

/// A case of what stands before the word.
static void addCase(std::string &text, const std::string &flags,
                    const std::string &words) {
  if (!flags.empty())
    text += "  " + flags + ")\n    words=" + words + " ;;\n";
}

static void addAlternative(std::string &flags, const std::string &name) {
  flags += (flags.empty() ? "" : " | ") + name;
}

static std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string heddle::writeBashCompletion(const ToolPage &page) {
  std::string function = "_" + page.name;
  for (char &c : function)
    if (c == '-')
      c = '_';
  std::string cases, files, folders, others;
  std::vector<std::string> names;
  for (const Flag &flag : page.flags) {
    names.push_back(flag.name);
    // What stands behind one that need not have a value may be a file anyway.
    if (flag.isValueOptional)
      continue;
    if (std::vector<std::string> choices = listChoices(flag); !choices.empty())
      addCase(cases, flag.name, "'" + join(choices) + "'");
    else if (isFile(flag))
      addAlternative(files, flag.name);
    else if (isFolder(flag))
      addAlternative(folders, flag.name);
    else if (!flag.value.empty())
      addAlternative(others, flag.name);
  }
  addCase(cases, files, "-f");
  addCase(cases, folders, "-d");
  addCase(cases, others, "''");
  return "# Completes the command line of " + page.name +
         " in bash. Source it.\n" + function +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} words=-f before\n"
         "  before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  [[ $word == = ]] && word=''\n"
         "  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  [[ $word == -* ]] && words='" +
         join(names) +
         "'\n"
         "  case $before in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=()\n"
         "  case $words in\n"
         "  -f | -d) mapfile -t COMPREPLY < <(compgen $words -- \"$word\") ;;\n"
         "  ?*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\") "
         ";;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F " +
         function + " " + page.name + "\n";
}
