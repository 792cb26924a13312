//===- LanguageCodes.cpp - Codes of ISO 639 -------------------------------===//
//
// The tables are texts: a word is a code of two letters and the one of three
// letters for the same language.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/LanguageCodes.h"

#include <cstddef>

using namespace heddle;

static constexpr size_t kShort = 2, kLong = 3, kWord = kShort + kLong + 1;

static constexpr std::string_view kCodes =
    "aaaar ababk aeave afafr akaka amamh anarg arara asasm avava ayaym azaze "
    "babak bebel bgbul bibis bmbam bnben bobod brbre bsbos cacat ceche chcha "
    "cocos crcre csces cuchu cvchv cycym dadan dedeu dvdiv dzdzo eeewe elell "
    "eneng eoepo esspa etest eueus fafas ffful fifin fjfij fofao frfra fyfry "
    "gagle gdgla glglg gngrn guguj gvglv hahau heheb hihin hohmo hrhrv hthat "
    "huhun hyhye hzher iaina idind ieile igibo iiiii ikipk ioido isisl itita "
    "iuiku jajpn jvjav kakat kgkon kikik kjkua kkkaz klkal kmkhm knkan kokor "
    "krkau kskas kukur kvkom kwcor kykir lalat lbltz lglug lilim lnlin lolao "
    "ltlit lulub lvlav mgmlg mhmah mimri mkmkd mlmal mnmon mrmar msmsa mtmlt "
    "mymya nanau nbnob ndnde nenep ngndo nlnld nnnno nonor nrnbl nvnav nynya "
    "ococi ojoji omorm orori ososs papan pipli plpol pspus ptpor quque rmroh "
    "rnrun roron rurus rwkin sasan scsrd sdsnd sesme sgsag shhbs sisin skslk "
    "slslv smsmo snsna sosom sqsqi srsrp ssssw stsot susun svswe swswa tatam "
    "tetel tgtgk ththa titir tktuk tltgl tntsn toton trtur tstso tttat twtwi "
    "tytah uguig ukukr ururd uzuzb veven vivie vovol wawln wowol xhxho yiyid "
    "yoyor zazha zhzho zuzul ";
static_assert(kCodes.size() == 184 * kWord);

namespace {
struct Macrolanguage {
  std::string_view code;
  /// Words of three letters.
  std::string_view members;
};
} // namespace

/// Those of ISO 639-3 with the members that models name: NLLB's.
static constexpr Macrolanguage kMacrolanguages[] = {
    {"ara", "acm acq aeb ajp apc arb ars ary arz"},
    {"aym", "ayr"},
    {"aze", "azb azj"},
    {"din", "dik"},
    {"fas", "pes prs"},
    {"ful", "fuv"},
    {"kau", "knc"},
    {"kur", "ckb kmr"},
    {"lav", "ltg lvs"},
    {"mlg", "plt"},
    {"mon", "khk"},
    {"msa", "bjn ind min zsm"},
    {"nep", "npi"},
    {"nor", "nno nob"},
    {"ori", "ory"},
    {"orm", "gaz"},
    {"pus", "pbt"},
    {"que", "quy"},
    {"sqi", "als"},
    {"swa", "swh"},
    {"uzb", "uzn"},
    {"yid", "ydd"}};

/// The code of three letters for one of two; empty if there is none.
static std::string_view longCodeOf(std::string_view code) {
  if (code.size() == kShort)
    for (size_t at = 0; at < kCodes.size(); at += kWord)
      if (kCodes.substr(at, kShort) == code)
        return kCodes.substr(at + kShort, kLong);
  return {};
}

bool heddle::areOneLanguage(std::string_view code, std::string_view other) {
  return (code.size() == kShort && longCodeOf(code) == other) ||
         (other.size() == kShort && longCodeOf(other) == code);
}

bool heddle::hasMember(std::string_view code, std::string_view member) {
  if (member.size() != kLong)
    return false;
  for (const Macrolanguage &each : kMacrolanguages)
    if (each.code == code || each.code == longCodeOf(code))
      return each.members.find(member) != std::string_view::npos;
  return false;
}
