//===- Workspace.h - Memory that is planned, then taken ---------*- C++ -*-===//
//
// All buffers of a batch stand in one block: first every buffer is placed,
// which gives its place, then the block is taken, which gives its address. So
// memory can run out at one point only, and nothing allocates in a loop. What
// the host reads and writes stands at its beginning, in the order in which it
// was placed; at its end what costs nothing before it is touched.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_WORKSPACE_H
#define HEDDLE_RUNTIME_SESSION_WORKSPACE_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/session/Device.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace heddle {

/// The parts of a block: for the device alone; for the host, too; and for the
/// device, as it is touched.
enum class Part { Own, Shared, Touched };

/// Where a buffer stands.
struct Place {
  Part part = Part::Own;
  int64_t offset = 0;
};

/// Shared places that stand together.
struct PlaceRange {
  Place begin, end;
};

/// The places of what entries read, by kind and name.
using Places = std::map<std::pair<ArgumentKind, std::string_view>, Place>;

/// Owns the block, which only grows; borrows the device. Not thread-safe.
class Workspace {
public:
  explicit Workspace(Device &device) : device(device) {}
  Workspace(const Workspace &) = delete;
  Workspace &operator=(const Workspace &) = delete;
  ~Workspace() { release(); }

  /// Forgets all places; the block stays for the next plan.
  void restart() { shared = own = touched = 0; }
  /// A new place, aligned as KernelAbi.h promises, for the device alone. A size
  /// of nullopt is one that had an overflow; size() reports it.
  Place place(std::optional<int64_t> bytes);
  /// The same at the beginning of a page, for what costs nothing before
  /// touch().
  Place placeTouched(std::optional<int64_t> bytes);
  /// The same for host and device.
  Place placeShared(std::optional<int64_t> bytes);
  /// The same for `count` rows of `width` elements of four bytes.
  Place placeNumbers(int64_t count, int64_t width = 1);
  /// Where the next shared place will stand.
  Place sharedEnd() const { return {Part::Shared, shared.value_or(0)}; }
  /// What all places need; nullopt if that had an overflow.
  std::optional<int64_t> size() const;
  /// The part of it that costs something before it is touched.
  int64_t takenSize() const {
    return device.pageBytes() ? *touchedBegin() : *size();
  }
  /// Makes the block large enough for all places, which have a size. Its
  /// content is undefined.
  Status take();
  /// Gives the block back.
  void release();
  /// The device's address; valid until the next take().
  char *at(Place place) const {
    int64_t begin = place.part == Part::Own       ? *ownBegin()
                    : place.part == Part::Touched ? *touchedBegin()
                                                  : 0;
    return block + begin + place.offset;
  }
  /// The host's address of a shared place; valid as long.
  char *hostAt(Place place) const { return mirror + place.offset; }

  /// Gives the device what the host wrote to shared places,
  /// and the host what the device wrote.
  Status send(const PlaceRange &range);
  Status fetch(const PlaceRange &range);

private:
  static constexpr int64_t kBufferAlignment = 64;
  std::optional<int64_t> ownBegin() const;
  std::optional<int64_t> touchedBegin() const;
  Status takeBlock(int64_t bytes);

  Device &device;
  /// Bytes of the places of each part.
  std::optional<int64_t> shared = 0, own = 0, touched = 0;
  char *block = nullptr, *mirror = nullptr;
  int64_t blockSize = 0, mirrorSize = 0;
  /// Whether the block costs what is touched.
  bool isReserved = false;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_WORKSPACE_H
