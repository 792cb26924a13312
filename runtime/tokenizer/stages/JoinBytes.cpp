//===- JoinBytes.cpp - The bytes of pieces --------------------------------===//
//
// A character may be spread over several pieces.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class JoinBytes final : public TextJoiner {
public:
  explicit JoinBytes(bool dropsDamage) : dropsDamage(dropsDamage) {}

  std::string join(const std::vector<int32_t> &ids,
                   const TokenNames &names) const override {
    std::string bytes;
    for (int32_t id : ids)
      if (names.pieces.has(id) && !names.isSpecial(id))
        bytes += names.pieces.text(id);
    return dropsDamage ? dropDamage(bytes) : repairUtf8(bytes);
  }

private:
  bool dropsDamage;
};
} // namespace

stages::MadeJoiner stages::makeJoinBytes(std::string_view) {
  return std::unique_ptr<TextJoiner>(
      std::make_unique<JoinBytes>(/*dropsDamage=*/false));
}

stages::MadeJoiner stages::makeJoinWholeBytes(std::string_view) {
  return std::unique_ptr<TextJoiner>(
      std::make_unique<JoinBytes>(/*dropsDamage=*/true));
}
