//===- ProfilePage.cpp - A profile as a page ------------------------------===//
//
// The page is profile-page/, which CMake joins to one file. Its scripts read
// the data that is filled in here.
//
//===----------------------------------------------------------------------===//

#include "tools/run/ProfilePage.h"

#include "tools/Embed.h"

using namespace heddle;

HEDDLE_EMBED(heddleProfilePage, HEDDLE_PROFILE_PAGE);

std::string heddle::makeProfilePage(std::string_view json) {
  static constexpr std::string_view kMark = "/* data */";
  std::string_view page(heddleProfilePageBegin,
                        size_t(heddleProfilePageEnd - heddleProfilePageBegin));
  size_t mark = page.find(kMark);
  std::string text(page.substr(0, mark));
  // A script ends where "</script" stands in it, whatever language it is in.
  for (char c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text.append(page.substr(mark + kMark.size()));
}
