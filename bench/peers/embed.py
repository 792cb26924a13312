"""Embeds texts with what embed_model.py wrote to FOLDER, in ENGINE: heddle, torch,
openvino, onnxruntime or ctranslate2. A line "MODE TEXTS" is answered by the seconds that
all texts of that file take: `sorted` in batches of BATCH that the engine may choose,
`arrival` in batches of BATCH in their order, `single` one after the other. "save
FILE.npy TEXTS" writes the vectors; "load" is answered by the seconds from the file to the
first vector, "memory" by the bytes that the process had at most beyond what it had before
it loaded the model. usage: PYTHON THIS ENGINE TYPE FOLDER THREADS LIBRARY"""

import ctypes
import pathlib
import resource
import sys
import time

import answer
import numpy as np

engine, kind, folder, threads, library = sys.argv[1:]
folder, threads = pathlib.Path(folder), int(threads)
BATCH, MOST_TOKENS = 32, 512


def tokenizer():
    """The tokenizer of the folder, without padding."""
    import tokenizers

    made = tokenizers.Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    made.enable_truncation(MOST_TOKENS)
    made.no_padding()
    return made


def padded(encodings):
    """Ids and their mask, as long as the longest text."""
    length = max(len(each.ids) for each in encodings)
    ids = np.zeros((len(encodings), length), np.int64)
    mask = np.zeros_like(ids)
    for row, each in enumerate(encodings):
        ids[row, : len(each.ids)] = each.ids
        mask[row, : len(each.ids)] = 1
    return ids, mask


def batched(run, cut):
    """Embeds texts by their tokens: those of a batch have about the same length."""

    def embed(texts):
        encodings = cut.encode_batch(texts)
        order = sorted(range(len(texts)), key=lambda i: -len(encodings[i].ids))
        vectors = [None] * len(texts)
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            found = run(*padded([encodings[i] for i in batch]))
            for i, vector in zip(batch, found):
                vectors[i] = vector
        return np.array(vectors)

    return embed


def of_torch():
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)

    def load():
        dtype = {"torch_dtype": getattr(torch, kind)}
        path = str(folder / "model")
        model = SentenceTransformer(path, device="cpu", model_kwargs=dtype)
        model.max_seq_length = MOST_TOKENS

        def embed(texts):
            return model.encode(
                texts, batch_size=BATCH, normalize_embeddings=True
            ).astype(np.float32)

        return embed

    return load


def of_openvino():
    import openvino

    settings = {
        "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[kind],
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
    }

    def load():
        path = folder / "float32.onnx"
        model = openvino.Core().compile_model(path, "CPU", settings)
        request = model.create_infer_request()
        return batched(
            lambda ids, mask: np.copy(request.infer({"ids": ids, "mask": mask})[0]),
            tokenizer(),
        )

    return load


def of_onnxruntime():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads

    def load():
        session = onnxruntime.InferenceSession(
            folder / f"{kind}.onnx", options, providers=["CPUExecutionProvider"]
        )
        return batched(
            lambda ids, mask: session.run(None, {"ids": ids, "mask": mask})[0],
            tokenizer(),
        )

    return load


def of_ctranslate2():
    import ctranslate2

    def load():
        encoder = ctranslate2.Encoder(
            str(folder / "ctranslate2"), compute_type=kind, intra_threads=threads
        )

        def run(ids, mask):
            lengths = mask.sum(1)
            rows = [row[:length].tolist() for row, length in zip(ids, lengths)]
            hidden = np.array(encoder.forward_batch(rows).last_hidden_state)
            mean = (hidden * mask[..., None]).sum(1) / lengths[:, None]
            return mean / np.linalg.norm(mean, axis=1, keepdims=True)

        return batched(run, tokenizer())

    return load


class Input(ctypes.Structure):
    """heddle_input."""

    _fields_ = [
        (name, ctypes.c_void_p if i % 2 == 0 else ctypes.c_size_t)
        for i, name in enumerate(
            ["text", "text_size", "ids", "id_count", "target", "target_size"]
            + ["target_ids", "target_id_count", "pair", "pair_size"]
        )
    ]


def of_heddle():
    heddle = ctypes.CDLL(library)
    heddle.heddle_error.restype = ctypes.c_char_p

    def check(status):
        if status:
            sys.exit(f"embed.py: {heddle.heddle_error().decode()}")

    def load():
        model, session = ctypes.c_void_p(), ctypes.c_void_p()
        settings = ctypes.c_void_p()
        path = str(folder / f"{kind}.heddle").encode()
        check(heddle.heddle_model_load(path, 2, ctypes.byref(model)))
        check(heddle.heddle_settings_create(None, ctypes.byref(settings)))
        for name, value in [
            ("threads", threads),
            ("batch", BATCH),
            ("max-source", MOST_TOKENS),
            ("normalize", "true"),
        ]:
            text = str(value).encode()
            check(heddle.heddle_settings_set(settings, name.encode(), text))
        check(heddle.heddle_session_create(model, settings, ctypes.byref(session)))

        def embed(texts):
            bytes_of = [text.encode() for text in texts]
            inputs = (Input * len(texts))()
            for each, text in zip(inputs, bytes_of):
                each.text = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p)
                each.text_size = len(text)
            vectors, width = ctypes.POINTER(ctypes.c_float)(), ctypes.c_size_t()
            count = ctypes.c_size_t(len(texts))
            check(
                heddle.heddle_embed(
                    session, inputs, count, ctypes.byref(vectors), ctypes.byref(width)
                )
            )
            found = np.ctypeslib.as_array(vectors, (len(texts), width.value)).copy()
            heddle.heddle_free(vectors)
            return found

        return embed

    return load


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


load = globals()[f"of_{engine}"]()
before, start = peak(), time.perf_counter()
embed = load()
embed(["One text."])
loading = time.perf_counter() - start


def reply(line):
    mode, *rest = line.split()
    if mode == "load":
        return str(loading)
    if mode == "memory":
        return str(peak() - before)
    texts = pathlib.Path(rest[-1]).read_text(encoding="utf-8").splitlines()
    if mode == "save":
        np.save(rest[0], embed(texts))
        return "saved"
    size = {"sorted": len(texts), "arrival": BATCH, "single": 1}[mode]
    start = time.perf_counter()
    for first in range(0, len(texts), size):
        embed(texts[first : first + size])
    return str(time.perf_counter() - start)


answer.serve(lambda lines: [reply(line) for line in lines])
