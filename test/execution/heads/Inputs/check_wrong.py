"""Changes folders of classes with heads, and what is asked of their models, so that they
are wrong: each is one sentence, a status other than 0, and no file.

usage: check_wrong.py GOLDENS WORK
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys

goldens, work = map(pathlib.Path, sys.argv[1:])
BERT, MODERN = "heads/bert-{}", "heads/modernbert-classify"
ANSWER, TAG, CLASSIFY = map(BERT.format, ("answer", "tag", "classify"))
GONE = object()


def edit_json(name, changes):
    file = work / "folder" / name
    values = json.loads(file.read_text())
    for key, value in changes.items():
        values[key] = value
        if value is GONE:
            del values[key]
    file.write_text(json.dumps(values))


def config(**changes):
    return lambda: edit_json("config.json", changes)


def tokenizer(**changes):
    return lambda: edit_json("tokenizer_config.json", changes)


def tensors(change):
    """Changes the header of the weights, a dictionary."""

    def edit():
        file = work / "folder" / "model.safetensors"
        data = file.read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + size])
        change(header)
        text = json.dumps(header).encode()
        file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])

    return edit


def content(name, change):
    def edit():
        file = work / "folder" / name
        file.write_bytes(change(file.read_bytes()))

    return edit


def gone(name):
    return lambda: (work / "folder" / name).unlink()


def field(name, value, supported):
    text = json.dumps(value, separators=(",", ":"))
    return f"'folder/config.json' has '{name}' with the value {text} (supported: {supported})"


def of_field(folder, name, value, supported):
    return folder, config(**{name: value}), field(name, value, supported)


OWN_CODE = "no code of the folder: its model is not that of transformers' class"
TANH = {"activation_fn": "torch.nn.modules.activation.Tanh"}
# Folders, how they are changed, what is said.
FOLDERS = [
    (
        ANSWER,
        tensors(lambda header: header.pop("qa_outputs.bias")),
        "the model has no tensor 'qa_outputs.bias' (expected shape [2])",
    ),
    (
        ANSWER,
        tensors(lambda header: header["qa_outputs.weight"].update(shape=[1, 32])),
        "tensor 'qa_outputs.weight' of 'model.safetensors' has shape [1, 32] but the"
        " model needs [2, 16]",
    ),
    (
        ANSWER,
        tokenizer(truncation_side="left"),
        "'folder/tokenizer_config.json' has 'truncation_side' with the value \"left\""
        ' (supported: "right")',
    ),
    of_field(TAG, "id2label", {"0": "O", "2": "B"}, "a text for each number from 0 to 1"),
    of_field(TAG, "id2label", {"0": 1}, "a text for each number from 0 to 0"),
    of_field(TAG, "id2label", ["O", "B"], "an object of texts"),
    of_field(TAG, "id2label", {"0": "O", "1": "O"}, "labels that differ"),
    of_field(TAG, "id2label", {}, "at least one label"),
    (
        TAG,
        config(id2label={str(id): str(id) for id in range(9)}),
        "tensor 'classifier.weight' of 'model.safetensors' has shape [4, 16] but the"
        " model needs [9, 16]",
    ),
    of_field(
        CLASSIFY,
        "problem_type",
        "ranking",
        '"regression", "single_label_classification", "multi_label_classification"',
    ),
    of_field(
        "heads/labels-ranker",
        "sentence_transformers",
        TANH,
        "torch.nn.modules.linear.Identity, torch.nn.modules.activation.Sigmoid",
    ),
    of_field(CLASSIFY, "num_attention_heads", 5, "divisors of hidden_size = 16"),
    of_field(CLASSIFY, "num_attention_heads", 0, "1 to 1048576"),
    (
        CLASSIFY,
        config(num_hidden_layers=3),
        "the model has no tensor 'bert.encoder.layer.1.attention.self.query.weight'"
        " (expected shape [16, 16])",
    ),
    of_field(CLASSIFY, "num_hidden_layers", "2", "1 to 256"),
    (
        CLASSIFY,
        config(vocab_size=3),
        "tensor 'bert.embeddings.word_embeddings.weight' of 'model.safetensors' has shape"
        " [40, 16] but the model needs [3, 16]",
    ),
    of_field(CLASSIFY, "vocab_size", 10**12, "1 to 16777216"),
    of_field(CLASSIFY, "position_embedding_type", "relative_key", '"absolute"'),
    of_field(CLASSIFY, "is_decoder", True, "false"),
    of_field(CLASSIFY, "add_cross_attention", True, "false"),
    of_field(CLASSIFY, "auto_map", {"AutoModel": "m.Model"}, OWN_CODE),
    of_field(MODERN, "classifier_pooling", "max", '"cls", "mean"'),
    of_field(MODERN, "rope_scaling", {"type": "linear"}, "null"),
    of_field(MODERN, "num_attention_heads", 16, "heads of an even width"),
    of_field("heads/albert-classify", "num_hidden_groups", 0, "1 to 256"),
    (
        CLASSIFY,
        content("config.json", lambda _: b'{"a": '),
        "'folder/config.json' is not valid JSON: [1:6, byte=6]: Unexpected EOF",
    ),
    (
        CLASSIFY,
        content("config.json", lambda _: b"[]"),
        "'folder/config.json' is not a JSON object",
    ),
    (
        CLASSIFY,
        gone("config.json"),
        "'folder' is no model folder: it has neither config.json nor model*.bin or"
        " model*.npz",
    ),
    (
        CLASSIFY,
        gone("model.safetensors"),
        "'folder' has no weights: neither model.safetensors nor pytorch_model.bin, whole"
        " or in parts with an index",
    ),
    (
        CLASSIFY,
        content("model.safetensors", lambda data: data[:-40]),
        "tensor 'classifier.weight' of 'folder/model.safetensors' ends at byte 17580 but"
        " the file has 17540 bytes",
    ),
    (
        CLASSIFY,
        content("model.safetensors", lambda _: b""),
        "'folder/model.safetensors' has 0 bytes, too few for a safetensors file",
    ),
    (
        "heads/roberta-answer",
        content("tokenizer.json", lambda _: b"{"),
        "'folder/tokenizer.json' is not valid JSON: [1:1, byte=1]: Expected object key",
    ),
]
# Folders that compile, with a warning about a head that is left out.
WARNINGS = [
    (
        ANSWER,
        tokenizer(padding_side="left"),
        "the tokenizer in 'folder' pads on the left, so that a text stands in front of its"
        " question: the model is without the task 'answer'",
    ),
    (
        ANSWER,
        config(architectures=["BertForMultipleChoice"]),
        "'folder' is of a class for MultipleChoice, a head that is not supported: the model"
        " is without it",
    ),
]
WHO = ["--question", "who"]
# Flags for a model that answers questions, lines, what is said.
RUNS = [
    (WHO + ["--top", "0"], "", "--top has the value '0', expected a number from 1 to 1048576"),
    (["--max-answer"], "", "--max-answer needs a value"),
    (["--stride", "1e3"], "", "--stride has the value '1e3', expected a number from 0 to 1000000"),
    (["--unanswerable=maybe"], "", "--unanswerable takes no value, found 'maybe'"),
    (WHO + ["--question", "a"], "", "--question is given twice, as 'who' and as 'a'"),
    (
        WHO + ["--max-source", "4"],
        "the fox\n",
        "line 1 of standard input has 2 tokens in its second text, too few to cut 2",
    ),
    (
        WHO + ["--output", "v.npy"],
        "a\n",
        "--output is for vectors, but 'artifact' is asked to answer questions",
    ),
    (
        WHO + ["--normalize"],
        "a\n",
        "--normalize is for vectors, but 'artifact' is asked to answer questions",
    ),
    (
        WHO + ["--beam", "4"],
        "a\n",
        "--beam is for translations, but 'artifact' is asked to answer questions",
    ),
    (
        WHO + ["--aggregate", "first"],
        "a\n",
        "--aggregate is given, but 'artifact' embeds texts and answers questions",
    ),
    (["--ids"], "1 2 3\n", "--ids takes ids, but questions are asked of texts"),
    (
        [],
        "what\n",
        "line 1 of standard input has no tab, expected two texts with a tab between them",
    ),
]


def compile_folder(source, edit):
    shutil.rmtree(work / "folder", ignore_errors=True)
    shutil.copytree(goldens / source, work / "folder")
    (work / "artifact").unlink(missing_ok=True)
    edit()
    command = ["heddle-compile", "folder", "-o", "artifact", "--target", "x86-64-v3"]
    return subprocess.run(command, cwd=work, capture_output=True, text=True)


def check(done, tool, sentence):
    assert done.returncode != 0, sentence
    assert done.stderr == f"{tool}: error: {sentence}\n", (done.stderr, sentence)
    assert not done.stdout, sentence


for source, edit, sentence in FOLDERS:
    check(compile_folder(source, edit), "heddle-compile", sentence)
    assert not (work / "artifact").exists(), sentence
for source, edit, sentence in WARNINGS:
    done = compile_folder(source, edit)
    assert done.returncode == 0, done.stderr
    assert f"heddle-compile: warning: {sentence}\n" in done.stderr, done.stderr
assert compile_folder(ANSWER, lambda: None).returncode == 0
for flags, lines, sentence in RUNS:
    command = ["heddle-run", "artifact", *flags]
    done = subprocess.run(
        command, cwd=work, input=lines, capture_output=True, text=True
    )
    check(done, "heddle-run", sentence)
    assert not (work / "v.npy").exists()
print(len(FOLDERS) + len(WARNINGS) + len(RUNS), "wrong inputs")
