/*===- requests.c - Requests that come and go -----------------------------===*\
|*
|* Continues or translates the lines of standard input, as many at a time as the
|* engine has slots: whenever one has ended the next one joins, and answers come
|* as they end, each behind the number of its line.
|*
|*   seq 50 | sed 's/$/. Once upon a time/' | requests llm.heddle max-length=40
|*
\*===----------------------------------------------------------------------===*/

#include <heddle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct service {
  heddle_engine *engine;
  heddle_settings *settings;
  unsigned long lines, failures;
};

/* One line, until it has been answered. */
struct line {
  struct service *service;
  unsigned long number;
};

static void join(struct service *service);

static void refuse(struct line *line, const char *failure) {
  fprintf(stderr, "requests: line %lu: %s\n", line->number, failure);
  ++line->service->failures;
}

static void finish(void *context, uint64_t request,
                   const heddle_answer_text *answers, size_t count,
                   const char *failure) {
  struct line *line = context;
  struct service *service = line->service;
  (void)request;
  if (failure)
    refuse(line, failure);
  else if (count > 0)
    printf("%lu\t%.*s\n", line->number, (int)answers[0].text_size,
           answers[0].text);
  free(line);
  join(service);
}

/* Submits the next line that can be a request, if there is one. */
static void join(struct service *service) {
  char *text = NULL;
  size_t room = 0;
  for (ssize_t size; (size = getline(&text, &room, stdin)) >= 0;) {
    if (size > 0 && text[size - 1] == '\n')
      --size;
    struct line *line = malloc(sizeof *line);
    if (!line)
      abort();
    line->service = service;
    line->number = ++service->lines;
    heddle_input input = {.text = text, .text_size = (size_t)size};
    heddle_request request = {.input = &input,
                              .settings = service->settings,
                              .context = line,
                              .finished = finish};
    if (!heddle_engine_submit(service->engine, &request, NULL))
      break;
    refuse(line, heddle_error());
    free(line);
  }
  free(text);
}

static int fail(void) {
  fprintf(stderr, "requests: %s\n", heddle_error());
  return 1;
}

int main(int argc, char **argv) {
  struct service service = {0};
  heddle_model *model;
  if (argc < 2) {
    fputs("usage: requests MODEL [SETTING=VALUE...] <lines\n", stderr);
    return 2;
  }
  if (heddle_settings_create("", &service.settings))
    return fail();
  heddle_engine_limits limits = {.slots = 8};
  for (int i = 2; i < argc; ++i) {
    char *value = strchr(argv[i], '=');
    if (value)
      *value++ = '\0';
    /* A slot has a row for each beam of a request. */
    if (value && strcmp(argv[i], "beam") == 0)
      limits.beams = strtoul(value, NULL, 10);
    if (heddle_settings_set(service.settings, argv[i], value))
      return fail();
  }
  if (heddle_model_load(argv[1], 0, &model) ||
      heddle_engine_create(model, &limits, &service.engine))
    return fail();
  heddle_model_free(model);
  for (size_t slot = 0; slot < limits.slots; ++slot)
    join(&service);
  if (heddle_engine_run(service.engine))
    return fail();
  heddle_engine_free(service.engine);
  heddle_settings_free(service.settings);
  return service.failures > 0;
}
