//===- WarpgroupMma.cpp - Products that end when waited for ---------------===//
//
// Thread t of the warpgroup holds of the sums what mma.sync's lanes hold:
// register i is row 16 (t / 32) + g + 8 (i / 2 % 2), column 8 (i / 4) + 2 (t %
// 4) + i % 2.
//
//===----------------------------------------------------------------------===//

#include "WarpgroupMma.h"
#include "MatrixDescriptor.h"
#include "MatrixNumbers.h"
#include "test/emulator/Operations.h"
#include "test/emulator/Worker.h"

using namespace heddle::emulator;

static constexpr unsigned kThreads = 128;

/// Where the words of an operation's operands are behind the sums.
enum Setting {
  kDescriptorA,
  kDescriptorB,
  kAddsToSums,
  kScaleA,
  kScaleB,
  kTransposeA,
  kTransposeB
};

std::string Product::describe() const {
  return format("%s of warpgroup %u (%u of 128 threads are there)",
                operation->name.c_str(), warpgroup, numGiven);
}

void WarpgroupMeetings::clear(unsigned numWarpgroups) {
  groups.clear();
  groups.resize(numWarpgroups);
}

std::shared_ptr<Product> WarpgroupMeetings::join(Thread &thread,
                                                 const Operation &operation) {
  unsigned number = thread.linearThread / kThreads;
  Warpgroup &group = groups[number];
  uint64_t index = thread.products.count++ - group.firstIndex;
  if (index == group.products.size()) {
    auto product = std::make_shared<Product>();
    product->operation = &operation;
    product->warpgroup = number;
    product->serial = group.nextSerial;
    group.nextSerial = group.nextSerial % 0x3fff + 1;
    group.products.push_back(std::move(product));
  }
  std::shared_ptr<Product> product = group.products[index];
  if (++product->numGiven == kThreads) {
    for (Thread *other : product->waiting)
      thread.worker->wake(*other);
    product->waiting.clear();
    while (!group.products.empty() &&
           group.products.front()->numGiven == kThreads) {
      group.products.pop_front();
      ++group.firstIndex;
    }
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Numbers that stand for sums to come
//===----------------------------------------------------------------------===//

static uint32_t tokenOf(uint32_t serial, unsigned index) {
  return 0x7fc00000 | serial << 8 | index;
}

/// The product that a register's number stands for; null if for none.
static std::shared_ptr<Product> findPending(const PendingProducts &products,
                                            uint32_t word, unsigned index) {
  const std::vector<std::shared_ptr<Product>> &all = products.groups.all();
  for (auto product = all.rbegin(); product != all.rend(); ++product)
    if (word == tokenOf((*product)->serial, index))
      return *product;
  return nullptr;
}

/// Puts sums that were waited for in the place of numbers that stand for them.
static void resolve(const Thread &thread, unsigned count,
                    const uint64_t *operands, uint64_t *results) {
  const auto &finished = thread.products.finished;
  // Most registers in a row are of one product.
  const Product *last = nullptr;
  auto find = [&](uint32_t serial) {
    if (last && last->serial == serial)
      return last;
    for (auto product = finished.rbegin(); product != finished.rend();
         ++product)
      if ((*product)->serial == serial)
        return last = product->get();
    return static_cast<const Product *>(nullptr);
  };
  for (unsigned i = 0; i < count; ++i) {
    auto word = static_cast<uint32_t>(operands[i]);
    results[i] = word;
    if (word >> 22 != 0x7fc00000 >> 22)
      continue;
    const Product *product = find(word >> 8 & 0x3fff);
    unsigned index = word & 0xff;
    unsigned numSums = product ? product->numSums : 0;
    if (index < numSums)
      results[i] =
          product->sums[thread.linearThread % kThreads * numSums + index];
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Calls function(address) for each 16 bytes that a product reads.
template <typename Function>
static void forEachChunk(const Product &product, Function function) {
  const Operation &operation = *product.operation;
  const uint64_t *settings = product.settings;
  auto kindA = static_cast<NumberKind>(operation.detail[1]);
  auto kindB = static_cast<NumberKind>(operation.detail[2]);
  if (!operation.detail[3])
    MatrixDescriptor(settings[kDescriptorA], settings[kTransposeA])
        .forEachChunk(64, elementBytes(kindA), function);
  MatrixDescriptor(settings[kDescriptorB], settings[kTransposeB])
      .forEachChunk(operation.detail[0], elementBytes(kindB), function);
}

namespace {

template <typename Number> struct Factors {
  Number a[64][32], b[32][256], sums[64][256];
};

} // namespace

template <typename Number>
static void readA(const SharedMemory &shared, const Product &product,
                  Factors<Number> &factors) {
  auto kind = static_cast<NumberKind>(product.operation->detail[1]);
  if (!product.operation->detail[3]) {
    MatrixDescriptor(product.settings[kDescriptorA],
                     product.settings[kTransposeA])
        .forEachElement<Number>(shared, 64, kind, [&](int m, int k, Number n) {
          factors.a[m][k] = n;
        });
    return;
  }
  int each = elementsPerWord(kind);
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < each; ++i) {
        int lane = thread % 32;
        int row = thread / 32 * 16 + lane / 4 + 8 * (r % 2);
        int column = lane % 4 * each + i + 4 * each * (r / 2);
        factors.a[row][column] =
            element<Number>(kind, product.fragments[thread * 4 + r], i);
      }
}

// The order of additions is that of k, on any processor; products are exact.
template <typename Number>
__attribute__((always_inline)) static inline void
multiplyInOrder(Factors<Number> &factors, int n, int k) {
  for (int row = 0; row < 64; ++row)
    for (int i = 0; i < k; ++i) {
      Number a = factors.a[row][i];
      for (int column = 0; column < n; ++column)
        factors.sums[row][column] += a * factors.b[i][column];
    }
}

__attribute__((target_clones("avx2", "default"))) static void
multiplyFloats(Factors<double> &factors, int n, int k) {
  multiplyInOrder(factors, n, k);
}

static void multiply(Factors<double> &factors, int n, int k) {
  multiplyFloats(factors, n, k);
}
__attribute__((target_clones("avx2", "default"))) static void
multiplyIntegers(Factors<uint32_t> &factors, int n, int k) {
  multiplyInOrder(factors, n, k);
}

// Integers wrap, signed ones, too.
static void multiply(Factors<uint32_t> &factors, int n, int k) {
  multiplyIntegers(factors, n, k);
}

template <typename Number>
static void compute(const SharedMemory &shared, Product &product) {
  thread_local Factors<Number> factors;
  const Operation &operation = *product.operation;
  int n = operation.detail[0];
  auto kindB = static_cast<NumberKind>(operation.detail[2]);
  int k = 32 / elementBytes(kindB);
  readA(shared, product, factors);
  MatrixDescriptor(product.settings[kDescriptorB],
                   product.settings[kTransposeB])
      .forEachElement<Number>(shared, n, kindB,
                              [&](int column, int i, Number number) {
                                factors.b[i][column] = number;
                              });
  bool isNegative = (product.settings[kScaleA] >> 31 & 1) !=
                    (product.settings[kScaleB] >> 31 & 1);
  unsigned count = n / 2;
  const uint32_t *before =
      (product.previous ? product.previous->sums : product.sums).get();
  // Two rows of a thread, four of its registers at a time.
  auto forEachSum = [&](auto function) {
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      unsigned row = thread / 32 * 16 + thread % 32 / 4;
      Number *upper = &factors.sums[row][thread % 4 * 2];
      Number *lower = &factors.sums[row + 8][thread % 4 * 2];
      for (unsigned i = 0; i < count; i += 4) {
        unsigned first = thread * count + i;
        function(first, upper[2 * i]);
        function(first + 1, upper[2 * i + 1]);
        function(first + 2, lower[2 * i]);
        function(first + 3, lower[2 * i + 1]);
      }
    }
  };
  bool adds = product.settings[kAddsToSums] & 1;
  forEachSum([&](unsigned i, Number &sum) {
    if (!adds)
      sum = 0;
    else if constexpr (std::is_same_v<Number, double>)
      sum = bitsAs<float>(before[i]);
    else
      sum = before[i];
    if (isNegative)
      sum = -sum;
  });
  multiply(factors, n, k);
  forEachSum([&](unsigned i, Number &sum) {
    if (isNegative)
      sum = -sum;
    if constexpr (std::is_same_v<Number, double>)
      product.sums[i] = bitsAs<uint32_t>(static_cast<float>(sum));
    else
      product.sums[i] = sum;
  });
}

/// What came before it in its chain is done.
static void finish(RunningBlock &block, Product &product) {
  auto kind = static_cast<NumberKind>(product.operation->detail[1]);
  if (kind == kS8 || kind == kU8)
    compute<uint32_t>(block.shared, product);
  else
    compute<double>(block.shared, product);
  product.isDone = true;
  product.previous.reset();
  SharedMemory &shared = block.shared;
  product.doneTime = block.warpgroups.nextTime(product.warpgroup);
  uint32_t actor = shared.productActor(product.warpgroup);
  forEachChunk(product, [&](uint64_t address) {
    shared.finishRead(address, 16, actor, product.ticket, product.doneTime);
  });
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// The first thread's registers say what the product is, others' have to agree.
static void begin(Thread &thread, Product &product, const uint64_t *settings,
                  std::shared_ptr<Product> previous) {
  const Operation &operation = *product.operation;
  std::copy(settings, settings + 7, product.settings);
  product.previous = std::move(previous);
  product.numSums = operation.detail[0] / 2;
  product.sums.reset(new uint32_t[kThreads * product.numSums]);
  if (operation.detail[3])
    product.fragments.resize(kThreads * 4);
  SharedMemory &shared = thread.home->shared;
  for (unsigned i : {kDescriptorA, kDescriptorB}) {
    if (i == kDescriptorA && operation.detail[3])
      continue;
    std::string problem = MatrixDescriptor(settings[i], false).problem();
    if (!problem.empty())
      fail(thread, kIllegalInstruction, operation.name + ": " + problem);
  }
  if (!shared.isChecked)
    return;
  uint32_t actor = shared.productActor(product.warpgroup);
  product.ticket = shared.nextTicket();
  forEachChunk(product, [&](uint64_t address) {
    shared.checkBounds(thread, address, 16, 16, operation.name.c_str());
    shared.beginRead(thread, address, 16, actor, product.ticket,
                     operation.name);
  });
}

/// Operands the sums' registers, A as a descriptor or four registers, B's
/// descriptor, whether to add to the sums, scales of A and B, transpositions.
/// detail is n, kinds of A and B, whether A is in registers.
void heddle::emulator::multiplyWarpgroup(Context &context,
                                         const Operation &operation,
                                         const uint64_t *operands,
                                         uint64_t *results) {
  Thread &thread = threadOf(context);
  unsigned position = thread.linearThread % kThreads;
  if (context.worker->numThreads / kThreads * kThreads <= thread.linearThread)
    fail(context, kIllegalInstruction,
         operation.name + " in a warpgroup of less than 128 threads");
  unsigned count = operation.detail[0] / 2;
  bool hasFragments = operation.detail[3];
  const uint64_t *a = operands + count;
  const uint64_t *rest = a + (hasFragments ? 4 : 1);
  uint64_t settings[7];
  settings[kDescriptorA] = hasFragments ? 0 : a[0];
  std::copy(rest, rest + 6, settings + kDescriptorB);

  bool adds = settings[kAddsToSums] & 1;
  std::shared_ptr<Product> previous =
      findPending(thread.products, static_cast<uint32_t>(operands[0]), 0);
  if (!previous && !thread.products.isFenced)
    fail(context, kLaunchFailed,
         operation.name + " without wgmma.fence since its registers were "
                          "written, or since the last wgmma.commit_group");
  std::shared_ptr<Product> product =
      thread.home->warpgroups.join(thread, operation);
  if (!product->sums)
    begin(thread, *product, settings, adds ? previous : nullptr);
  bool agrees = (product->operation == &operation ||
                 product->operation->name == operation.name) &&
                product->previous == (adds ? previous : nullptr) &&
                std::equal(settings, settings + 7, product->settings);
  if (!agrees)
    fail(context, kLaunchFailed,
         operation.name + " is not the same in all threads of its warpgroup");
  for (unsigned i = 0; i < count; ++i) {
    auto word = static_cast<uint32_t>(operands[i]);
    if (previous && adds && word != tokenOf(previous->serial, i))
      fail(context, kLaunchFailed,
           operation.name + " adds to registers that another wgmma has not "
                            "finished, in another order");
    results[i] = tokenOf(product->serial, i);
    // Others are sums to come, or are not added to.
    if (!previous && adds)
      product->sums[position * count + i] = word;
  }
  if (hasFragments)
    for (unsigned r = 0; r < 4; ++r)
      product->fragments[position * 4 + r] = static_cast<uint32_t>(a[r]);
  thread.products.groups.add(std::move(product));
}

void heddle::emulator::fenceProducts(Context &context, const Operation &,
                                     const uint64_t *, uint64_t *) {
  threadOf(context).products.isFenced = true;
}

void heddle::emulator::commitProducts(Context &context, const Operation &,
                                      const uint64_t *, uint64_t *) {
  PendingProducts &products = threadOf(context).products;
  products.groups.commit();
  products.isFenced = false;
}

/// Operands how many groups may be under way, then registers to pass; detail[0]
/// is how many of these.
void heddle::emulator::waitForProducts(Context &context,
                                       const Operation &operation,
                                       const uint64_t *operands,
                                       uint64_t *results) {
  RunningBlock &block = blockOf(context);
  Thread &thread = threadOf(context);
  PendingProducts &products = thread.products;
  while (products.groups.numCommitted() > operands[0]) {
    uint32_t doneTime = 0;
    size_t others = products.groups.numCommitted() - 1;
    for (size_t i = 0, size = products.groups.size(others); i < size; ++i) {
      const std::shared_ptr<Product> &product = products.groups.all()[i];
      while (product->numGiven < kThreads) {
        product->waiting.push_back(&thread);
        thread.worker->wait(thread, *product);
      }
      if (!product->isDone)
        finish(block, *product);
      doneTime = product->doneTime;
      products.finished.push_back(product);
    }
    products.groups.drop(others);
    // Others of the warpgroup may be further: what they know is not known here.
    if (block.shared.isChecked && doneTime) {
      unsigned warpgroup = thread.linearThread / kThreads;
      Times times(block.shared.productActor(warpgroup) + 1);
      times.back() = doneTime;
      thread.clock.acquireMore(times);
    }
  }
  products.isFenced = false;
  resolve(thread, operation.detail[0], operands + 1, results);
  // Only the last of a chain is in registers.
  while (products.finished.size() > 32)
    products.finished.pop_front();
}

/// Assembly that does nothing but to stand between registers and their use.
void heddle::emulator::passRegisters(Context &context,
                                     const Operation &operation,
                                     const uint64_t *operands,
                                     uint64_t *results) {
  resolve(threadOf(context), operation.detail[0], operands, results);
}
