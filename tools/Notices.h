//===- Notices.h - The text of --license ------------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_NOTICES_H
#define HEDDLE_TOOLS_NOTICES_H

#include <string>

namespace heddle {

/// The notices of what is linked in, notices.txt, and Heddle's license.
std::string getNotices();

} // namespace heddle

#endif // HEDDLE_TOOLS_NOTICES_H
