/*===- ask.c - Answers that stand in texts --------------------------------===*\
|*
|* Asks a model of question answering the same question of each line of standard
|* input, all in one batch, and prints the best answer of each with its score
|* and its place in the line, in characters.
|*
|*   cc ask.c $(pkg-config --cflags --libs heddle) -o ask
|*   ./ask squad.heddle "Where do I live?" < texts.txt
|*
\*===----------------------------------------------------------------------===*/

#define _POSIX_C_SOURCE 200809L

#include <heddle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 10000, MOST_BYTES = 65536 };

static heddle_input inputs[MOST_LINES];

static int fail(void) {
  fprintf(stderr, "ask: %s\n", heddle_error());
  return 1;
}

static void print(const heddle_labels *answers, size_t input) {
  size_t count;
  const heddle_label *best = heddle_labels_of(answers, input, &count);
  if (count == 0)
    puts("no answer");
  else
    printf("%s\t%.6f\t%zu-%zu\n", best->text, best->score,
           best->first_character, best->last_character);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: ask MODEL QUESTION < TEXTS\n", stderr);
    return 1;
  }
  static char line[MOST_BYTES];
  size_t count = 0;
  for (; count < MOST_LINES && fgets(line, sizeof line, stdin); ++count) {
    line[strcspn(line, "\n")] = 0;
    inputs[count].text = argv[2];
    inputs[count].text_size = strlen(argv[2]);
    inputs[count].pair = strdup(line);
    inputs[count].pair_size = strlen(line);
  }

  heddle_model *model;
  heddle_session *session;
  heddle_labels *answers;
  if (heddle_model_load(argv[1], 0, &model) != HEDDLE_OK ||
      heddle_session_create(model, NULL, &session) != HEDDLE_OK ||
      heddle_find_answers(session, inputs, count, &answers) != HEDDLE_OK)
    return fail();
  for (size_t i = 0; i < count; ++i) {
    print(answers, i);
    free((char *)inputs[i].pair);
  }
  heddle_labels_free(answers);
  heddle_session_free(session);
  heddle_model_free(model);
  return 0;
}
