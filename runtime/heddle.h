/*===- heddle.h - Running compiled models from C ------------------*- C -*-===*\
|*
|* A model that heddle-compile wrote is loaded once and run by any number of
|* sessions:
|*
|*   heddle_model *model;
|*   heddle_session *session;
|*   heddle_answers *answers;
|*   heddle_input input = {.text = "Good morning.", .text_size = 13};
|*   if (heddle_model_load("en-pt.heddle", 0, &model) ||
|*       heddle_session_create(model, NULL, &session) ||
|*       heddle_translate(session, &input, 1, &answers)) {
|*     fprintf(stderr, "%s\n", heddle_error());
|*     return 1;
|*   }
|*   puts(heddle_answer(answers, 0, 0)->text);
|*   heddle_answers_free(answers);
|*   heddle_session_free(session);
|*   heddle_model_free(model);
|*
|* Memory. What a function creates is freed by the function of its type, and
|* plain arrays and texts by heddle_free; all of these take NULL. No other
|* pointer may be NULL unless its comment says so, except that of an array
|* without elements. A call that gets NULL is HEDDLE_MISUSED, and so is one with
|* more elements than memory has addresses for; a function without a status
|* returns 0 or NULL then. What is passed in is borrowed for the call. Texts are
|* UTF-8 with their size in bytes, need no NUL at their end, and may hold any
|* bytes: what is not UTF-8 reads as an unknown character. Texts that come out
|* end with a NUL that their size does not count.
|*
|* Threads. A model is immutable: any number of threads share it. A session
|* runs one call at a time; sessions of one model run beside each other. Only
|* heddle_cancel may meet a call of the same session: any other, from a callback
|* of it too, is HEDDLE_MISUSED.
|*
|* Answers depend on the input, the model and the settings of the search alone:
|* they are the same, bit for bit, in any batch, order, and number of threads or
|* workers.
|*
|* Trust. A model is code, as a shared library is: load what you would run.
|*
|* Versions. Before 1.0 the number behind libheddle.so is the one that says
|* what fits together; functions, fields and settings may come to an end with
|* it, and never without it.
|*
\*===----------------------------------------------------------------------===*/

#ifndef HEDDLE_H
#define HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* For an enumeration that comes from the caller, who may hand over any number:
   in C++ it would hold no others than its names need. */
#ifdef __cplusplus
#define HEDDLE_ANY_NUMBER : int
#else
#define HEDDLE_ANY_NUMBER
#endif

/* Heddle's version, "0.1.0". */
const char *heddle_version(void);

/*===----------------------------------------------------------------------===*\
|* Errors
\*===----------------------------------------------------------------------===*/

/* What a call returns. One that fails gives nothing out: a pointer that it
   would have set is NULL. */
typedef enum heddle_status {
  HEDDLE_OK = 0,
  /* The input, the file or the machine is at fault: memory, too, if what a
     batch takes, or what a call gives out, is not to be had. If the lists
     and texts of the library itself find none, the C++ library ends the
     process. */
  HEDDLE_FAILED = 1,
  /* The call itself: a setting that does not exist or contradicts another, a
     value that no argument has. Nothing was done. */
  HEDDLE_MISUSED = 2,
  /* heddle_cancel ended it, or a callback that asked for that, whatever else
     would have become of it: nothing but that is said then. */
  HEDDLE_CANCELLED = 3
} heddle_status;

/* Why the last call of this thread that failed did so: one sentence without a
   period, what is wrong, where, what was expected and found. Valid until the
   next one that fails; "" if none did. */
const char *heddle_error(void);

/* Frees an array or text that a function gave out. */
void heddle_free(void *memory);

/*===----------------------------------------------------------------------===*\
|* Models
\*===----------------------------------------------------------------------===*/

/* A loaded model. */
typedef struct heddle_model heddle_model;

/* Flags of loading, 0 or a sum of these: check the weights, too, which reads
   the whole file; run on the CPU, or on an NVIDIA GPU, and nowhere else. With
   neither of the last two a model that has code for GPUs runs on the first one
   if that works, and on the CPU otherwise, from the call on in which a GPU
   fails: it is answered there as well, unless a callback has had tokens.
   heddle_session_gpu_failure says what failed. */
#define HEDDLE_VERIFY 1u
#define HEDDLE_CPU 2u
#define HEDDLE_CUDA 4u

/* Loads a file of heddle-compile, an artifact or an executable. Its pages are
   shared with all processes that load it: do not write to the file, replace it
   by renaming another one over it. */
heddle_status heddle_model_load(const char *path, unsigned flags,
                                heddle_model **model);

/* Takes how many of all bytes of a model's weights are on their way to a GPU,
   or there: `all` of them at last. */
typedef void (*heddle_progress_callback)(void *context, uint64_t done,
                                         uint64_t all);

/* heddle_model_load, which calls `callback` for each piece of 16 MiB of the
   weights, from the thread that loads. With HEDDLE_CPU, or without a GPU, none
   has to go anywhere, and nothing is called; if the choice is left open, a
   GPU that fails halfway leaves the model to the CPU: the calls end then. */
heddle_status heddle_model_load_with_progress(const char *path, unsigned flags,
                                              heddle_progress_callback callback,
                                              void *context,
                                              heddle_model **model);

/* Loads the bytes of such a file, which stay the caller's and must stay as they
   are until the model is freed. Their address is a multiple of 64. `name` is
   what errors call them. */
heddle_status heddle_model_load_memory(const void *bytes, size_t size,
                                       const char *name, unsigned flags,
                                       heddle_model **model);

/* An ensemble: a model of its own, which shares its members. They translate
   together: each reads a text by its own tokenizer, and a token has the
   weighted mean of what they say, see the settings "ensemble-mean" and
   "ensemble-weights". Members may differ in all but the target vocabulary,
   which is compared token by token, and run on the CPU. What else is asked of
   the ensemble, such as alignments, hidden states and its vocabulary, is the
   first member's; so are defaults of the search. An engine takes none. */
heddle_status heddle_ensemble_create(const heddle_model *const *members,
                                     size_t count, heddle_model **ensemble);

/* Gives a model back. Its sessions may go on: it is gone with the last. */
void heddle_model_free(heddle_model *model);

/* Whether it knows text: otherwise inputs are ids. */
int heddle_model_has_tokenizer(const heddle_model *model);

/* Why it has none: what the compiler found that it does not support; empty
   if there was nothing. Stays until the model is freed. */
const char *heddle_model_tokenizer_problem(const heddle_model *model);

/* Whether it has a task: "generate", "embed", "classify", "tag", "answer" or
   "fill". */
int heddle_model_has_task(const heddle_model *model, const char *task);

/* Whether what it generates continues a text, as a language model does, and is
   no translation of it. */
int heddle_model_continues_texts(const heddle_model *model);

/* Whether it has a prompt of this name, which the setting "prompt" may put in
   front of the texts that it embeds. */
int heddle_model_has_prompt(const heddle_model *model, const char *name);

/* How many ids its source and its target vocabulary have. */
int32_t heddle_model_source_vocabulary(const heddle_model *model);
int32_t heddle_model_target_vocabulary(const heddle_model *model);

/* What a file holds, as text for people; its code is not loaded, so that the
   machine may be another one. The memory of decoding is that of `positions`
   tokens, or with 0 of as many as the model generates at most. */
heddle_status heddle_describe(const char *path, unsigned flags,
                              int64_t positions, char **text);

/*===----------------------------------------------------------------------===*\
|* Settings
\*===----------------------------------------------------------------------===*/

/* What a session is asked for: names with values, all as text. */
typedef struct heddle_settings heddle_settings;

/* One of the settings that exist. */
typedef struct heddle_setting {
  /* "beam". */
  const char *name;
  /* What its value is called: "N"; NULL for "true" or "false". */
  const char *value;
  /* "Search", "Samples", "Vectors", "Labels", "Machine" or "Text". */
  const char *group;
  /* What it does, and its default. */
  const char *help;
} heddle_setting;

/* All of them, in the order in which people read them; `heddle-run --help`
   prints them. */
const heddle_setting *heddle_settings_list(size_t *count);

/* Settings of which none is set: a model's own search, one worker on the thread
   that calls. In errors, `prefix` stands before the name of a setting; "--"
   makes it a flag, NULL is nothing. */
heddle_status heddle_settings_create(const char *prefix,
                                     heddle_settings **settings);
void heddle_settings_free(heddle_settings *settings);

/* Sets one, or unsets it with a value of NULL. HEDDLE_MISUSED if there is
   none of this name, or the value means nothing. */
heddle_status heddle_settings_set(heddle_settings *settings, const char *name,
                                  const char *value);

/* Adds a sequence that is never generated: text, or ids with the setting
   "ids". */
heddle_status heddle_settings_add_bad_words(heddle_settings *settings,
                                            const char *text, size_t size);

/* Adds a text that ends the answer to an input, which stops in front of it (a
   stop string), whatever tokens spell it; ids and log-probabilities have them.
   What a target was given to begin with stays. For greedy searches and samples
   of models with a tokenizer. */
heddle_status heddle_settings_add_stop(heddle_settings *settings,
                                       const char *text, size_t size);

/* Adds what targets may be made of: text, of which the tokens of each word
   count, or ids with the setting "ids". Tokens that end a target may come, too,
   and those that the model is forced to write. One call says it for all inputs;
   of several, each says it for an input, in their order. The model's shortlist
   is not used then. */
heddle_status heddle_settings_add_allowed(heddle_settings *settings,
                                          const char *text, size_t size);

/* HEDDLE_MISUSED if settings contradict each other. Whatever takes settings
   asks this first. */
heddle_status heddle_settings_check(const heddle_settings *settings);

/*===----------------------------------------------------------------------===*\
|* Sessions
\*===----------------------------------------------------------------------===*/

/* A session runs a model. It keeps the threads that its settings ask for and
   the memory of its largest batch. */
typedef struct heddle_session heddle_session;

/* Begins a session. `settings` may be NULL, and changed or freed later without
   effect on it. */
heddle_status heddle_session_create(const heddle_model *model,
                                    const heddle_settings *settings,
                                    heddle_session **session);
void heddle_session_free(heddle_session *session);

/* Replaces all settings of a session for the calls that follow. Cheap, unless
   threads, workers, "global" or "profile" change. */
heddle_status heddle_session_configure(heddle_session *session,
                                       const heddle_settings *settings);

/* Whether a GPU does what a session is asked for, or some of its workers'. */
int heddle_session_uses_gpu(const heddle_session *session);

/* What is done about an input that the model cannot take, "stop", "skip" or
   "crop": the setting "on-error", or else what the model says. */
const char *heddle_session_on_error(const heddle_session *session);

/* Why the CPU does what a GPU might have done, from the beginning or from some
   batch on: one sentence about what failed first. NULL if nothing has, and
   if the machine has no GPU, or no driver. The text stays valid until the
   session is configured or freed. Of a session that nobody configures, any
   thread may ask for this and the above, also during a call. */
const char *heddle_session_gpu_failure(const heddle_session *session);

/* Ends the running call with HEDDLE_CANCELLED: within a step of the decoder, or
   after the encoder has computed a batch. A call is one that takes inputs, or a
   source. A call that has no work left to save is cancelled all the same. If no
   call runs, the next one with inputs (a count above 0) is cancelled. Several
   cancels count as one.

   A `next` of a source that waits for input goes on waiting: the caller of
   heddle_cancel has to make it return (heddle_source). Any thread may call
   this, a callback of the call, and a signal handler. */
void heddle_cancel(heddle_session *session);

/* For interpreters, which notice Ctrl-C when a call returns: until the release,
   SIGINT cancels the session, as heddle_cancel does, and then goes to the
   handler that it had before; the default action, to end the process, is left
   out, and what is ignored stays so. One session of a process at a time: for
   calls of the main thread. The release gives the signal back, unless somebody
   else has taken it meanwhile, and returns whether one has come. */
heddle_status heddle_guard_interrupts(heddle_session *session);
int heddle_release_interrupts(void);

/*===----------------------------------------------------------------------===*\
|* Tokens
\*===----------------------------------------------------------------------===*/

/* What a text is to a model. */
enum {
  /* A source, with the special tokens that the model wants around it. */
  HEDDLE_SOURCE = 0,
  /* A part of a target, nothing added. */
  HEDDLE_TARGET_PART = 1,
  /* The beginning of one: the first token that the model is forced to write is
     added, or that of its tokenizer. Nothing is added to an empty text. */
  HEDDLE_TARGET_BEGINNING = 2,
  /* All of one: its end is added, too. */
  HEDDLE_TARGET = 3,
  /* Added to one of these: the text is ids with spaces between them, as with
     the setting "ids". They stand for themselves. */
  HEDDLE_IDS = 16,
  /* Added to the first of these: a source that is too long loses what is too
     much, except for its end. Otherwise it fails, whatever "on-error" says. */
  HEDDLE_CROP = 32
};

/* The ids of a text, none for a text without a token that is to be translated.
   heddle_embed and what labels texts read these otherwise: with prompts, and of
   a long one its beginning. Fails if the model cannot take them. Errors call
   the text `name`; with NULL, "the text". Any number of threads may ask a
   session that nobody configures. */
heddle_status heddle_encode(const heddle_session *session, unsigned kind,
                            const char *text, size_t size, const char *name,
                            int32_t **ids, size_t *count);

/* The text of target ids, without special tokens, or their numbers with the
   setting "ids"; its size in bytes in `size`, unless that is NULL. */
heddle_status heddle_decode(const heddle_session *session, const int32_t *ids,
                            size_t count, char **text, size_t *size);

/*===----------------------------------------------------------------------===*\
|* Batches
\*===----------------------------------------------------------------------===*/

/* A text, or its ids if those are not NULL, and in the same way what is said
   of its target: what a translation begins with, or the whole of what is
   scored. `pair`, if it is not NULL, is the second text of a pair, which
   heddle_classify takes beside a text and heddle_find_answers beside a
   question. All zeros are an empty text of which
   nothing is said. */
typedef struct heddle_input {
  const char *text;
  size_t text_size;
  const int32_t *ids;
  size_t id_count;
  const char *target;
  size_t target_size;
  const int32_t *target_ids;
  size_t target_id_count;
  const char *pair;
  size_t pair_size;
} heddle_input;

/* A target that was found for an input, or scored. */
typedef struct heddle_answer_text {
  /* Its text, or its ids as text with the setting "ids". */
  const char *text;
  size_t text_size;
  /* Its ids: what was given first, then what was generated, the end included
     where it came. None with the setting "split". */
  const int32_t *ids;
  size_t id_count;
  /* The log-probability of what was generated, in nats, and that with the
     length penalty; 0 for greedy searches and samples without the setting
     "scores". For a target that was given, the sum of what follows. */
  float sum, score;
  /* Of heddle_score, and with the setting "token-scores": that of each id, 0
     for those that were given; else NULL. */
  const float *log_probabilities;
  /* With the setting "alignments": a token of the source and one of the text,
     in turn, `pair_count` times: of each token of the text, in their order, the
     one that it attended to most, the first of several. Tokens are those that
     texts are made of, numbered from 0: special ones around them do not count;
     with the setting "ids" all are. Else NULL. */
  const int32_t *pairs;
  size_t pair_count;
  /* With "alignments", too: the probabilities with which each token of the text
     attended to those of the source, f32 [pair_count, source_count]. Sums are
     less than 1 where special tokens have the rest. */
  const float *attention;
  size_t source_count;
} heddle_answer_text;

/* What became of a batch. Immutable. */
typedef struct heddle_answers heddle_answers;

/* Translates. An input has one answer, or with the setting "n-best" at most so
   many, the best first or samples in the order of their numbers, or with
   "alternatives" one for each of the best next tokens, in their order; none if
   it has no token. If constraints let no sequence of a beam search end, the
   answer is empty, with a score of -inf. Any number of inputs may be given:
   they run in batches of similar length. An input that cannot be translated
   fails the call, which names it ("input 3", counted from 1), unless the
   setting "on-error" is skip: then it has no answer, and a notice says why. */
heddle_status heddle_translate(heddle_session *session,
                               const heddle_input *inputs, size_t count,
                               heddle_answers **answers);

/* Says how likely the targets of inputs are: of the whole vocabulary, with no
   constraint and no shortlist. Settings of the search have no effect. */
heddle_status heddle_score(heddle_session *session, const heddle_input *inputs,
                           size_t count, heddle_answers **answers);

/* How many answers an input has, and one of them, the best first; NULL if
   there is none. Valid as long as `answers`. */
size_t heddle_answer_count(const heddle_answers *answers, size_t input);
const heddle_answer_text *heddle_answer(const heddle_answers *answers,
                                        size_t input, size_t rank);

/* What "on-error" has done to an input, in one sentence that names it: why it
   failed and has no answer (skip), or that it was cut (crop). NULL for others.
   Valid as long as `answers`. */
const char *heddle_answer_notice(const heddle_answers *answers, size_t input);
void heddle_answers_free(heddle_answers *answers);

/*===----------------------------------------------------------------------===*\
|* Streams
\*===----------------------------------------------------------------------===*/

/* Takes a token of an input, from 0, as soon as it is generated, and the text
   that is certain with it: the texts of an input's tokens, joined, are its
   answer's, and the last of them comes with `is_last`, which has the id -1
   if constraints let nothing follow. `text` may be "". What is not 0 cancels
   the call, as heddle_cancel does, also at the last token of all; no token
   follows. With more than one worker, one thread at a time calls it, not always
   the same. */
typedef int (*heddle_token_callback)(void *context, size_t input, int32_t id,
                                     const char *text, size_t text_size,
                                     int is_last);

/* Calls `callback` for each token of the translations that follow; NULL ends
   that. With a callback, searches with more than one beam, which know no token
   before their end, and the setting "split" are refused. */
heddle_status heddle_session_on_token(heddle_session *session,
                                      heddle_token_callback callback,
                                      void *context);

/* Whether such a callback would not be refused. */
int heddle_session_tells_tokens(const heddle_session *session);

/* What a source says when it is asked for its next input. */
typedef enum heddle_next HEDDLE_ANY_NUMBER {
  HEDDLE_NEXT_INPUT,
  /* There is none at the moment: answers are not to wait for it. */
  HEDDLE_NEXT_LATER,
  HEDDLE_NEXT_END,
  /* It cannot be read, and nothing behind it: `failure` says why. Any other
     value is a failure of its own, and so is an input that has a size and no
     text or ids. */
  HEDDLE_NEXT_FAILED,
  /* There is one and it cannot be read, but what is behind it can: an input
     that fails, see the setting "on-error". `failure` says why. */
  HEDDLE_NEXT_UNREADABLE
} heddle_next;

/* Where inputs come from, any number of them. One thread at a time asks, not
   always the same. */
typedef struct heddle_source {
  void *context;
  /* How many inputs there are at most; 0 if nobody knows. No more workers
     run than that. */
  size_t count;
  /* The next input, which stays valid until the next call. May wait for it only
     if `may_wait` is not 0. */
  heddle_next (*next)(void *context, int may_wait, heddle_input *input);
  /* Makes a `next` that waits return HEDDLE_NEXT_END, as well as one that is
     called at the same time: called when the call ends early, since a callback
     asked for that or an input failed, but not by heddle_cancel, which may come
     from a signal handler. Any thread; NULL if next never
     waits. */
  void (*interrupt)(void *context);
  /* What errors call input `number`, from 0, or with `is_target` what is said
     of its target ("line 3 of 'in.txt'"): writes at most `size` bytes with the
     NUL. Any thread; NULL for "input 3", counted from 1. */
  void (*name)(void *context, int64_t number, int is_target, char *text,
               size_t size);
  /* Writes the sentence of what HEDDLE_NEXT_FAILED or HEDDLE_NEXT_UNREADABLE
     said, in the same way; NULL if next never says so. */
  void (*failure)(void *context, char *text, size_t size);
} heddle_source;

/* Takes the answers of one input after the other, in order; `count` is 0 if
   it had no token. What is not 0 cancels the call, and no answer follows. One
   thread at a time. */
typedef int (*heddle_answer_callback)(void *context,
                                      const heddle_answer_text *answers,
                                      size_t count);

/* What is called behind answers that were ready together and before anything is
   waited for: time to flush. What is not 0 cancels the call. May be NULL. */
typedef int (*heddle_flush_callback)(void *context);

/* Takes what heddle_answer_notice says of an input, from 0, before its answers.
   May be NULL. */
typedef void (*heddle_notice_callback)(void *context, size_t input,
                                       const char *sentence);

typedef struct heddle_sink {
  void *context;
  heddle_answer_callback answer;
  heddle_flush_callback flush;
  heddle_notice_callback notice;
} heddle_sink;

/* As heddle_translate and heddle_score, of inputs without number in memory that
   does not grow with them. Answers to the inputs before one at fault are given
   before the call fails. */
heddle_status heddle_translate_stream(heddle_session *session,
                                      const heddle_source *source,
                                      const heddle_sink *sink);
heddle_status heddle_score_stream(heddle_session *session,
                                  const heddle_source *source,
                                  const heddle_sink *sink);

/*===----------------------------------------------------------------------===*\
|* Vectors
\*===----------------------------------------------------------------------===*/

/* Embeds texts with a model that does: f32 [count, width] in the order of the
   inputs, for heddle_free. An empty text has a vector, too. Of what is said of
   targets nothing is read. A text that is too long is cut, unless the setting
   "no-truncate" says that it fails. An input that cannot be embedded fails the
   call, which names it, unless the setting "on-error" is skip: then its row is
   NaN. */
heddle_status heddle_embed(heddle_session *session, const heddle_input *inputs,
                           size_t count, float **vectors, size_t *width);

/* How many numbers a vector of a session has; fails if its model does not
   embed. */
heddle_status heddle_vector_width(const heddle_session *session, size_t *width);

/* The word, in UTF-8 and not terminated, that number `component` of a sparse
   vector weighs (SPLADE), as the vocabulary spells it ("Ġas" of a byte-level
   one), which is what SparseEncoder.decode gives; NULL if vectors are not
   sparse, or if there is no such word. Stays until the model is freed. */
const char *heddle_vector_word(const heddle_model *model, size_t component,
                               size_t *size);

/* Takes the vectors of one input after the other, in order, valid during the
   call; `values` is NULL if the input was skipped. What is not 0 cancels the
   call, and no vector follows. One thread at a time. */
typedef int (*heddle_vector_callback)(void *context, const float *values,
                                      size_t width);

/* As heddle_sink. A notice says what was cut or skipped. */
typedef struct heddle_vector_sink {
  void *context;
  heddle_vector_callback vector;
  heddle_flush_callback flush;
  heddle_notice_callback notice;
} heddle_vector_sink;

/* As heddle_embed, of inputs without number. */
heddle_status heddle_embed_stream(heddle_session *session,
                                  const heddle_source *source,
                                  const heddle_vector_sink *sink);

/* In which type a vector is stored. */
typedef enum heddle_vector_type HEDDLE_ANY_NUMBER {
  HEDDLE_VECTOR_FLOAT32,
  /* Rounded to nearest, ties to even; inf if a number is beyond 65504. */
  HEDDLE_VECTOR_FLOAT16,
  /* int8: 127 times the vector of length 1, rounded likewise. */
  HEDDLE_VECTOR_INT8,
  /* A bit for each number, 1 if it is above 0: the first one is the highest bit
     of the first byte. Bits behind the last number are 0. */
  HEDDLE_VECTOR_BITS
} heddle_vector_type;

/* How many bytes a vector of `width` numbers has in this type; 0 if there is no
   such type. */
size_t heddle_vector_bytes(heddle_vector_type type, size_t width);

/* Stores vectors f32 [count, width], as of heddle_embed, in another type, in
   `stored`, the caller's [count, heddle_vector_bytes(type, width)], which lies
   elsewhere. What is no number becomes 0 in int8 and in bits. Any thread. */
heddle_status heddle_store_vectors(heddle_vector_type type,
                                   const float *vectors, size_t count,
                                   size_t width, void *stored);

/*===----------------------------------------------------------------------===*\
|* Labels
\*===----------------------------------------------------------------------===*/

/* A label of a text, of heddle_classify; of a token, of heddle_tag; a token
   that a mask may stand for, of heddle_fill; or an answer that stands in a
   text, of heddle_find_answers. */
typedef struct heddle_label {
  /* The label's name, the token's text, or the answer: empty if there is
     none. */
  const char *text;
  size_t text_size;
  /* The label's number, or the token's id; 0 for an answer. */
  int32_t id;
  /* Its probability, or what the model says of it if its scores are none. */
  float score;
  /* The token that it is about, from 0, special ones counted, and its piece of
     the vocabulary: bytes that are no whole character read U+FFFD. If a text is
     read in windows, tokens are counted in each. 0 and NULL for heddle_classify
     and for answers, NULL without a tokenizer. */
  size_t token;
  const char *token_name;
  /* Where the token or the answer stands in the text, which is the second one
     of a pair, in bytes and in characters, without the end; 0 for
     heddle_classify and for inputs of ids. */
  size_t first_byte, last_byte, first_character, last_character;
} heddle_label;

/* What became of a batch. Immutable. */
typedef struct heddle_labels heddle_labels;

/* Labels texts with a model that has the task. Each place of a text has as many
   labels as the setting "top" says, the best ones first: all of the whole text;
   or one of each token that the text is made of, or of each id; or five of each
   mask. An empty text is one, too. Long texts and inputs that fail are those of
   heddle_embed; an input that was skipped has no labels. */
heddle_status heddle_classify(heddle_session *session,
                              const heddle_input *inputs, size_t count,
                              heddle_labels **labels);
heddle_status heddle_tag(heddle_session *session, const heddle_input *inputs,
                         size_t count, heddle_labels **labels);
heddle_status heddle_fill(heddle_session *session, const heddle_input *inputs,
                          size_t count, heddle_labels **labels);

/* Answers questions: each input is one, with the text, as its `pair`, in which
   the answer stands. It gets as many answers as the setting "top" says, or one,
   the best ones first; none of a text without a word. A long text is read in
   windows, and nothing is cut: a question that leaves no room fails, as inputs
   of heddle_embed do. */
heddle_status heddle_find_answers(heddle_session *session,
                                  const heddle_input *inputs, size_t count,
                                  heddle_labels **labels);

/* The labels of an input, place by place, which may be none; NULL if it was
   skipped, or if there is no such input. `count` may be NULL. Valid as long as
   `labels`. */
const heddle_label *heddle_labels_of(const heddle_labels *labels, size_t input,
                                     size_t *count);
void heddle_labels_free(heddle_labels *labels);

/* Takes the labels of one input after the other, in order, valid during the
   call; NULL if the input was skipped. What is not 0 cancels the call, and no
   labels follow. One thread at a time. */
typedef int (*heddle_label_callback)(void *context, const heddle_label *labels,
                                     size_t count);

/* As heddle_sink. A notice says what was cut or skipped. */
typedef struct heddle_label_sink {
  void *context;
  heddle_label_callback labels;
  heddle_flush_callback flush;
  heddle_notice_callback notice;
} heddle_label_sink;

/* As the above, of inputs without number. */
heddle_status heddle_classify_stream(heddle_session *session,
                                     const heddle_source *source,
                                     const heddle_label_sink *sink);
heddle_status heddle_tag_stream(heddle_session *session,
                                const heddle_source *source,
                                const heddle_label_sink *sink);
heddle_status heddle_fill_stream(heddle_session *session,
                                 const heddle_source *source,
                                 const heddle_label_sink *sink);
heddle_status heddle_find_answers_stream(heddle_session *session,
                                         const heddle_source *source,
                                         const heddle_label_sink *sink);

/*===----------------------------------------------------------------------===*\
|* Instruments
\*===----------------------------------------------------------------------===*/

/* Takes f32 [rows, width], of an input's positions `first`, `first` + 1 and so
   on; valid during the call. What is not 0 cancels that, and no rows follow. */
typedef int (*heddle_rows_callback)(void *context, size_t input, size_t first,
                                    size_t rows, const float *values,
                                    size_t width);

/* The raw logits, rows of the target vocabulary, that follow the first 0, 1,
   ... tokens of each input's whole target: nothing suppressed, no shortlist. Of
   an ensemble they are its log-probabilities, and "prefill" is refused.
   All inputs are one batch. `form` is the decoder's: "full", "step" or
   "prefill". Rows that `take` has had of a GPU which then fails do not come
   again: the CPU goes on behind them. */
heddle_status heddle_logits(heddle_session *session, const heddle_input *inputs,
                            size_t count, const char *form,
                            heddle_rows_callback take, void *context);

/* What the encoder makes of each token of the inputs, in batches on all
   workers: one thread at a time calls `take`, inputs in any order. Of an input
   that "on-error" skips it gets no rows, once, and heddle_error says why during
   the call. */
heddle_status heddle_hidden_states(heddle_session *session,
                                   const heddle_input *inputs, size_t count,
                                   heddle_rows_callback take, void *context);

/* The width of these; fails if the encoder has another kind of output. */
heddle_status heddle_hidden_width(const heddle_model *model, size_t *width);

/* What a profile looks like. */
typedef enum heddle_profile_form HEDDLE_ANY_NUMBER {
  HEDDLE_PROFILE_TABLE,
  HEDDLE_PROFILE_JSON
} heddle_profile_form;

/* What each kernel did since the session began or its "profile" was set, beside
   the peaks of this machine, which the first call takes a second to measure.
   JSON has layers and one call of each function, too. */
heddle_status heddle_session_profile(heddle_session *session,
                                     heddle_profile_form form, char **text);

#undef HEDDLE_ANY_NUMBER

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#include "heddle_engine.h"

#endif /* HEDDLE_H */
