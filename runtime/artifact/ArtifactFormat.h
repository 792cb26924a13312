//===- ArtifactFormat.h - The layout of an artifact file --------*- C++ -*-===//
//
// An artifact is one file: a header, a table of sections, the sections.
//
//   offset 0        Header (64 bytes)
//   offset 64       Section[sectionCount] (64 bytes each)
//   ...             sections, each at a multiple of alignmentOf(its name);
//                   what is between them is zero
//
// All integers are little-endian. Sections:
//   manifest            JSON, described below
//   code.<isa>          an ELF shared object for that ISA level: segments,
//                       DT_HASH and relocations, the imports of CodeImports.h,
//                       nothing that runs while it is loaded (CodeLoader.h)
//   code.<gpu>          the same of entry points that start kernels of a GPU
//   kernels.<gpu>       these kernels: KernelTableHeader, then a KernelRecord
//                       for each number, then names and images, which end in
//                       NUL; images are PTX or cubins, and begin at multiples
//                       of 16. Among them are those that KernelAbi.h names
//   weights             tensors at multiples of kTensorAlignment, memory-mapped
//   weights.checksums   u64 XXH3 of each kWeightsChunk bytes of `weights`
//   tokenizer           its stages, see TokenizerFormat.h
//   shortlist           ShortlistHeader, u64 offsets[sourceCount + 1], then
//                       u32 ids[idCount]: source id s admits the target ids
//                       ids[offsets[s]] ... ids[offsets[s + 1] - 1]
//
// The manifest:
//   { "heddle": "0.1.0",                       the compiler's version
//     "model": {"name": ..., "family": ...},
//     "isas": ["x86-64-v3"],
//     "gpus": ["sm_80", "sm_90a"],             lowest first
//     "options": {...},                        provenance, for --info
//     "source": {"vocabulary": 32000, "positions": 512 (the most tokens),
//        "types": 2 (of tokens), "pad": 1 (the token without a position)},
//     "tasks": {"generate": {"vocabulary": 32000, "start": -1, "eos": [0],
//        "prompt": "source" (the default) or, of a decoder alone, "target",
//        "beams": 4, "max_length": 511, ...}, the keys of SearchSettings.def;
//            "embed": {"prompts": {"query": "query: "} (texts in front of
//            others), "prompt": "query" (the default), "weights": "log1p"
//            or "log1p_log1p" (of sparse vectors: what is taken of logits)},
//            "classify": {"labels": ["bad", "good"], "scores": "softmax" (the
//            default), "sigmoid" (of each label by itself) or "none"},
//            "tag": {"labels": ["none", "name"]}, "answer": {"separator": 2
//            (the first of these ends a question, if its tokens are global
//            ones)}, "fill": {"mask": 103 (the token that is guessed)}}; all
//            but the first with "max_tokens": 256 (longer texts are cut, or
//            read in windows). Without tasks a model gives hidden states alone
//     "tokenizer": {"kind": "sentencepiece", "characters", "byte-level" or
//            "none" (no section tokenizer; "reason": why), all for people,
//        "bos": 4 (in front of a source), "eos": 0 (behind it), "language": 5
//            (behind eos), as the section has them, for sources of ids and for
//            targets; "unknown": 1, "special": [ids dropped from text],
//            "clean_up": 1 (take back the space in front of English
//            punctuation), "marks_words": 1 (pieces inside words have a mark
//            that text lacks). Ids may be beyond the vocabularies: text that
//            needs one is refused,
//        "languages": ["ar_AR", "cs_CZ"], which a request may name, with
//            "language_tokens": [ids] and "target_language": "start" (what the
//            decoder starts from) | "forced_bos" (the first generated token) |
//            "source" (what a source has in place of its own language)},
//     "entries": [{"name": "decode.step", "role": "step", "decoder": "decode",
//        "symbol": ..., "arena_symbol": ..., "dims": ["rows", "batch"],
//        "arguments": [{"name": "ids", "kind": "input", "dtype": "i32",
//                       "shape": ["rows"]}, ...],
//        "kernels": [0, 3],                    of each place that calls one
//        "layers": [0, -1],                    and which layer it computes
//        "heads": {"queries": 8, "keys": 8, "aligned": 1, "scale": 0.125}}],
//                                              of the role "align" alone
//     "libraries": ["libheddle-onednn.so"],      what the code calls
//     "kernels": ["linear_256x1536", ...],       what a profile counts
//     "kernel_types": ["i8", ...],               and what each multiplies
//     "layers": ["encoder_l1_self_Wq", ...] }    names of a checkpoint
// "gpus", "libraries", "kernels" and with them "kernel_types" may miss,
// "layers", and all keys of "source" but "vocabulary", all of "embed",
// "max_tokens", "scores" and "separator", every key of "generate" except
// "vocabulary" and "eos", which is [] if the limit alone ends a sequence. A
// decoder alone has no entry "encode". Places that call kernels are numbered
// through all entries, in order; -1 is a layer without a name. dtype is "f32",
// "i32", "i8", "bf16" or "f16". A shape's elements are numbers or names of
// dims; "source floordiv 2" is half of a source, rounded down, and
// "capacity<=7" the capacity, but never more than 7. The step of such a state
// may have "pinned": 2, slots that keep the first positions; the other 5 are a
// ring of the latest.
//
// Entries by their roles, with the arguments the runtime knows by name. All
// roles from `full` on are forms of a "decoder"; a form of one that has
// candidates (dim "shortlist") has a twin without. Entries without a role are
// left alone.
//   encode   ids [batch, source], lengths [batch] and, if it asks for them,
//            types [batch, source] (of tokens), source_positions [batch,
//            source] (of tokens that are not "pad" from pad + 1 on, of the
//            others pad), global [batch, globals] (of a Longformer: ascending
//            positions of its global tokens, then numbers that are no
//            positions) -> memory
//   embed    memory, lengths and, if it asks for it, prompt [batch] (how many
//            of the first tokens are a prompt's) -> vectors f32 [batch, width]
//   classify memory, lengths -> logits f32 [batch, labels]
//   tag      memory, lengths -> logits f32 [batch, source, labels]
//   answer   memory, lengths -> logits f32 [batch, source, 2], of the first
//            token of an answer and of the last one
//   fill     memory, lengths and masks [batch, masks] (positions of the token
//            that is guessed, then -1) -> logits f32 [batch, masks, vocabulary]
// A ragged encoder has no padding: its tokens and those of its tasks are
// [tokens, ...] in place of [batch, source, ...], sequence behind sequence, and
// masks and their logits [masks, ...], tokens of all sequences, or -1 if there
// is none. Both may ask for positions and sequences [tokens] (where a token
// stands), starts [batch] (the first token of each sequence) and blocks
// [blocks] (the tokens at positions 0, HEDDLE_QUERY_BLOCK, ...).
//   full     ids [batch, target], memory, lengths -> logits [batch, target,
//            vocabulary]
//   align    ids [batch, target], memory, lengths -> queries f32 [batch,
//   target,
//            heads d] and keys f32 [batch, source, heads d]: row t of those of
//            a target shows what its token t attends to, as the mean over the
//            first "aligned" heads of softmax("scale" * query . key) over the
//            tokens of the source
//   prepare  memory, lengths -> outputs of kind "output", by name
//   step     ids [rows], positions [rows], sentences [rows], caches [rows],
//            then "input"s (lengths), "prepared" (the outputs of prepare of
//            that name) and "state"s -> logits [rows, vocabulary]
//   beam     as step, with one more input, history [rows, capacity]
//   extend   ids, positions, sentences and caches [tokens], as of a step's
//   rows,
//            of which there are at most HEDDLE_EXTEND_ROWS and no two at one
//            position of a cache; prefill [blocks]: the rows with which blocks
//            of prompts begin, neighbouring positions of one sentence with one
//            position / HEDDLE_QUERY_BLOCK each, and, last, the first row that
//            is generated, behind all of these; wanted [wanted] (rows, or -1
//            for a row of zeros) and, if it asks for it, wanted_sentences
//            [wanted], then as step -> logits [wanted, vocabulary]
//   chunk    ids [batch, target], target_lengths [batch], caches [batch] and
//            wanted [batch, wanted] (positions), then as step -> logits [batch,
//            wanted, vocabulary]
//   greedy   as step, with one more input, forbidden [rows, forbidden] (ids
//            that may not come, then -1) -> values f32 and largest i32
//            [rows, ranges], any number: the largest logit that is not
//            forbidden of each range of the vocabulary, in order, and the first
//            id that has it. If none is above -inf the id is -1, and the
//            value NaN if one is no number, otherwise -inf
//   best     as greedy, and with history [rows, capacity] if beam has it ->
//            maxima and sums f32 [rows, ranges], of all logits of a range, or,
//            if the last of a row's forbidden ids is kSumsOfAllowed, of
//            those that are not forbidden, the largest number and the sum of
//            exp(logit - maximum), NaN or inf if one is no number or +inf;
//            values f32 and best i32 [rows, ranges, best]: the largest logits
//            that are not forbidden, descending, and their ids, of equal ones
//            the first one first; -inf and -1 if there are fewer above -inf
// Over candidates there are two more inputs, candidates [batch, shortlist]
// (target ids) and counts [batch], and logits are as many as candidates: -inf
// from a row's count on. `sentences` says which row of the prepared memory (dim
// "batch") a row reads.
//
// States are zero at the start, and the same for all forms of a decoder. One of
// constant size is led by "rows", in a chunk, whose rows are sentences, by
// "batch": row i belongs to row i of a call. A cache, led by "caches", has a
// slot for each position ("capacity"). Row r writes to cache caches[r] and
// reads its past from it, or position j of it from cache history[r, j], the
// last one its own: caches are never copied. A chunk leaves the states of
// target_lengths positions, from which steps go on.
//
// Versions: kVersion rises with every change for which a runtime of the version
// before would refuse the file or compute something else - of the header, the
// table or a section, of KernelAbi.h, of what a key means, or a key that
// matters
// - and with no other: not with what may be left unread (provenance, a section
// for people), nor with more fusions and kernels. A runtime reads its own
// version and no other. Of a file of another one it reads magic and version,
// the first 12 bytes, which keep their places for ever, and says in a sentence
// what it found, what it reads, and whether the file needs a newer runtime or
// the model another compilation. Nothing converts artifacts: checkpoints are
// kept, artifacts are made again. In an executable runner and artifact come
// from one compiler and are of one version.
//
// Executables: what --emit=exe writes is heddle-run with kRunnerWithModel in
// place of kRunnerAlone, and the artifact in a section of its own,
// kExecutableSection, at a multiple of kCodeAlignment in the file and in no
// segment.
//
// Trust: an artifact is code, like an executable; loading one runs none of it,
// running one does. Checksums find damage, not malice. Header, manifest, code
// and tokenizer are checked at every load, weights and padding only with
// --verify, since a load stays in milliseconds. One of the four headers of the
// runtime that the compiler sees.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_ARTIFACTFORMAT_H
#define HEDDLE_RUNTIME_ARTIFACT_ARTIFACTFORMAT_H

#include <cstdint>
#include <string_view>

namespace heddle::format {

inline constexpr char kMagic[8] = {'H', 'E', 'D', 'D', 'L', 'E', '\r', '\n'};
inline constexpr uint32_t kVersion = 30;
inline constexpr uint64_t kSectionAlignment = 4096;
/// Of sections that are mapped with protections of their own: a multiple of the
/// pages of every system (4 KiB on x86-64; 4, 16 or 64 KiB on AArch64).
inline constexpr uint64_t kCodeAlignment = 64 * 1024;
inline constexpr uint64_t kTensorAlignment = 64;
inline constexpr uint64_t kWeightsChunk = 64 * 1024;

/// The section of an executable that holds an artifact.
inline constexpr char kExecutableSection[] = ".heddle";
/// Stands in heddle-run once, and is replaced by the other, of equal length, in
/// an executable that runs the model it carries.
inline constexpr char kRunnerAlone[] = "heddle-run:alone";
inline constexpr char kRunnerWithModel[] = "heddle-run:model";
static_assert(sizeof(kRunnerAlone) == sizeof(kRunnerWithModel));

/// What the offset of a section is a multiple of.
inline constexpr uint64_t alignmentOf(std::string_view section) {
  return section.substr(0, 5) == "code." ? kCodeAlignment : kSectionAlignment;
}

/// At offset 0.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sectionCount;
  uint64_t fileSize;
  /// XXH3 of the section table.
  uint64_t tableChecksum;
  uint64_t reserved[4];
};
static_assert(sizeof(Header) == 64);

/// One entry of the table behind the header.
struct Section {
  /// Zero-padded; at most 31 characters.
  char name[32];
  uint64_t offset;
  uint64_t size;
  /// XXH3 of the section's bytes; of `weights.checksums` in place of `weights`.
  uint64_t checksum;
  uint64_t reserved;
};
static_assert(sizeof(Section) == 64);

/// At the start of a section `kernels.<gpu>`.
struct KernelTableHeader {
  uint64_t count;
};

/// Offsets count from the start of the section.
struct KernelRecord {
  uint64_t name;
  uint64_t image;
  uint64_t imageBytes;
  /// A cubin of the architecture, if its bytes are not 0: for drivers that
  /// take it in place of the image.
  uint64_t binary;
  uint64_t binaryBytes;
  /// Of a block.
  uint32_t threads;
  /// Of dynamic shared memory.
  uint32_t sharedBytes;
  /// If this is not 0 a grid starts no more blocks than the GPU has room for
  /// at once, in clusters of so many, and they do what there is for all.
  uint32_t stayingCluster;
  uint32_t reserved;
};
static_assert(sizeof(KernelRecord) == 56);

/// At the start of the section `shortlist`.
struct ShortlistHeader {
  /// Target ids 0 ... firstCount - 1 are admitted for every sentence.
  uint64_t firstCount;
  uint64_t sourceCount;
  uint64_t idCount;
};
static_assert(sizeof(ShortlistHeader) == 24);

} // namespace heddle::format

namespace heddle {

/// What logits of labels become: probabilities that sum to 1, one of each label
/// by itself, or what they are, as those of a regression.
enum class LabelScores { Softmax, Sigmoid, None };
inline constexpr std::string_view kLabelScoresNames[] = {"softmax", "sigmoid",
                                                         "none"};

/// Behind a row's forbidden ids of a best step, as the last number: no sum
/// counts their logits.
inline constexpr int32_t kSumsOfAllowed = -2;

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_ARTIFACTFORMAT_H
