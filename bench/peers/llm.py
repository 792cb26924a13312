"""Generates tokens with what llm_model.py wrote to FOLDER, in ENGINE: heddle, llamacpp,
ctranslate2 or torch. A line "run PAST COUNT REQUESTS" is answered by the seconds that as
many requests take which generate COUNT tokens behind PAST of prompt, all together.
"ids COUNT ID..." is answered by the ids that are generated greedily behind these; "load"
by the seconds from the file to the first token, "memory" by the bytes that the process
had at most beyond what it had before it loaded the model.
usage: PYTHON THIS ENGINE TYPE FOLDER THREADS LIBRARY"""

import ctypes
import itertools
import json
import pathlib
import resource
import sys
import time

import answer
import numpy as np

engine, kind, folder, threads, library = sys.argv[1:]
folder, threads = pathlib.Path(folder), int(threads)
MOST_REQUESTS, MOST_TOKENS = 16, 4608
numbers = itertools.count()
VOCABULARY = json.loads((folder / "model" / "config.json").read_text())["vocab_size"]


def prompts(length, count):
    """New ones: Heddle does not compute those again that it has seen."""
    draws = np.random.default_rng(next(numbers))
    return draws.integers(3, VOCABULARY, (count, length)).astype(np.int32)


# Each returns what generates `count` ids greedily behind each row of `rows`, without
# an end.


def of_torch():
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(threads)
    network = AutoModelForCausalLM.from_pretrained(
        folder / "model", torch_dtype=getattr(torch, kind)
    )

    @torch.inference_mode()
    def generate(rows, count):
        ids = torch.from_numpy(rows).long()
        made, cache = [], None
        for _ in range(count):
            out = network(
                ids, past_key_values=cache, use_cache=True, logits_to_keep=1
            )
            ids, cache = out.logits[:, -1].argmax(-1, keepdim=True), out.past_key_values
            made.append(ids)
        return torch.cat(made, 1).numpy()

    return generate


def of_llamacpp():
    import llama_cpp as llama

    # It says much while it loads.
    log = llama.llama_log_callback(lambda *_: None)
    llama.llama_log_set(log, ctypes.c_void_p())
    of_llamacpp.log = log
    llama.llama_backend_init()
    path = str(folder / f"{kind}.gguf").encode()
    model = llama.llama_model_load_from_file(path, llama.llama_model_default_params())
    settings = llama.llama_context_default_params()
    settings.n_ctx = max(MOST_TOKENS, MOST_REQUESTS * 512)
    settings.n_seq_max = MOST_REQUESTS
    settings.kv_unified = True
    settings.n_threads = settings.n_threads_batch = threads
    context = llama.llama_init_from_model(model, settings)
    memory = llama.llama_get_memory(context)
    batch = llama.llama_batch_init(llama.llama_n_batch(context), 0, 1)

    def decode(tokens):
        """Rows of (id, position, request, whether its logits are wanted)."""
        for i, (token, position, request, wanted) in enumerate(tokens):
            batch.token[i], batch.pos[i] = token, position
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, request
            batch.logits[i] = wanted
        batch.n_tokens = len(tokens)
        if llama.llama_decode(context, batch):
            sys.exit("llm.py: llama_decode failed")

    def best(row):
        logits = llama.llama_get_logits_ith(context, row)
        return int(np.ctypeslib.as_array(logits, (VOCABULARY,)).argmax())

    def generate(rows, count):
        llama.llama_memory_clear(memory, False)
        last = []
        for request, row in enumerate(rows.tolist()):
            piece = llama.llama_n_ubatch(context)
            for first in range(0, len(row), piece):
                ids = row[first : first + piece]
                tokens = [(id, first + i, request, 0) for i, id in enumerate(ids)]
                tokens[-1] = (*tokens[-1][:3], first + piece >= len(row))
                decode(tokens)
            last.append(best(-1))
        made = [last]
        for step in range(count - 1):
            position = rows.shape[1] + step
            decode([(id, position, request, 1) for request, id in enumerate(last)])
            last = [best(request) for request in range(len(rows))]
            made.append(last)
        return np.array(made).T

    return generate


def of_ctranslate2():
    import ctranslate2

    generator = ctranslate2.Generator(
        str(folder / "ctranslate2"), compute_type=kind, intra_threads=threads
    )
    words = json.loads((folder / "ctranslate2" / "vocabulary.json").read_text())

    def generate(rows, count):
        results = generator.generate_batch(
            [[words[id] for id in row] for row in rows],
            max_length=count,
            min_length=count,
            include_prompt_in_result=False,
        )
        return np.array([result.sequences_ids[0] for result in results])

    return generate


class Input(ctypes.Structure):
    """heddle_input."""

    _fields_ = [
        (name, ctypes.c_void_p if i % 2 == 0 else ctypes.c_size_t)
        for i, name in enumerate(
            ["text", "text_size", "ids", "id_count", "target", "target_size"]
            + ["target_ids", "target_id_count", "pair", "pair_size"]
        )
    ]


class Answer(ctypes.Structure):
    """heddle_answer_text."""

    _fields_ = [
        ("text", ctypes.c_char_p),
        ("text_size", ctypes.c_size_t),
        ("ids", ctypes.POINTER(ctypes.c_int32)),
        ("id_count", ctypes.c_size_t),
        ("sum", ctypes.c_float),
        ("score", ctypes.c_float),
        ("log_probabilities", ctypes.POINTER(ctypes.c_float)),
    ]


Finished = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.POINTER(Answer),
    ctypes.c_size_t,
    ctypes.c_char_p,
)


class Request(ctypes.Structure):
    """heddle_request."""

    _fields_ = [
        ("input", ctypes.POINTER(Input)),
        ("settings", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("token", ctypes.c_void_p),
        ("finished", Finished),
        ("vector", ctypes.c_void_p),
        ("labels", ctypes.c_void_p),
    ]


class Limits(ctypes.Structure):
    """heddle_engine_limits."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("slots", "beams", "tokens", "threads", "memory")
    ]


def of_heddle():
    heddle = ctypes.CDLL(library)
    heddle.heddle_error.restype = ctypes.c_char_p

    def check(status):
        if status:
            sys.exit(f"llm.py: {heddle.heddle_error().decode()}")

    model, requests = ctypes.c_void_p(), ctypes.c_void_p()
    path = str(folder / f"{kind}.heddle").encode()
    check(heddle.heddle_model_load(path, 2, ctypes.byref(model)))
    limits = Limits(MOST_REQUESTS, 1, MOST_TOKENS, threads)
    check(
        heddle.heddle_engine_create(model, ctypes.byref(limits), ctypes.byref(requests))
    )

    def generate(rows, count):
        settings, made = ctypes.c_void_p(), {}
        check(heddle.heddle_settings_create(None, ctypes.byref(settings)))
        for name in (b"min-length", b"max-length"):
            check(heddle.heddle_settings_set(settings, name, str(count).encode()))

        def finish(_, number, answers, answer_count, failure):
            if failure:
                sys.exit(f"llm.py: {failure.decode()}")
            made[number] = answers[0].ids[:count]

        finished = Finished(finish)
        for row in rows:
            ids = np.ascontiguousarray(row)
            given = Input(ids=ids.ctypes.data, id_count=len(ids))
            request = Request(ctypes.pointer(given), settings, None, None, finished)
            check(heddle.heddle_engine_submit(requests, ctypes.byref(request), None))
        check(heddle.heddle_engine_run(requests))
        heddle.heddle_settings_free(settings)
        return np.array([made[number] for number in sorted(made)])

    return generate


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


before, start = peak(), time.perf_counter()
generate = globals()[f"of_{engine}"]()
generate(prompts(16, 1), 1)
loading = time.perf_counter() - start


def reply(line):
    mode, *numbers = line.split()
    if mode == "load":
        return str(loading)
    if mode == "memory":
        return str(peak() - before)
    count, *ids = map(int, numbers)
    if mode == "ids":
        return " ".join(map(str, generate(np.array([ids], np.int32), count)[0]))
    past, (count, requests) = count, ids
    rows = prompts(past, requests)
    start = time.perf_counter()
    generate(rows, count)
    return str(time.perf_counter() - start)


answer.serve(lambda lines: [reply(line) for line in lines])
