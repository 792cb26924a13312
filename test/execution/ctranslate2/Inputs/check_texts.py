"""Translates lines with a model of test/goldens/ctranslate2 and a SentencePiece model.

usage: check_texts.py GOLDENS WORK
"""

import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

goldens, work = map(pathlib.Path, sys.argv[1:])
golden = goldens / "ctranslate2" / "pieces"
pieces = goldens / "marian-npz-old-pre-norm" / "vocab.spm"
expected = json.loads((golden / "texts.json").read_text())
words = goldens / "ctranslate2" / "merges"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
failures = []


def run(command, text=""):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def compile_model(model, *flags):
    global last_stderr
    done = run(["heddle-compile", model, "-o", work / "artifact", "--target", "native", *flags])
    last_stderr = done.stderr
    return "" if done.returncode == 0 else done.stderr.strip()


def check(what, model, key, *flags, expected=expected, warns=""):
    problem = compile_model(model, *flags)
    if warns not in (last_stderr if not problem else warns):
        failures.append(f"{what}: {last_stderr!r}, expected {warns!r}")
    if problem:
        failures.append(f"{what}: {problem}")
        return
    done = run(["heddle-run", work / "artifact", "--max-length", "16"],
               "".join(line + "\n" for line in expected["lines"]))
    if done.stdout.split("\n")[:-1] != expected[key]:
        failures.append(f"{what}: {done.stdout!r} {done.stderr}, expected {expected[key]}")


def check_unknowns():
    """Pieces of the source in place of unknown tokens, in texts and in n-best lists."""
    known = json.loads((golden / "unknowns.json").read_text())
    problem = compile_model(golden, "--tokenizer", pieces, "--dtype", "f32")
    if problem:
        failures.append(f"unknowns: {problem}")
    lines = "".join(line + "\n" for line in known["lines"])
    command = ["heddle-run", work / "artifact", "--max-length", "16", "--beam", "1"]
    for key, flags in {"replaced": ["--replace-unknowns"]}.items():
        done = run(command + flags, lines)
        if done.stdout.split("\n")[:-1] != known[key]:
            failures.append(f"{key}: {done.stdout!r} {done.stderr}, expected {known[key]}")
    # Beside the text, alignments of its tokens.
    done = run(command + ["--replace-unknowns", "--alignments", "--on-error", "skip"],
               lines + " \n")
    rows = [line.split(" ||| ") for line in done.stdout.split("\n")[:-1]]
    if [row[0] for row in rows] != known["replaced"] + [""] or any(
            [pair.split("-")[1] for pair in row[1].split()] != list(map(str, range(15)))
            for row in rows[:-1]):
        failures.append(f"unknowns with alignments: {done.stdout!r} {done.stderr}")
    for flags, sentence in (
            (["--ids"], "--replace-unknowns is for texts, but --ids gives ids"),
            (["--stop", "x"], "--replace-unknowns is for whole answers, but --stop cuts them")):
        done = run(command + ["--replace-unknowns"] + flags, lines)
        if done.returncode == 0 or sentence not in done.stderr:
            failures.append(f"{flags}: {done.stderr!r}, expected {sentence!r}")


def refuses(what, model, sentence):
    problem = compile_model(model)
    if sentence not in problem or "\n" in problem:
        failures.append(f"{what}: {problem!r}, expected {sentence!r}")


def package(name, files, golden=golden, pieces=pieces, **metadata):
    """An archive of the golden and these files beside it."""
    path = work / f"{name}.argosmodel"
    metadata = {"package_version": "1.9", "type": "translate", "from_code": "en", "to_code": "it"} | metadata
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("translate-en_it/metadata.json", json.dumps(metadata))
        for file in ("model.bin", "config.json", "shared_vocabulary.json"):
            archive.write(golden / file, f"translate-en_it/model/{file}")
        for file in files:
            archive.write(pieces, f"translate-en_it/{file}")
    return path


check("--tokenizer", golden, "two", "--tokenizer", pieces)
folder = work / "folder"
shutil.copytree(golden, folder)
shutil.copy(pieces, folder / "sentencepiece.model")
check("a folder", folder, "two")
# Both sides have one of their own.
(folder / "sentencepiece.model").unlink()
shutil.copy(pieces, folder / "source.spm")
shutil.copy(pieces, folder / "target.spm")
check("two models", folder, "two")
check("a package", package("whole", ["sentencepiece.model"]), "argos")

check_unknowns()

# Merges cut words that are apart.
codes = goldens / "fairseq" / "merges" / "bpecodes"
check("merges", package("words", ["bpe.model"], words, codes), "argos",
      expected=json.loads((words / "texts.json").read_text()), warns="by Moses' rules, which Heddle lacks")
broken = work / "bpe.model"
broken.write_text("#version: 0.2\na b c d\n")
refuses("broken merges", package("broken", ["bpe.model"], words, broken),
        "line 2 of '" + str(work / "broken.argosmodel"))
# A tokenizer that is not read leaves ids.
done = compile_model(package("pairs", ["bpe.model"]))
if done:
    failures.append(f"bpe.model: {done}")
done = run(["heddle-run", work / "artifact"], "a b\n")
if done.returncode == 0 or "bpe.model" not in done.stderr:
    failures.append(f"bpe.model: {done.stderr}")
refuses("a prefix", package("prefix", ["sentencepiece.model"], target_prefix="__it__"),
        "has 'target_prefix' with the value \"__it__\"")
refuses("another type", package("other", ["sentencepiece.model"], type="sbd"),
        "has 'type' with the value \"sbd\"")
with zipfile.ZipFile(work / "none.argosmodel", "w") as archive:
    archive.writestr("x/metadata.json", "{}")
refuses("no model", work / "none.argosmodel", "has no file FOLDER/model/model.bin")
whole = package("damaged", ["sentencepiece.model"])
data = bytearray(whole.read_bytes())
data[len(data) // 2] ^= 1
whole.write_bytes(data)
refuses("a damaged archive", whole, "is a damaged zip archive")

print(*failures, sep="\n")
sys.exit(len(failures) > 0)
