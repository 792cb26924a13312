/*===- translate.c - Four threads on one model ----------------------------===*\
|*
|* Translates each line of standard input with a file of heddle-compile. The
|* model is loaded once; each thread has a session of its own and every fourth
|* line. Ctrl-C ends all of them within a step.
|*
|*   cc translate.c $(pkg-config --cflags --libs heddle) -pthread -o translate
|*   ./translate en-pt.heddle < in.txt
|*
\*===----------------------------------------------------------------------===*/

#define _POSIX_C_SOURCE 200809L

#include <heddle.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, MOST_LINES = 10000, MOST_BYTES = 65536 };

static char *lines[MOST_LINES], *translations[MOST_LINES];
static size_t line_count;
static heddle_session *sessions[THREADS];

/* Errors belong to the thread that made the call: it keeps the sentence. */
static char errors[THREADS][512];

static void cancel_all(int number) {
  (void)number;
  for (int i = 0; i < THREADS; ++i)
    heddle_cancel(sessions[i]);
}

/* Translates the lines of one thread. */
static void *work(void *argument) {
  size_t thread = (size_t)argument;
  for (size_t i = thread; i < line_count; i += THREADS) {
    heddle_input input = {.text = lines[i], .text_size = strlen(lines[i])};
    heddle_answers *answers;
    if (heddle_translate(sessions[thread], &input, 1, &answers) != HEDDLE_OK) {
      snprintf(errors[thread], sizeof errors[thread], "line %zu: %s", i + 1,
               heddle_error());
      return NULL;
    }
    const heddle_answer_text *best = heddle_answer(answers, 0, 0);
    translations[i] = strdup(best ? best->text : "");
    heddle_answers_free(answers);
  }
  return NULL;
}

static int fail(const char *sentence) {
  fprintf(stderr, "translate: %s\n", sentence);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fail("usage: translate MODEL < LINES");
  static char line[MOST_BYTES];
  while (line_count < MOST_LINES && fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    lines[line_count++] = strdup(line);
  }

  heddle_model *model;
  if (heddle_model_load(argv[1], 0, &model) != HEDDLE_OK)
    return fail(heddle_error());
  for (int i = 0; i < THREADS; ++i)
    if (heddle_session_create(model, NULL, &sessions[i]) != HEDDLE_OK)
      return fail(heddle_error());
  heddle_model_free(model); /* The sessions have it. */
  signal(SIGINT, cancel_all);

  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
      return fail("the system refuses a thread");
  for (size_t i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);

  int status = 0;
  for (size_t i = 0; i < line_count; ++i) {
    if (translations[i])
      puts(translations[i]);
    free(translations[i]);
    free(lines[i]);
  }
  signal(SIGINT, SIG_DFL);
  for (int i = 0; i < THREADS; ++i) {
    if (errors[i][0])
      status = fail(errors[i]);
    heddle_session_free(sessions[i]);
  }
  return status;
}
