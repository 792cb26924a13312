//===- KernelAbi.h - How the runtime calls compiled code ----------*- C -*-===//
//
// Every entry point of an artifact is a C function of one argument. Which
// buffers and dimensions it expects, and in which order, is written in the
// artifact's manifest (see ArtifactFormat.h). One of the four headers of the
// runtime that the compiler sees.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CODE_KERNELABI_H
#define HEDDLE_RUNTIME_CODE_KERNELABI_H

#include <stdint.h>

/// In front of a field that host and compiled code share: it begins a word of 8
/// bytes. Structures of such fields have one layout whatever the size of a
/// pointer: if it is 4 bytes (wasm32), it is the first half of its word.
#ifdef __cplusplus
#define HEDDLE_WORD alignas(8)
extern "C" {
#else
#define HEDDLE_WORD _Alignas(8)
#endif

/// Iterations begin ... end - 1 of a loop whose iterations are independent of
/// each other: they write memory of their own, and may run in any order, on any
/// thread that has the float environment of entry points. `scratch` is the
/// thread's alone, as large as the code says.
typedef void (*HeddleTask)(void *context, void *scratch, int64_t begin,
                           int64_t end);

/// Runs the iterations 0 ... count - 1 of `task`, each once, on the threads of
/// `pool`, this one included, and returns when all are done. Thread t of the
/// pool has its scratch memory at `scratch` + t `scratchBytes`. Called by one
/// thread at a time, and by none of the tasks.
typedef void (*HeddleParallelFor)(void *pool, int64_t count, HeddleTask task,
                                  void *context, void *scratch,
                                  int64_t scratchBytes);

/// Where the calls of kernels are counted. Both functions take the profile;
/// nothing else in it is for the callee.
struct HeddleProfile {
  /// Nanoseconds of a clock that never goes back.
  HEDDLE_WORD int64_t (*now)(struct HeddleProfile *profile);
  /// Counts a call of a kernel, which ended when `now` was asked last, at the
  /// place number `place` of the manifest's entries.
  HEDDLE_WORD void (*add)(struct HeddleProfile *profile, int64_t place,
                          int64_t nanoseconds, int64_t flops, int64_t bytes);
};

/// The GPU that an entry point's kernels run on. What it is asked for happens
/// in the order it is asked for, behind the caller's back; after a failure it
/// does nothing more. Nothing else in it is for the callee.
struct HeddleDevice {
  /// Starts kernel number `kernel` of the code's, in `blocks` blocks of as many
  /// threads as its metadata says, or in fewer if that says that they stay;
  /// `context` is its parameter, which is copied. None are started if there
  /// are no blocks.
  HEDDLE_WORD void (*launch)(struct HeddleDevice *device, int64_t kernel,
                             int64_t blocks, const void *context);
  /// Memory of the device for kernels that are launched before it is asked
  /// again: at least `bytes`, aligned to 64 bytes, of undefined content; null,
  /// with a status, behind a failure or if the call has less. How much it is
  /// depends on the dims alone, as do the kernels that are launched.
  HEDDLE_WORD void *(*scratch)(struct HeddleDevice *device, int64_t bytes);
  /// 0, or what failed first: what entries return.
  HEDDLE_WORD int32_t status;
};

/// The parameter of the kernel HEDDLE_MOVE_ROWS, which the runtime starts
/// itself: if `gathers`, to[i] = from[parents[i]], otherwise to[i] = from[i].
/// Rows with parents[i] == i are not written. A thread moves one piece of
/// `rowsOfThread` rows, one after the other; a block has HEDDLE_MOVE_THREADS
/// threads.
#define HEDDLE_MOVE_ROWS "heddle_move_rows"
#define HEDDLE_MOVE_THREADS 128
struct HeddleRowMove {
  /// Addresses in the device's memory.
  uint64_t from, to, parents;
  /// From a row to the next, of both.
  uint64_t rowBytes;
  /// Rows to move, and pieces per row; a piece has `pieceBytes`: 16 if
  /// addresses and rowBytes are multiples of 16, otherwise 4.
  int32_t rows, pieces, pieceBytes;
  int32_t rowsOfThread, gathers;
};

/// The parameter of the kernel HEDDLE_WRITE_HISTORY, which the runtime starts
/// in front of entries that read a `history` (ArtifactFormat.h): row r of it
/// gets caches[r] at positions[r]. A thread has a row, a block
/// HEDDLE_HISTORY_THREADS of them.
#define HEDDLE_WRITE_HISTORY "heddle_write_history"
#define HEDDLE_HISTORY_THREADS 32
struct HeddleHistoryWrite {
  /// Addresses in the device's memory: i32 [rows, capacity], [rows], [rows].
  uint64_t history, positions, caches;
  int32_t rows, capacity;
};

/// The parameter of the kernel HEDDLE_MERGE_RANGES, which the runtime starts
/// after entries of the roles `greedy` and `best` (ArtifactFormat.h). It merges
/// each row's lists (one per range) and keeps the first `count`: larger values
/// first, ties by range; entries without id (-1) last, NaNs first among them.
/// A thread has one element of the lists, a block HEDDLE_MERGE_THREADS of them.
#define HEDDLE_MERGE_RANGES "heddle_merge_ranges"
#define HEDDLE_MERGE_THREADS 128
struct HeddleRangeMerge {
  /// Addresses in the device's memory: f32 and i32 [rows, ranges, count], each
  /// list in that order, and [rows, count].
  uint64_t values, ids, bestValues, bestIds;
  /// Fewer than 2^31 elements.
  int32_t rows, ranges, count;
};

/// Queries that a block of a ragged encoder has (ArtifactFormat.h); the last
/// one of a sequence may have fewer.
#define HEDDLE_QUERY_BLOCK 32

/// The most rows of a call of a decoder that extends (ArtifactFormat.h): rings
/// of KV caches have room for as many.
#define HEDDLE_EXTEND_ROWS 256

/// One address of an array of them.
struct HeddleAddress {
  HEDDLE_WORD void *at;
};

/// What one call of an entry point reads. Owned by the caller, unchanged by the
/// callee. Thread safety: calls that share no output, state or arena may run at
/// the same time.
struct HeddleCall {
  /// One pointer an argument, in manifest order, each to a dense row-major
  /// array of the argument's shape, aligned to 64 bytes. Inputs are read,
  /// outputs written, states read and written in place. With a device they are
  /// in its memory, as are the arena and the weights.
  HEDDLE_WORD const struct HeddleAddress *buffers;
  /// One value a symbolic dimension, in manifest order; each at least 1.
  HEDDLE_WORD const int64_t *dims;
  /// Scratch memory of at least the size that the entry's arena function
  /// returns for `dims`, aligned to 64 bytes. Its content needs no set-up and
  /// means nothing after the call.
  HEDDLE_WORD void *arena;
  /// The artifact's weights section.
  HEDDLE_WORD const void *weights;
  /// Runs loops on several threads; null if there is only this one. No
  /// result depends on it.
  HEDDLE_WORD HeddleParallelFor parallelFor;
  /// The first argument of `parallelFor`.
  HEDDLE_WORD void *pool;
  /// Null if nobody asks.
  HEDDLE_WORD struct HeddleProfile *profile;
  /// Scratch memory of each thread, this one's first: as many times
  /// `scratchBytes` as there are threads, aligned to 64 bytes. Its content
  /// needs no set-up and means nothing after the call. With a device, what it
  /// gives of that.
  HEDDLE_WORD void *scratch;
  /// At least what HeddleScratchSize says, or `device` is asked for.
  HEDDLE_WORD int64_t scratchBytes;
  /// Null for code of the CPU.
  HEDDLE_WORD struct HeddleDevice *device;
  /// How many threads `parallelFor` shares loops among, at least 1; 1 if it is
  /// null. No result depends on it.
  HEDDLE_WORD int64_t threads;
};

/// An entry point. Allocates nothing; returns 0, or what the device's status
/// is. Called with denormals flushed to zero and the rest of MXCSR at its
/// defaults (FloatEnvironment.h), which it leaves as it is, except for
/// exception flags.
typedef int32_t (*HeddleEntry)(const struct HeddleCall *call);

/// Bytes of arena that an entry point needs. Never decreases when a dimension
/// grows, so that an arena for the largest dimensions serves all smaller ones.
typedef int64_t (*HeddleArenaSize)(const int64_t *dims);

/// Bytes of scratch memory that a thread needs, whatever the entry and its
/// dims: the function HEDDLE_SCRATCH of each ISA level's code.
typedef int64_t (*HeddleScratchSize)(void);
#define HEDDLE_SCRATCH "heddle.scratch"

/// The one function of libheddle-onednn.so, which code compiled with
/// --gemm=onednn calls: y = residual + activation(x W + b), f32, of x [rows,
/// in], W [in, out] whose rows are `weightStride` apart, b [out], residual and
/// y [rows, out]; b and residual may be null. `activation` is the dialect's
/// ActivationKind, -1 for none. The bits of a row depend on `rows`. Any thread.
void heddle_onednn_linear(const float *input, const float *weight,
                          const float *bias, const float *residual,
                          float *output, int64_t rows, int64_t in, int64_t out,
                          int64_t weightStride, int64_t activation);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HEDDLE_RUNTIME_CODE_KERNELABI_H
