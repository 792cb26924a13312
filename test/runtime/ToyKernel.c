//===- ToyKernel.c - A decoder that hashes ------------------------*- C -*-===//
//
// Entry points in the shape that the compiler gives them, whose logits are a
// hash of all the decoder may see: the source ids, the target ids so far and
// the position. Whatever the runtime mixes up (a row, a state, a length, a
// buffer, the order of arguments) changes them, and so do denormals that are
// not flushed. Each call scribbles over its arena, and memory behind a
// sentence's end is poisoned. Steps are parallel loops over their rows.
// ToyModel.cpp states the same function for one sentence.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/KernelAbi.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { kVocabulary = 11, kSeed = 17, kPoison = -77 };

static uint32_t mix(uint32_t hash, uint32_t value) {
  hash = (hash ^ value) * 2654435761u;
  return hash ^ (hash >> 15);
}

/// Zero where denormals are flushed, results (bit 0) and operands (bit 1).
static uint32_t denormalsLeft(void) {
  volatile float smallest = FLT_MIN, denormal = FLT_TRUE_MIN;
  float half = smallest / 2;
  uint32_t bits;
  memcpy(&bits, &half, sizeof(bits)); // A comparison would flush its operands.
  return (bits != 0) + 2 * (denormal * 0x1p100f != 0);
}

/// Sixteen levels, so that ties are common; more eos as the sentence grows.
static float logit(const struct HeddleCall *call, uint32_t source,
                   uint32_t prefix, int32_t position, int32_t id) {
  const float *weights = call->weights;
  uint32_t hash = mix(mix(source, prefix), (uint32_t)id + denormalsLeft());
  return weights[0] * (float)(hash >> 28) +
         (id == 0 ? (float)position / 2 : 0.0f);
}

static uint32_t hashSource(const float *memory, int32_t length) {
  uint32_t hash = kSeed + denormalsLeft();
  for (int32_t s = 0; s < length; ++s)
    hash = mix(hash, (uint32_t)memory[2 * s]);
  return hash;
}

/// Kernel number `kernel` of the manifest: a loop over rows, as the compiler
/// has it, of one flop and four bytes a row.
static void forEachRow(const struct HeddleCall *call, int64_t kernel,
                       HeddleTask task) {
  int64_t rows = call->dims[0];
  struct HeddleProfile *profile = call->profile;
  int64_t start = profile ? profile->now(profile) : 0;
  if (call->parallelFor && rows > 1)
    call->parallelFor(call->pool, rows, task, (void *)call, call->scratch,
                      call->scratchBytes);
  else
    task((void *)call, call->scratch, 0, rows);
  if (profile)
    profile->add(profile, kernel, profile->now(profile) - start, rows,
                 4 * rows);
}

static void scribble(const struct HeddleCall *call, int64_t bytes) {
  memset(call->arena, 0xAB, (size_t)bytes);
}

// encode(batch, source): ids, lengths -> memory [batch, source, 2]
/// Scratch memory of a thread: none of these kernels takes any.
int64_t scratch_bytes(void) __asm__(HEDDLE_SCRATCH);
int64_t scratch_bytes(void) { return 64; }

int64_t encode_arena(const int64_t *dims) { return 256 * dims[0] * dims[1]; }
int32_t encode(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  const int32_t *ids = call->buffers[0].at, *lengths = call->buffers[1].at;
  float *memory = call->buffers[2].at;
  float leak = (float)denormalsLeft();
  scribble(call, encode_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t s = 0; s < source; ++s) {
      int inside = s < lengths[b];
      float *cell = memory + 2 * (b * source + s);
      cell[0] = inside ? (float)ids[b * source + s] + leak : (float)kPoison;
      cell[1] = cosf((float)s); // From the host's libm.
    }
  }
  return 0;
}

// encode_global(batch, source, globals): as encode, and global. What stands at
// a global position is marked with its place among them.
int64_t encode_global_arena(const int64_t *dims) { return encode_arena(dims); }
int32_t encode_global(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  int64_t globals = call->dims[2];
  const int32_t *lengths = call->buffers[1].at, *global = call->buffers[3].at;
  float *memory = call->buffers[2].at;
  encode(call);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t g = 0; g < globals; ++g) {
      int32_t position = global[b * globals + g];
      if (position >= 0 && position < source)
        memory[2 * (b * source + position) + 1] =
            position < lengths[b] ? (float)(100 + g) : (float)kPoison;
    }
  return 0;
}

// encode_typed(batch, source): as encode, and types, source_positions. The
// second element of a token becomes 100 type + position.
int64_t encode_typed_arena(const int64_t *dims) { return encode_arena(dims); }
int32_t encode_typed(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  const int32_t *lengths = call->buffers[1].at, *types = call->buffers[3].at;
  const int32_t *positions = call->buffers[4].at;
  float *memory = call->buffers[2].at;
  encode(call);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < source; ++s, ++types, ++positions)
      memory[2 * (b * source + s) + 1] =
          s < lengths[b] ? (float)(100 * *types + *positions) : (float)kPoison;
  return 0;
}

// embed(batch, source): memory, lengths, prompt -> vectors [batch, 4]: the sum
// of (s + 1) times the id of token s behind the prompt, the length, that of the
// prompt, and the sum of (s + 1) times the second element of all tokens.
int64_t embed_arena(const int64_t *dims) { return 64 * dims[0]; }
int32_t embed(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  const float *memory = call->buffers[0].at;
  const int32_t *lengths = call->buffers[1].at, *prompt = call->buffers[2].at;
  float *vectors = call->buffers[3].at;
  scribble(call, embed_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b, vectors += 4) {
    vectors[0] = vectors[3] = 0;
    vectors[1] = (float)lengths[b];
    vectors[2] = (float)prompt[b];
    for (int32_t s = 0; s < lengths[b]; ++s) {
      const float *token = memory + 2 * (b * source + s);
      vectors[0] += s < prompt[b] ? 0 : (float)(s + 1) * token[0];
      vectors[3] += (float)(s + 1) * token[1];
    }
  }
  return 0;
}

// classify(batch, source): memory, lengths -> logits [batch, 3]: the first id,
// the length, the last id.
int64_t classify_arena(const int64_t *dims) { return 64 * dims[0]; }
int32_t classify(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  const float *memory = call->buffers[0].at;
  const int32_t *lengths = call->buffers[1].at;
  float *logits = call->buffers[2].at;
  scribble(call, classify_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b, logits += 3) {
    logits[0] = memory[2 * b * source];
    logits[1] = (float)lengths[b];
    logits[2] = memory[2 * (b * source + lengths[b] - 1)];
  }
  return 0;
}

// tag(batch, source): memory, lengths -> logits [batch, source, 3]: half of the
// id, of the position, of the length.
int64_t tag_arena(const int64_t *dims) { return 64 * dims[0]; }
int32_t tag(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  const float *memory = call->buffers[0].at;
  const int32_t *lengths = call->buffers[1].at;
  float *logits = call->buffers[2].at;
  scribble(call, tag_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < source; ++s, logits += 3) {
      int isThere = s < lengths[b];
      logits[0] = isThere ? memory[2 * (b * source + s)] / 2 : kPoison;
      logits[1] = isThere ? (float)s / 2 : kPoison;
      logits[2] = isThere ? (float)lengths[b] / 2 : kPoison;
    }
  return 0;
}

// fill(batch, source, masks): memory, masks -> logits [batch, masks, 9]: word w
// at position p has w / 4, or 3 if it is the remainder of p.
int64_t fill_arena(const int64_t *dims) { return 64 * dims[0]; }
int32_t fill(const struct HeddleCall *call) {
  int64_t count = call->dims[0] * call->dims[2];
  const int32_t *masks = call->buffers[1].at;
  float *logits = call->buffers[2].at;
  scribble(call, fill_arena(call->dims));
  for (int64_t i = 0; i < count; ++i)
    for (int32_t word = 0; word < 9; ++word)
      *logits++ = masks[i] < 0           ? kPoison
                  : masks[i] % 9 == word ? 3
                                         : (float)word / 4;
  return 0;
}

// decode(batch, source, target): ids, memory, lengths -> logits
int64_t decode_arena(const int64_t *dims) { return 64 * dims[2]; }
int32_t decode(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  int64_t target = call->dims[2];
  const int32_t *ids = call->buffers[0].at, *lengths = call->buffers[2].at;
  const float *memory = call->buffers[1].at;
  float *logits = call->buffers[3].at;
  scribble(call, decode_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b) {
    uint32_t sentence = hashSource(memory + 2 * b * source, lengths[b]);
    uint32_t prefix = kSeed;
    for (int64_t t = 0; t < target; ++t) {
      prefix = mix(prefix, (uint32_t)ids[b * target + t]);
      for (int32_t id = 0; id < kVocabulary; ++id)
        *logits++ = logit(call, sentence, prefix, (int32_t)t, id);
    }
  }
  return 0;
}

// prepare(source, batch): memory, lengths -> summary i32 [batch, 3]
int64_t prepare_arena(const int64_t *dims) { return 8 * dims[0] * dims[1]; }
int32_t prepare(const struct HeddleCall *call) {
  int64_t source = call->dims[0], batch = call->dims[1];
  const float *memory = call->buffers[0].at;
  const int32_t *lengths = call->buffers[1].at;
  uint32_t *summary = call->buffers[2].at;
  scribble(call, prepare_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b)
    summary[3 * b + 1] = hashSource(memory + 2 * b * source, lengths[b]);
  return 0;
}

/// One step's prefix: from the state `rolling` [rows, 1], which starts with
/// zeros, and, as a second opinion, from the state `history` [rows, capacity].
static uint32_t advance(uint32_t *rolling, int32_t *history, int32_t position,
                        int32_t id) {
  *rolling = mix(position == 0 ? *rolling + kSeed : *rolling, (uint32_t)id);
  history[position] = id;
  uint32_t prefix = kSeed;
  for (int32_t t = 0; t <= position; ++t)
    prefix = mix(prefix, (uint32_t)history[t]);
  return prefix == *rolling ? prefix : 0;
}

// step(rows, batch, capacity): history, ids, positions, sentences, summary,
//                              rolling -> logits [rows, vocabulary]
int64_t step_arena(const int64_t *dims) { return 128 * dims[0]; }
static void step_rows(void *context, void *scratch, int64_t begin,
                      int64_t end) {
  const struct HeddleCall *call = context;
  int64_t capacity = call->dims[2];
  int32_t *history = call->buffers[0].at;
  const int32_t *ids = call->buffers[1].at, *positions = call->buffers[2].at;
  const int32_t *sentences = call->buffers[3].at;
  const uint32_t *summary = call->buffers[4].at;
  uint32_t *rolling = call->buffers[5].at;
  float *logits = (float *)call->buffers[6].at + begin * kVocabulary;
  for (int64_t r = begin; r < end; ++r) {
    uint32_t prefix =
        advance(rolling + r, history + r * capacity, positions[r], ids[r]);
    for (int32_t id = 0; id < kVocabulary; ++id)
      *logits++ =
          logit(call, summary[3 * sentences[r] + 1], prefix, positions[r], id);
  }
}
int32_t step(const struct HeddleCall *call) {
  scribble(call, step_arena(call->dims));
  forEachRow(call, 0, step_rows);
  return 0;
}

// Fails, whatever it is asked.
int64_t failing_arena(const int64_t *dims) { return 128 * dims[0]; }
int32_t failing(const struct HeddleCall *call) { return 7; }

/// The largest logits of four ids a range, but for the forbidden ones of a row.
static void reduce(const float *logits, const int32_t *forbidden, int64_t count,
                   float *values, int32_t *largest) {
  for (int32_t id = 0; id < kVocabulary; ++id) {
    int32_t range = id / 4;
    int isAllowed = 1;
    for (int64_t f = 0; f < count; ++f)
      isAllowed &= forbidden[f] != id;
    if (id % 4 == 0) {
      values[range] = -INFINITY;
      largest[range] = -1;
    }
    if (isAllowed && logits[id] > values[range]) {
      values[range] = logits[id];
      largest[range] = id;
    }
  }
}

// greedy(rows, batch, capacity, forbidden): history, ids, positions, sentences,
//     summary, rolling, forbidden -> values, largest [rows, 3]
int64_t greedy_arena(const int64_t *dims) { return 128 * dims[0]; }
static void greedy_rows(void *context, void *scratch, int64_t begin,
                        int64_t end) {
  const struct HeddleCall *call = context;
  int64_t capacity = call->dims[2], count = call->dims[3];
  int32_t *history = call->buffers[0].at;
  const int32_t *ids = call->buffers[1].at, *positions = call->buffers[2].at;
  const int32_t *sentences = call->buffers[3].at;
  const uint32_t *summary = call->buffers[4].at;
  uint32_t *rolling = call->buffers[5].at;
  const int32_t *forbidden = call->buffers[6].at;
  float *values = call->buffers[7].at;
  int32_t *largest = call->buffers[8].at;
  for (int64_t r = begin; r < end; ++r) {
    uint32_t prefix =
        advance(rolling + r, history + r * capacity, positions[r], ids[r]);
    float logits[kVocabulary];
    for (int32_t id = 0; id < kVocabulary; ++id)
      logits[id] =
          logit(call, summary[3 * sentences[r] + 1], prefix, positions[r], id);
    reduce(logits, forbidden + r * count, count, values + 3 * r,
           largest + 3 * r);
  }
}
int32_t greedy(const struct HeddleCall *call) {
  scribble(call, greedy_arena(call->dims));
  forEachRow(call, 0, greedy_rows);
  return 0;
}

static int isForbidden(int32_t id, const int32_t *forbidden, int64_t count) {
  for (int64_t f = 0; f < count && forbidden[f] >= 0; ++f)
    if (forbidden[f] == id)
      return 1;
  return 0;
}

/// The best logits of four ids a range, but for the forbidden ones of a row,
/// and the maximum and sum of exponentials of all, or where the row ends in -2
/// (kSumsOfAllowed) of those that are not forbidden.
static void rank(const float *logits, const int32_t *forbidden, int64_t count,
                 int64_t best, float *maxima, float *sums, float *values,
                 int32_t *ids) {
  int64_t leftOut = forbidden[count - 1] == -2 ? count : 0;
  for (int32_t range = 0; range < 3; ++range, values += best, ids += best) {
    int32_t begin = 4 * range;
    int32_t end = begin + 4 < kVocabulary ? begin + 4 : kVocabulary;
    maxima[range] = -INFINITY;
    sums[range] = 0;
    for (int32_t id = begin; id < end; ++id)
      if (!isForbidden(id, forbidden, leftOut))
        maxima[range] = fmaxf(maxima[range], logits[id]);
    for (int32_t id = begin; id < end; ++id)
      if (!isForbidden(id, forbidden, leftOut))
        sums[range] += expf(logits[id] - maxima[range]);
    for (int64_t place = 0; place < best; ++place) {
      values[place] = -INFINITY;
      ids[place] = -1;
      for (int32_t id = begin; id < end && place < end - begin; ++id) {
        int isAllowed = !isForbidden(id, forbidden, count);
        for (int64_t before = 0; before < place; ++before)
          isAllowed &= ids[before] != id;
        if (isAllowed && logits[id] > values[place]) {
          values[place] = logits[id];
          ids[place] = id;
        }
      }
    }
  }
}

// best(rows, batch, capacity, caches, forbidden, best): ids, positions,
//     sentences, caches, history, summary, rolling, tokens [caches, capacity],
//     forbidden -> maxima, sums [rows, 3], values, best [rows, 3, best]
// The second opinion of a row's prefix comes through its history of caches.
int64_t best_arena(const int64_t *dims) { return 128 * dims[0]; }
static void best_rows(void *context, void *scratch, int64_t begin,
                      int64_t end) {
  const struct HeddleCall *call = context;
  int64_t capacity = call->dims[2], count = call->dims[4], best = call->dims[5];
  const int32_t *ids = call->buffers[0].at, *positions = call->buffers[1].at;
  const int32_t *sentences = call->buffers[2].at, *caches = call->buffers[3].at;
  const int32_t *history = call->buffers[4].at;
  const uint32_t *summary = call->buffers[5].at;
  uint32_t *rolling = call->buffers[6].at;
  int32_t *tokens = call->buffers[7].at;
  const int32_t *forbidden = call->buffers[8].at;
  float *maxima = call->buffers[9].at, *sums = call->buffers[10].at;
  float *values = call->buffers[11].at;
  int32_t *largest = call->buffers[12].at;
  for (int64_t r = begin; r < end; ++r) {
    rolling[r] = mix(positions[r] == 0 ? rolling[r] + kSeed : rolling[r],
                     (uint32_t)ids[r]);
    tokens[caches[r] * capacity + positions[r]] = ids[r];
    uint32_t prefix = kSeed;
    for (int32_t t = 0; t <= positions[r]; ++t)
      prefix = mix(prefix,
                   (uint32_t)tokens[history[r * capacity + t] * capacity + t]);
    if (prefix != rolling[r])
      prefix = 0;
    float logits[kVocabulary];
    for (int32_t id = 0; id < kVocabulary; ++id)
      logits[id] =
          logit(call, summary[3 * sentences[r] + 1], prefix, positions[r], id);
    rank(logits, forbidden + r * count, count, best, maxima + 3 * r,
         sums + 3 * r, values + 3 * best * r, largest + 3 * best * r);
  }
}
int32_t best(const struct HeddleCall *call) {
  scribble(call, best_arena(call->dims));
  forEachRow(call, 0, best_rows);
  return 0;
}

// chunk(batch, target, wanted, caches, capacity): ids [batch, target],
//     target_lengths, wanted [batch, wanted], caches, summary, rolling, tokens
//     -> logits [batch, wanted, vocabulary]
int64_t chunk_arena(const int64_t *dims) { return 64 * dims[1]; }
int32_t chunk(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], target = call->dims[1];
  int64_t asked = call->dims[2], capacity = call->dims[4];
  const int32_t *ids = call->buffers[0].at, *lengths = call->buffers[1].at;
  const int32_t *wanted = call->buffers[2].at, *caches = call->buffers[3].at;
  const uint32_t *summary = call->buffers[4].at;
  uint32_t *rolling = call->buffers[5].at;
  int32_t *tokens = call->buffers[6].at;
  float *logits = call->buffers[7].at;
  scribble(call, chunk_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b) {
    uint32_t prefix = kSeed;
    for (int32_t t = 0; t < lengths[b]; ++t) {
      int32_t token = ids[b * target + t];
      prefix = mix(prefix, (uint32_t)token);
      tokens[caches[b] * capacity + t] = token;
      for (int64_t w = 0; w < asked; ++w)
        for (int32_t id = 0; wanted[b * asked + w] == t && id < kVocabulary;
             ++id)
          logits[(b * asked + w) * kVocabulary + id] =
              logit(call, summary[3 * b + 1], prefix, t, id);
    }
    if (lengths[b] > 0)
      rolling[b] = prefix;
  }
  return 0;
}

// shortlist_prepare(batch, source, shortlist): memory, lengths, candidates,
//     counts -> summary [batch, 3], gathered i32 [batch, shortlist]
int64_t shortlist_prepare_arena(const int64_t *dims) { return 16 * dims[2]; }
int32_t shortlist_prepare(const struct HeddleCall *call) {
  int64_t batch = call->dims[0], source = call->dims[1];
  int64_t shortlist = call->dims[2];
  const float *memory = call->buffers[0].at;
  const int32_t *lengths = call->buffers[1].at,
                *candidates = call->buffers[2].at;
  const int32_t *counts = call->buffers[3].at;
  uint32_t *summary = call->buffers[4].at;
  int32_t *gathered = call->buffers[5].at;
  scribble(call, shortlist_prepare_arena(call->dims));
  for (int64_t b = 0; b < batch; ++b) {
    summary[3 * b + 1] = hashSource(memory + 2 * b * source, lengths[b]);
    for (int64_t c = 0; c < shortlist; ++c)
      gathered[b * shortlist + c] =
          c < counts[b] ? candidates[b * shortlist + c] : kPoison;
  }
  return 0;
}

// shortlist_step(rows, batch, capacity, shortlist): ids, positions, sentences,
//     counts, summary, gathered, rolling, history -> logits [rows, shortlist]
int64_t shortlist_step_arena(const int64_t *dims) { return 128 * dims[0]; }
static void shortlist_step_rows(void *context, void *scratch, int64_t begin,
                                int64_t end) {
  const struct HeddleCall *call = context;
  int64_t capacity = call->dims[2], shortlist = call->dims[3];
  const int32_t *ids = call->buffers[0].at, *positions = call->buffers[1].at;
  const int32_t *sentences = call->buffers[2].at, *counts = call->buffers[3].at;
  const uint32_t *summary = call->buffers[4].at;
  const int32_t *gathered = call->buffers[5].at;
  uint32_t *rolling = call->buffers[6].at;
  int32_t *history = call->buffers[7].at;
  float *logits = (float *)call->buffers[8].at + begin * shortlist;
  for (int64_t r = begin; r < end; ++r) {
    uint32_t prefix =
        advance(rolling + r, history + r * capacity, positions[r], ids[r]);
    for (int64_t c = 0; c < shortlist; ++c)
      *logits++ =
          c < counts[sentences[r]]
              ? logit(call, summary[3 * sentences[r] + 1], prefix, positions[r],
                      gathered[sentences[r] * shortlist + c])
              : -INFINITY;
  }
}
int32_t shortlist_step(const struct HeddleCall *call) {
  scribble(call, shortlist_step_arena(call->dims));
  forEachRow(call, 1, shortlist_step_rows);
  return 0;
}
