//===- ProfilePage.h - A profile as a page ----------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_PROFILEPAGE_H
#define HEDDLE_TOOLS_RUN_PROFILEPAGE_H

#include <string>
#include <string_view>

namespace heddle {

/// An HTML page that needs no other file and shows a profile, the JSON of
/// heddle_session_profile.
std::string makeProfilePage(std::string_view json);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_PROFILEPAGE_H
