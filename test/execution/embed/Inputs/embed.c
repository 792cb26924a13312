/*===- embed.c - Vectors by heddle.h --------------------------------------===*\
|*
|* Embeds lines of ids and writes their vectors, float32 [lines, width], to the
|* file OUTPUT: all at once by heddle_embed, which have to be those of
|* heddle_embed_stream. Standard output has the notices of the stream, and how
|* many lines have no vector.
|*
|*   embed MODEL OUTPUT [NAME=VALUE...] <LINES
|*
\*===----------------------------------------------------------------------===*/

#include <heddle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 64, MOST_IDS = 32, MOST_WIDTH = 64 };

static int32_t ids[MOST_LINES][MOST_IDS];
static heddle_input inputs[MOST_LINES];
static size_t count, taken, streamed, missing, flushes;
static float vectors[MOST_LINES * MOST_WIDTH];
static size_t most_vectors = MOST_LINES;

static int fail(const char *sentence) {
  fprintf(stderr, "embed: %s\n", sentence);
  return 1;
}

static void read_lines(void) {
  char line[1024];
  while (count < MOST_LINES && fgets(line, sizeof line, stdin)) {
    heddle_input *input = &inputs[count];
    input->ids = ids[count];
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
      ids[count][input->id_count++] = atoi(word);
    ++count;
  }
}

static heddle_next next(void *context, int may_wait, heddle_input *input) {
  (void)context, (void)may_wait;
  if (taken == count)
    return HEDDLE_NEXT_END;
  *input = inputs[taken++];
  return HEDDLE_NEXT_INPUT;
}

/* Takes a vector; NaN stands in place of a missing one. */
static int take(void *context, const float *values, size_t width) {
  size_t expected = *(size_t *)context;
  if (streamed == most_vectors)
    return 1;
  if (width != (values ? expected : 0))
    exit(fail("a vector of another width"));
  for (size_t i = 0; i < expected; ++i)
    vectors[streamed * expected + i] = values ? values[i] : NAN;
  missing += !values;
  ++streamed;
  return 0;
}

static int flush(void *context) {
  (void)context;
  ++flushes;
  return 0;
}

static void note(void *context, size_t input, const char *sentence) {
  (void)context;
  printf("%zu: %s\n", input, sentence);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fail("usage: embed MODEL OUTPUT [NAME=VALUE...]");
  read_lines();
  heddle_model *model;
  heddle_settings *settings;
  heddle_session *session;
  if (heddle_model_load(argv[1], HEDDLE_CPU, &model) != HEDDLE_OK ||
      heddle_settings_create("", &settings) != HEDDLE_OK)
    return fail(heddle_error());
  if (!heddle_model_has_task(model, "embed") ||
      heddle_model_has_task(model, "generate") ||
      heddle_model_has_task(model, "sing") ||
      heddle_model_has_task(model, NULL) ||
      heddle_model_has_task(NULL, "embed"))
    return fail("the tasks of the model are not as expected");
  for (int i = 3; i < argc; ++i) {
    char *value = strchr(argv[i], '=');
    *value++ = 0;
    if (heddle_settings_set(settings, argv[i], value) != HEDDLE_OK)
      return fail(heddle_error());
  }
  if (heddle_session_create(model, settings, &session) != HEDDLE_OK)
    return fail(heddle_error());

  size_t asked, width;
  float *block;
  if (heddle_vector_width(session, &asked) != HEDDLE_OK)
    return fail(heddle_error());
  if (heddle_embed(session, inputs, count, &block, &width) != HEDDLE_OK)
    return fail(block || width ? "a call that failed gave something out"
                               : heddle_error());
  if (asked != width || width > MOST_WIDTH)
    return fail("two widths differ");

  heddle_source source = {.next = next};
  heddle_vector_sink sink = {&width, take, flush, note};
  if (heddle_embed_stream(session, &source, &sink) != HEDDLE_OK)
    return fail(heddle_error());
  if (streamed != count || flushes == 0)
    return fail("the stream has lost a line");
  if (memcmp(block, vectors, count * width * sizeof(float)) != 0)
    return fail("two calls differ");
  printf("%zu of %zu lines have no vector\n", missing, count);

  static char stored[sizeof vectors];
  if (heddle_store_vectors(HEDDLE_VECTOR_FLOAT32, block, count, width,
                           stored) != HEDDLE_OK ||
      memcmp(block, stored, count * width * sizeof(float)) != 0 ||
      heddle_vector_bytes(HEDDLE_VECTOR_BITS, width) != (width + 7) / 8)
    return fail("vectors are not stored as they are");

  FILE *output = fopen(argv[2], "wb");
  if (!output || fwrite(block, width * sizeof(float), count, output) != count ||
      fclose(output) != 0)
    return fail("the output was not written");
  heddle_free(block);

  /* No input, no vector; a sink may end the call. */
  if (heddle_embed(session, NULL, 0, &block, &width) != HEDDLE_OK ||
      width != asked)
    return fail("a call without inputs has failed");
  heddle_free(block);
  taken = streamed = 0;
  most_vectors = 1;
  if (count > 1 &&
      (heddle_embed_stream(session, &source, &sink) != HEDDLE_CANCELLED ||
       streamed != 1))
    return fail("the sink did not end the call");
  heddle_session_free(session);
  heddle_settings_free(settings);
  heddle_model_free(model);
  return 0;
}
