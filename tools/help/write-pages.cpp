//===- write-pages.cpp - Writes man pages and completions -----------------===//
//
// A part of the build: usage: write-pages FOLDER. What it writes is installed.
//
//===----------------------------------------------------------------------===//

#include "tools/help/CompilePage.h"
#include "tools/help/RunPage.h"

#include <cstdio>
#include <fstream>

using namespace heddle;

static bool write(const std::string &path, const std::string &text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file)
    fprintf(stderr, "write-pages: error: cannot write '%s'\n", path.c_str());
  return bool(file);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write-pages FOLDER\n");
    return 2;
  }
  std::string folder = std::string(argv[1]) + "/";
  for (const ToolPage &page : {getCompilePage(), getRunPage("")})
    if (!write(folder + page.name + ".1", writeManPage(page, HEDDLE_VERSION)) ||
        !write(folder + page.name + ".bash", writeBashCompletion(page)) ||
        !write(folder + "_" + page.name, writeZshCompletion(page)))
      return 1;
  return 0;
}
