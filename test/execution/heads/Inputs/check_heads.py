"""Compiles folders of classes with heads and compares scores with those of
transformers in float64 (make_head_goldens.py).

usage: check_heads.py GOLDENS WORK FOLDER[:FLAG...]...

FLAGs go to heddle-compile, which says nothing. No score differs by more than 1e-5:
logits are sums of a few hundred products of f32, and a wrong activation, norm or
pooling moves a score by more than 1e-3.
"""

import json
import pathlib
import subprocess
import sys

BOUND = 1e-5


def run(*command, text=None, cuts=False):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0 or (done.stderr and not cuts):
        raise SystemExit(f"{command[1]}: {done.stderr.rstrip()}")
    return done.stdout


def places_of(line):
    """The scores of each place of a text, by label or id."""
    if "masks" in line:
        return [
            {str(fill["id"]): fill["score"] for fill in mask["fills"]}
            for mask in line["masks"]
        ]
    return [place["scores"] for place in line.get("tags", [line])]


def check(folder, flags, artifact):
    """The largest difference of a score."""
    run("heddle-compile", folder, "-o", artifact, "--target", "x86-64-v3", *flags)
    golden = json.loads((folder / "scores.json").read_text())
    if golden["task"] == "answer":
        questions = json.loads((folder / "questions.json").read_text())
        return max(
            compare_answers(folder.name, artifact, questions, **answers)
            for answers in golden["answers"]
        )
    texts = json.loads((folder / "texts.json").read_text())
    largest = compare(folder.name, artifact, golden["task"], texts, golden["lines"])
    for key, texts, *flags in [
        ("spans", "span-texts.json"),
        ("windows", "long-texts.json", "--stride", str(golden.get("stride"))),
    ]:
        for strategy, spans in golden.get(key, {}).items():
            command = ["heddle-run", artifact, "--task", "tag", *flags]
            command += ["--aggregate", strategy]
            texts_of_spans = json.loads((folder / texts).read_text())
            difference = compare_spans(command, texts_of_spans, spans)
            largest = max(largest, difference)
    if "pairs" not in golden:
        return largest
    pairs = json.loads((folder / "pairs.json").read_text())
    lines = ["\t".join(pair) for pair in pairs]
    flags = (golden["task"], lines, golden["pairs"], "--pairs")
    return max(largest, compare(folder.name, artifact, *flags))


def in_bytes(text, place):
    """A span of characters in bytes."""
    return tuple(len(text[: place[end]].encode()) for end in ("start", "end"))


def compare_spans(command, texts, golden):
    lines, byte_lines = (
        run(*command, *flags, text="".join(text + "\n" for text in texts)).splitlines()
        for flags in ([], ["--in-bytes"])
    )
    largest = 0
    for text, line, bytes_line, expected in zip(
        texts, lines, byte_lines, golden, strict=True
    ):
        found = json.loads(line)["tags"]
        spans = [(span["start"], span["end"]) for span in json.loads(bytes_line)["tags"]]
        assert spans == [in_bytes(text, span) for span in expected], (command, bytes_line)
        assert len(found) == len(expected), (command, line, expected)
        for span, known in zip(found, expected):
            for field in ("label", "start", "end"):
                assert span[field] == known[field], (command, line, known)
            largest = max(largest, abs(span["score"] - known["score"]))
    return largest


# What the pipeline calls our flags.
FLAGS = {
    "top_k": "--top",
    "max_answer_len": "--max-answer",
    "doc_stride": "--stride",
    "max_seq_len": "--max-source",
    "handle_impossible_answer": "--unanswerable",
}


def compare_answers(name, artifact, questions, asked, lines):
    command = ["heddle-run", artifact, "--task", "answer"]
    for argument, value in asked.items():
        command += [FLAGS[argument]] + ([str(value)] if value is not True else [])
    text = "".join(f"{question}\t{text}\n" for question, text in questions)
    largest = 0
    found_lines, byte_lines = (
        run(*command, *flags, text=text).splitlines()
        for flags in ([], ["--in-bytes"])
    )
    for (_, text), line, bytes_line, expected in zip(
        questions, found_lines, byte_lines, lines, strict=True
    ):
        found = json.loads(line)
        found = found.get("answers", [found])
        first = json.loads(bytes_line)
        assert (first["start"], first["end"]) == in_bytes(text, expected[0]), bytes_line
        assert len(found) == len(expected), (name, asked, line, expected)
        for answer, known in zip(found, expected):
            for field in ("answer", "start", "end"):
                assert answer[field] == known[field], (name, asked, line, expected)
            largest = max(largest, abs(answer["score"] - known["score"]))
    return largest


def compare(name, artifact, task, texts, expected, *flags):
    command = ["heddle-run", artifact, "--task", task, "--top", "100", *flags]
    said = run(*command, text="".join(text + "\n" for text in texts), cuts="--pairs" in flags)
    lines = said.splitlines()
    assert len(lines) == len(texts), name
    largest = 0
    for line, places in zip(lines, expected):
        found = places_of(json.loads(line))
        assert len(found) == len(places), (name, line)
        for scores, golden in zip(found, places):
            assert scores.keys() == golden.keys(), (name, line)
            for label, score in scores.items():
                largest = max(largest, abs(score - golden[label]))
    return largest


def main(goldens, work, *folders):
    failed = False
    for each in folders or sorted(folder.name for folder in goldens.iterdir()):
        name, *flags = each.split(":")
        difference = check(goldens / name, flags, work / "artifact")
        print(f"{each}: {difference:.1e}")
        failed |= not difference <= BOUND
    return failed


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3]), *sys.argv[3:]))
