/*===- heddle_engine.h - Requests that come and go ----------------*- C -*-===*\
|*
|* A model for requests that come and go (continuous batching). Each request has
|* settings and callbacks of its own, joins at any step and leaves when it ends;
|* other requests change no bit of its answer. A prompt that begins as another
|* one is computed from where the two differ; sources that join together are
|* encoded together. An encoder runs a batch of waiting texts at each step. An
|* engine runs on the thread that calls heddle_engine_step or heddle_engine_run,
|* one at a time; any thread, and any callback, submits and cancels.
|*
|* Part of heddle.h, which includes it.
|*
\*===----------------------------------------------------------------------===*/

#ifndef HEDDLE_ENGINE_H
#define HEDDLE_ENGINE_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct heddle_engine heddle_engine;

/* 0 is the default. */
typedef struct heddle_engine_limits {
  /* Requests that run together, at most 16,384; others wait, in order. By
     default 16. */
  size_t slots;
  /* The most beams of a request, at most 256. By default as many as the model
     searches with. */
  size_t beams;
  /* The most tokens of a request, its prompt included, or of a source and of
     its translation each: what a slot has room for, of which it takes the
     memory that is used. By default as many as the model has positions, or
     4,096 for a translator of texts of any length. An encoder limits
     the tokens of a text, or of a window of it. */
  size_t tokens;
  /* Threads that share the work. By default 1. */
  size_t threads;
  /* MiB that it may take beside the weights. A request waits until there is
     room for the KV caches of all tokens that it may have, and for its encoded
     source, so that it always finishes; one that can never have room is
     refused. Blocks of 256 positions that several requests read count once. By
     default as many as there are, or on a GPU as many as are free. An
     encoder runs fewer texts together. */
  size_t memory;
} heddle_engine_limits;

/* `limits` may be NULL. Fails if the model neither generates texts nor has a
   task of encoders. */
heddle_status heddle_engine_create(const heddle_model *model,
                                   const heddle_engine_limits *limits,
                                   heddle_engine **engine);
/* Requests that have not ended get no more callbacks. */
void heddle_engine_free(heddle_engine *engine);

/* Takes the answers to a request, as heddle_translate has them, valid during
   the call; or, if `failure` is not NULL, why there are none. */
typedef void (*heddle_finished_callback)(void *context, uint64_t request,
                                         const heddle_answer_text *answers,
                                         size_t count, const char *failure);

/* As above, of a vector, as heddle_embed has it, which is NULL with a
   failure. */
typedef void (*heddle_finished_vector_callback)(void *context, uint64_t request,
                                                const float *values,
                                                size_t width,
                                                const char *failure);

/* As above, of labels, as heddle_labels_of has them. */
typedef void (*heddle_finished_labels_callback)(void *context, uint64_t request,
                                                const heddle_label *labels,
                                                size_t count,
                                                const char *failure);

typedef struct heddle_request {
  /* A text, and what its translation or continuation begins with; or a pair of
     texts. */
  const heddle_input *input;
  /* Of the search, of texts and their languages, vectors and labels; NULL for
     the model's. Those of the machine, such as "threads", are the engine's, and
     "on-error" has no effect. */
  const heddle_settings *settings;
  void *context;
  /* As heddle_session_on_token, with the number of the request as `input`: what
     is not 0 cancels the request. May be NULL. */
  heddle_token_callback token;
  /* Exactly one of these is not NULL. A model that generates texts calls: */
  heddle_finished_callback finished;
  /* A model that embeds texts calls: */
  heddle_finished_vector_callback vector;
  /* A model that labels texts calls, with what heddle_classify gives, or if the
     model does not classify heddle_tag, heddle_find_answers or heddle_fill. */
  heddle_finished_labels_callback labels;
} heddle_request;

/* A request, which waits for a slot; `number`, which may be NULL, is its
   number. Fails, and finishes nothing, if it can never run: if the input has no
   token or too many, or if it may take more tokens than a slot has, which the
   sentence says; if it has the setting "split" or "global"; and if memory is
   short for the first request to a translator that searches as it does (by
   greedy search, by beams, by samples). */
heddle_status heddle_engine_submit(heddle_engine *engine,
                                   const heddle_request *request,
                                   uint64_t *number);

/* Ends a request at the next step with a failure; nothing if it has ended. */
heddle_status heddle_engine_cancel(heddle_engine *engine, uint64_t number);

/* Encodes the sources of requests that have joined, and computes the next token
   of each request that runs and up to 256 tokens of prompts. An encoder answers
   the first texts that wait. `is_left` says whether a request is left. */
heddle_status heddle_engine_step(heddle_engine *engine, int *is_left);
/* Steps until no request is left. */
heddle_status heddle_engine_run(heddle_engine *engine);

/* What an engine has done. */
typedef struct heddle_engine_counts {
  /* Requests that were submitted, that have ended, and that have a slot. */
  uint64_t submitted, finished, running;
  /* Calls for generated tokens and for prompts, and the tokens of both. Of an
     encoder, steps are batches. */
  uint64_t steps, step_tokens, prompts, prompt_tokens;
  /* Tokens that were guessed, with the setting "prompt-lookup", and those of
     them that the model chose, too: steps that were saved. */
  uint64_t guesses, right_guesses;
  /* Tokens of prompts that were not computed, since another prompt with the
     same beginning stood in a slot: they take no time and, in blocks of 256, no
     memory. */
  uint64_t shared_tokens;
} heddle_engine_counts;
heddle_status heddle_engine_count(const heddle_engine *engine,
                                  heddle_engine_counts *counts);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_ENGINE_H */
