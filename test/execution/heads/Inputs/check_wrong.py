"""Changes a folder of a class that answers questions, and what is asked of its model, so
that they are wrong: each is one sentence and a status other than 0, or a warning about a
head that is left out.

usage: check_wrong.py GOLDENS WORK
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys

goldens, work = map(pathlib.Path, sys.argv[1:])


def fields(name, **changes):
    """Sets fields of a file of the folder."""

    def edit():
        file = work / "folder" / name
        file.write_text(json.dumps(json.loads(file.read_text()) | changes))

    return edit


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


def make_nan():
    """Makes the biases of both logits NaN."""
    file = work / "folder" / "model.safetensors"
    data = bytearray(file.read_bytes())
    (size,) = struct.unpack("<Q", data[:8])
    first, last = json.loads(data[8 : 8 + size])["qa_outputs.bias"]["data_offsets"]
    assert last - first == 8
    data[8 + size + first : 8 + size + last] = struct.pack("<2f", *[float("nan")] * 2)
    file.write_bytes(data)


# How the folder is changed, what is said.
FOLDERS = [
    (
        tensors(lambda header: header.pop("qa_outputs.bias")),
        "the model has no tensor 'qa_outputs.bias' (expected shape [2])",
    ),
    (
        tensors(lambda header: header["qa_outputs.weight"].update(shape=[1, 32])),
        "tensor 'qa_outputs.weight' of 'model.safetensors' has shape [1, 32] but the"
        " model needs [2, 16]",
    ),
]
# Folders that compile without their head, and the warning.
WARNINGS = [
    (
        tensors(lambda header: header.update(odd=header.pop("qa_outputs.weight"))),
        "'folder' is of a class for the task 'answer', but has no tensor"
        " 'qa_outputs.weight': the model is without it",
    ),
    (
        fields("tokenizer_config.json", padding_side="left"),
        "the tokenizer in 'folder' pads on the left, so that a text stands in front of its"
        " question: the model is without the task 'answer'",
    ),
    (
        fields("config.json", architectures=None),
        "'folder' has a tensor 'qa_outputs.weight', but no class in 'architectures' of"
        " config.json that says what it is for: the model is without it",
    ),
    (
        fields("config.json", architectures="BertForQuestionAnswering"),
        "'folder' has a tensor 'qa_outputs.weight', but no class in 'architectures' of"
        " config.json that says what it is for: the model is without it",
    ),
    (
        fields("config.json", architectures=["BertForMultipleChoice"]),
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
        "line 1 of standard input has 1 token in its first text, expected at most 0 beside another one",
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
        "--beam is for generated text, but 'artifact' is asked to answer questions",
    ),
    (
        WHO + ["--aggregate", "first"],
        "a\n",
        "--aggregate is given, but 'artifact' embeds texts and answers questions",
    ),
    (
        WHO + ["--in-bytes", "--plain"],
        "a\n",
        "--in-bytes is for places of labels, which --plain leaves out",
    ),
    (
        ["--in-bytes", "--task", "embed"],
        "a\n",
        "--in-bytes is for places of labels and answers, but 'artifact' is asked to"
        " embed texts",
    ),
    (["--ids"], "1 2 3\n", "--ids takes ids, but questions are asked of texts"),
    (
        [],
        "what\n",
        "line 1 of standard input has no tab, expected two texts with a tab between them",
    ),
]


def compile_folder(edit):
    shutil.rmtree(work / "folder", ignore_errors=True)
    shutil.copytree(goldens / "heads" / "bert-answer", work / "folder")
    (work / "artifact").unlink(missing_ok=True)
    edit()
    command = ["heddle-compile", "folder", "-o", "artifact", "--target", "x86-64-v3"]
    return subprocess.run(command, cwd=work, capture_output=True, text=True)


def check(done, tool, sentence):
    assert done.returncode != 0, sentence
    assert done.stderr == f"{tool}: error: {sentence}\n", (done.stderr, sentence)
    assert not done.stdout, sentence


for edit, sentence in FOLDERS:
    check(compile_folder(edit), "heddle-compile", sentence)
    assert not (work / "artifact").exists(), sentence
for edit, sentence in WARNINGS:
    done = compile_folder(edit)
    assert done.returncode == 0, done.stderr
    assert f"heddle-compile: warning: {sentence}\n" in done.stderr, done.stderr
# Logits that are no numbers begin no answer.
assert compile_folder(make_nan).returncode == 0
command = ["heddle-run", "artifact", "--question", "who", "the fox"]
found = subprocess.run(command, cwd=work, capture_output=True, text=True, check=True)
assert found.stdout == '{"answer": null}\n', found.stdout
assert compile_folder(lambda: None).returncode == 0
for flags, lines, sentence in RUNS:
    command = ["heddle-run", "artifact", *flags]
    done = subprocess.run(
        command, cwd=work, input=lines, capture_output=True, text=True
    )
    check(done, "heddle-run", sentence)
    assert not (work / "v.npy").exists()
print(len(FOLDERS) + len(WARNINGS) + len(RUNS), "wrong inputs")
