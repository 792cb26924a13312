//===- FolderInput.h - Several files as one input ---------------*- C++ -*-===//

#ifndef HEDDLE_TEST_FUZZ_FOLDERINPUT_H
#define HEDDLE_TEST_FUZZ_FOLDERINPUT_H

#include "ScratchFolder.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::fuzz {

/// A folder with the files that an input has: each stands behind a line
/// `==> NAME <==`, whose break in front is no part of the file before. What
/// stands before the first of these lines is the first of the names that the
/// folder may have.
class FolderInput : public ScratchFolder {
public:
  explicit FolderInput(std::vector<std::string> names)
      : names(std::move(names)) {}

  /// Writes the files of an input in place of those of the last one.
  void fill(std::string_view input) const {
    for (const std::string &name : names)
      std::filesystem::remove(path(name));
    std::string_view name = names.front(), content;
    while (!input.empty()) {
      std::string_view line = input.substr(0, input.find('\n') + 1);
      if (line.empty())
        line = input;
      input.remove_prefix(line.size());
      if (std::string_view next = nameIn(line); !next.empty()) {
        content.remove_suffix(content.empty() ? 0 : 1);
        write(std::string(name), content);
        name = next;
        content = {};
      } else {
        content = {content.empty() ? line.data() : content.data(),
                   content.size() + line.size()};
      }
    }
    write(std::string(name), content);
  }

private:
  /// The name that a line begins a file of; empty for other lines.
  std::string_view nameIn(std::string_view line) const {
    for (const std::string &name : names)
      if (line == "==> " + name + " <==\n")
        return name;
    return {};
  }

  std::vector<std::string> names;
};

} // namespace heddle::fuzz

#endif // HEDDLE_TEST_FUZZ_FOLDERINPUT_H
