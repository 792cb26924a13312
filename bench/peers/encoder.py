"""The encoder that encoder_model.py wrote to FOLDER, in ENGINE: torch, openvino or
onnxruntime. A line "TIMES IDS" runs the batch of ids in that file once, then
TIMES more, and is answered by the seconds of those; "save FILE.npy IDS" by
writing the hidden states. usage: PYTHON THIS ENGINE TYPE FOLDER THREADS"""

import pathlib
import sys
import time

import answer
import numpy as np

engine, kind, folder, threads = sys.argv[1:]
folder, threads = pathlib.Path(folder), int(threads)


def of_torch():
    import torch
    from transformers import AutoModel

    torch.set_num_threads(threads)
    dtype = getattr(torch, kind)
    model = AutoModel.from_pretrained(folder / "model", dtype=dtype).eval()
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model

    def run(ids):
        ids = torch.from_numpy(ids)
        with torch.inference_mode():
            hidden = encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
            return hidden.last_hidden_state.float().numpy()

    return run


def of_openvino():
    import openvino

    settings = {
        "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[kind],
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
    }
    core = openvino.Core()
    model = core.compile_model(folder / "float32.onnx", "CPU", settings)
    request = model.create_infer_request()
    return lambda ids: request.infer({"ids": ids, "mask": np.ones_like(ids)})[0]


def of_onnxruntime():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        folder / f"{kind}.onnx", options, providers=["CPUExecutionProvider"]
    )
    return lambda ids: session.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0]


run = {"torch": of_torch, "openvino": of_openvino, "onnxruntime": of_onnxruntime}[
    engine
]()


def reply(line):
    *save, times, path = line.split()
    ids = np.loadtxt(path, dtype=np.int64, ndmin=2)
    hidden = run(ids)
    if save:
        np.save(times, hidden)
        return "saved"
    start = time.perf_counter()
    for _ in range(int(times)):
        run(ids)
    return str(time.perf_counter() - start)


answer.serve(lambda lines: [reply(line) for line in lines])
