//===- ToolPage.h - What is said of a tool ----------------------*- C++ -*-===//
//
// One description of a tool and its flags, which --help, the man page and the
// completions of shells are written from.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HELP_TOOLPAGE_H
#define HEDDLE_TOOLS_HELP_TOOLPAGE_H

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct Flag {
  /// With its dashes: "--beam", "-o".
  std::string name;
  /// What its value is called; empty for none. Words between bars are all that
  /// it may be, "full|step|prefill"; what has capitals stands for something:
  /// FILE and FILE.html for a file, DIR for a folder.
  std::string value;
  std::string group;
  /// What it does, and its default.
  std::string help;
  /// The value, if any, stands behind '='.
  bool isValueOptional = false;
};

/// Flags of other tools that this one has something else in place of.
struct ForeignFlags {
  std::vector<std::string> names;
  /// What an error says.
  std::string instead;
};

/// Lines as they are, below a title.
struct Listing {
  std::string title;
  std::vector<std::string> lines;
};

struct ToolPage {
  /// "heddle-run".
  std::string name;
  /// A few words, as they stand behind the name in a list of tools.
  std::string summary;
  /// What a command line looks like.
  std::string usage;
  std::string description;
  /// Commands.
  std::vector<std::string> examples;
  /// In the order in which people read them.
  std::vector<std::string> groups;
  std::vector<Flag> flags;
  /// For errors alone.
  std::vector<ForeignFlags> foreign;
  std::vector<Listing> listings;
  std::string exitStatus;
};

/// The text of --help, in lines of 80 columns.
std::string writeHelp(const ToolPage &page);

/// The source of a page for man(1), section 1.
std::string writeManPage(const ToolPage &page, std::string_view version);

/// Functions that complete command lines in bash, without bash-completion, and
/// in zsh.
std::string writeBashCompletion(const ToolPage &page);
std::string writeZshCompletion(const ToolPage &page);

/// The alternatives of a value; empty if it is not one of some words.
std::vector<std::string> listChoices(const Flag &flag);

/// Whether the value of a flag is the name of a file, or of a folder.
bool isFile(const Flag &flag);
bool isFolder(const Flag &flag);

} // namespace heddle

#endif // HEDDLE_TOOLS_HELP_TOOLPAGE_H
