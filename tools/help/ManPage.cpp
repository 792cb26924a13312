//===- ManPage.cpp - A page for man(1) ------------------------------------===//
//
// In the macros of man(7), which man-db, mandoc and groff know.
//
//===----------------------------------------------------------------------===//

#include "tools/help/ToolPage.h"

using namespace heddle;

/// Text that troff takes as it is, whatever it begins with.
static std::string escape(std::string_view text) {
  std::string escaped;
  if (!text.empty() && (text[0] == '.' || text[0] == '\''))
    escaped = "\\&";
  for (char c : text) {
    switch (c) {
    case '\\':
      escaped += "\\e";
      break;
    case '-':
      escaped += "\\-";
      break;
    case '\'':
      escaped += "\\(aq";
      break;
    default:
      escaped += c;
    }
  }
  return escaped;
}

static void addSection(std::string &text, const std::string &title) {
  text += ".SH \"" + escape(title) + "\"\n";
}

/// Lines as they are.
static void addLines(std::string &text, const std::vector<std::string> &lines) {
  text += ".nf\n.RS\n";
  for (const std::string &line : lines)
    text += escape(line) + "\n";
  text += ".RE\n.fi\n";
}

static void addFlag(std::string &text, const Flag &flag) {
  text += ".TP\n\\fB" + escape(flag.name) + "\\fR";
  if (!flag.value.empty()) {
    std::string value = "\\fI" + escape(flag.value) + "\\fR";
    text += flag.isValueOptional ? "[=" + value + "]" : " " + value;
  }
  text += "\n" + escape(flag.help) + "\n";
}

static std::string toUpper(std::string text) {
  for (char &c : text)
    if (c >= 'a' && c <= 'z')
      c -= 'a' - 'A';
  return text;
}

std::string heddle::writeManPage(const ToolPage &page,
                                 std::string_view version) {
  std::string text = ".TH \"" + toUpper(page.name) + "\" 1 \"\" \"Heddle " +
                     std::string(version) + "\" \"Heddle\"\n";
  addSection(text, "NAME");
  text += escape(page.name) + " \\- " + escape(page.summary) + "\n";
  addSection(text, "SYNOPSIS");
  text += escape(page.usage) + "\n";
  addSection(text, "DESCRIPTION");
  text += escape(page.description) + "\n";
  addSection(text, "OPTIONS");
  for (const std::string &group : page.groups) {
    text += ".SS \"" + escape(group) + "\"\n";
    for (const Flag &flag : page.flags)
      if (flag.group == group)
        addFlag(text, flag);
  }
  for (const Listing &listing : page.listings) {
    addSection(text, toUpper(listing.title));
    addLines(text, listing.lines);
  }
  addSection(text, "EXIT STATUS");
  text += escape(page.exitStatus) + "\n";
  addSection(text, "EXAMPLES");
  addLines(text, page.examples);
  return text;
}
