//===- PickledOptions.cpp - Options of a checkpoint as fields -------------===//
//
// Values of a pickle may hold themselves, and one another many times: depth and
// number of what is made of them are bounded.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/PickledOptions.h"
#include <cmath>

using namespace llvm;

namespace heddle {

using Kind = PickleValue::Kind;

static constexpr int kMostDepth = 16;
static constexpr size_t kMostOptions = 1 << 16;

namespace {
class OptionReader {
public:
  std::optional<json::Object> readFields(const PickleValue &value, int depth);

private:
  json::Value read(const PickleValue &value, int depth);
  json::Value readCall(const PickleValue &value, int depth);

  size_t count = 0;
};
} // namespace

/// What stands behind a node of omegaconf, or the attributes of a Namespace.
static const PickleValue *contentOf(const PickleValue &value) {
  if (value.kind != Kind::Call || !value.state)
    return nullptr;
  if (value.isCallOf("argparse.Namespace"))
    return value.state;
  if (!StringRef(value.items.front()->text).starts_with("omegaconf."))
    return nullptr;
  const PickleValue *content = value.state->find("_content");
  return content ? content : value.state->find("_val");
}

static std::string textOf(StringRef text) { return json::fixUTF8(text); }

std::optional<json::Object> OptionReader::readFields(const PickleValue &value,
                                                     int depth) {
  if (const PickleValue *content = contentOf(value))
    return depth < kMostDepth ? readFields(*content, depth + 1) : std::nullopt;
  if (value.kind != Kind::Dictionary)
    return std::nullopt;
  json::Object fields;
  for (size_t i = 0; i + 1 < value.items.size(); i += 2)
    if (value.items[i]->isText() && count < kMostOptions)
      fields[textOf(value.items[i]->text)] =
          read(*value.items[i + 1], depth + 1);
  return fields;
}

json::Value OptionReader::readCall(const PickleValue &value, int depth) {
  if (const PickleValue *content = contentOf(value))
    return read(*content, depth + 1);
  ArrayRef<const PickleValue *> arguments = ArrayRef(value.items).drop_front();
  if (arguments.size() == 1 &&
      (arguments.front()->isText() || arguments.front()->isInteger()))
    return read(*arguments.front(), depth + 1);
  return textOf("an object of " + value.items.front()->text);
}

json::Value OptionReader::read(const PickleValue &value, int depth) {
  if (++count > kMostOptions || depth > kMostDepth)
    return "...";
  switch (value.kind) {
  case Kind::None:
    return nullptr;
  case Kind::Boolean:
    return value.integer != 0;
  case Kind::Integer:
    return value.integer;
  case Kind::Number:
    if (std::isfinite(value.number))
      return value.number;
    return std::isnan(value.number) ? "nan" : "inf";
  case Kind::Text:
    return textOf(value.text);
  case Kind::Tuple:
  case Kind::List: {
    json::Array list;
    for (const PickleValue *item : value.items)
      if (count < kMostOptions)
        list.push_back(read(*item, depth + 1));
    return list;
  }
  case Kind::Dictionary:
    return std::move(*readFields(value, depth));
  case Kind::Call:
    return readCall(value, depth);
  case Kind::Global:
    return textOf(value.text);
  case Kind::Persistent:
    return "a storage";
  }
  llvm_unreachable("all kinds are covered");
}

std::optional<json::Object> readPickledOptions(const PickleValue &value) {
  return OptionReader().readFields(value, 0);
}

} // namespace heddle
