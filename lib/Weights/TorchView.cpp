//===- TorchView.cpp - Tensors as torch's pickles say them ----------------===//
//
// torch pickles a tensor as a call that would rebuild it, with a storage that
// stands outside of the pickle as its first argument.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/TorchView.h"

using namespace llvm;
using namespace heddle;
using namespace heddle::torch;

static constexpr StringLiteral kTensor = "torch._utils._rebuild_tensor_v2",
                               kOldTensor = "torch._utils._rebuild_tensor",
                               kParameter = "torch._utils._rebuild_parameter";

/// torch's own limit for the dimensions of a tensor.
static constexpr size_t kMaxRank = 64;

static constexpr ElementType kElementTypes[] = {
    {"torch.FloatStorage", 4, Encoding::F32},
    {"torch.HalfStorage", 2, Encoding::F16},
    {"torch.BFloat16Storage", 2, Encoding::BF16},
    {"torch.DoubleStorage", 8},
    {"torch.LongStorage", 8},
    {"torch.IntStorage", 4},
    {"torch.ShortStorage", 2},
    {"torch.CharStorage", 1},
    {"torch.ByteStorage", 1},
    {"torch.BoolStorage", 1}};

std::vector<StringRef> torch::listGlobals() {
  std::vector<StringRef> globals = {kTensor, kOldTensor, kParameter,
                                    "collections.OrderedDict"};
  for (const ElementType &type : kElementTypes)
    globals.push_back(type.name);
  return globals;
}

bool torch::isPrintable(StringRef text) {
  return none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

/// ('storage', type, key, device, count), in old files perhaps with a sixth
/// value, a view of the storage, which torch 0.4 was the last to write.
std::optional<Storage> torch::readStorage(const PickleValue &value) {
  if (value.kind != PickleValue::Kind::Persistent)
    return std::nullopt;
  ArrayRef<const PickleValue *> parts = value.items.front()->items;
  if (parts.size() < 5 || parts.size() > 6 || !parts[0]->isText() ||
      parts[0]->text != "storage" || !parts[2]->isText() ||
      !isPrintable(parts[2]->text) || !parts[4]->isInteger() ||
      parts[4]->integer < 0 ||
      (parts.size() == 6 && parts[5]->kind != PickleValue::Kind::None))
    return std::nullopt;
  auto type = find_if(kElementTypes, [&](const ElementType &known) {
    return parts[1]->isGlobal(known.name);
  });
  if (type == std::end(kElementTypes))
    return std::nullopt;
  return Storage{type, parts[2]->text, uint64_t(parts[4]->integer)};
}

/// Reads a tuple of numbers that are not negative.
static bool readNumbers(const PickleValue &value,
                        SmallVectorImpl<int64_t> &numbers) {
  if (value.items.size() > kMaxRank)
    return false;
  for (const PickleValue *item : value.items) {
    if (!item->isInteger() || item->integer < 0)
      return false;
    numbers.push_back(item->integer);
  }
  return value.kind == PickleValue::Kind::Tuple;
}

/// A parameter is a tensor.
static const PickleValue *getTensor(const PickleValue *value) {
  bool isParameter = value->isCallOf(kParameter) && value->items.size() > 1;
  return isParameter ? value->items[1] : value;
}

/// A dictionary behind what gradients need.
bool torch::hasMetadata(const PickleValue *value) {
  value = getTensor(value);
  return value->isCallOf(kTensor) && value->items.size() > 7 &&
         !value->items[7]->items.empty();
}

/// A tensor: (storage, first element, shape, strides, and what gradients need).
std::optional<View> torch::readView(const PickleValue *value) {
  value = getTensor(value);
  if (!(value->isCallOf(kTensor) || value->isCallOf(kOldTensor)) ||
      value->items.size() < 5)
    return std::nullopt;
  ArrayRef<const PickleValue *> parts = ArrayRef(value->items).drop_front();
  std::optional<Storage> storage = readStorage(*parts[0]);
  View view;
  if (!storage || !parts[1]->isInteger() || parts[1]->integer < 0 ||
      !readNumbers(*parts[2], view.shape) ||
      !readNumbers(*parts[3], view.strides) ||
      view.shape.size() != view.strides.size())
    return std::nullopt;
  view.storage = std::move(*storage);
  view.first = uint64_t(parts[1]->integer);
  return view;
}

bool torch::isDense(const View &view) {
  int64_t expected = 1;
  for (auto [extent, stride] : reverse(zip(view.shape, view.strides))) {
    if (extent != 1 && stride != expected)
      return false;
    expected *= extent;
  }
  return true;
}

bool torch::fitsStorage(const View &view) {
  uint64_t last = view.first, count = view.storage.count;
  for (auto [extent, stride] : zip_equal(view.shape, view.strides)) {
    if (last >= count ||
        (extent > 1 && uint64_t(stride) > count / (extent - 1)))
      return false;
    last += uint64_t(extent - 1) * stride;
  }
  return last < count;
}

void torch::copyElements(const View &view, StringRef storage,
                         MutableArrayRef<char> target) {
  uint64_t size = view.storage.type->size;
  SmallVector<int64_t, 4> index(view.shape.size());
  uint64_t element = view.first;
  char *place = target.data();
  while (true) {
    place = llvm::copy(storage.substr(element * size, size), place);
    size_t dim = index.size();
    // Counts the last dimension up, and those before if one is through.
    while (dim > 0) {
      --dim;
      element += view.strides[dim];
      if (++index[dim] < view.shape[dim])
        break;
      element -= view.shape[dim] * view.strides[dim];
      index[dim] = 0;
      if (dim == 0)
        return;
    }
    if (index.empty())
      return;
  }
}
