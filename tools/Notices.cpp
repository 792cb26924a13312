#include "tools/Notices.h"

#include "tools/Embed.h"

HEDDLE_EMBED(heddleNotices, HEDDLE_NOTICES);
HEDDLE_EMBED(heddleLicense, HEDDLE_LICENSE);

std::string heddle::getNotices() {
  return std::string(heddleNoticesBegin, heddleNoticesEnd) +
         std::string(heddleLicenseBegin, heddleLicenseEnd);
}
