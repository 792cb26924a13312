"""What the Python package finds is what heddle-run prints.

usage: check_api.py TRANSLATOR GOLDENS ARTIFACT
"""

import asyncio
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import heddle

folder, goldens, path = sys.argv[1:]
TEXTS = ["Good morning.", "", "The train leaves at five.", "It was raining. It stopped."]


def run(model, *words, lines=TEXTS):
    """The lines that heddle-run prints."""
    command = [f"{os.environ['HEDDLE_BUILD']}/bin/heddle-run", os.fspath(model), *words]
    done = subprocess.run(command, input="".join(f"{line}\n" for line in lines),
                          capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def check_cache():
    """One process compiles, the others wait for it."""
    code = f"import heddle; print(heddle.compile({folder!r}, dtype='int8', target='native').path)"
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
                for _ in range(3)]
    paths = {child.communicate()[0].strip() for child in children}
    cache = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "heddle"
    assert len(paths) == 1 and len(list(cache.glob("*.heddle"))) == 1, paths
    made = os.stat(paths.pop()).st_mtime_ns
    again = heddle.compile(folder, dtype="int8", target="native")
    assert os.stat(again.path).st_mtime_ns == made
    assert heddle.compile(folder, path, dtype="f32", target="native").path == path
    assert not list(cache.glob("*.heddle"))[1:]
    assert pathlib.Path(path).read_bytes() != pathlib.Path(again.path).read_bytes()


def check_texts(model):
    assert model.tasks == ("generate",) and not model.continues_texts
    assert model.describe().splitlines() == run(path, "--info")
    answers = model.translate(TEXTS)
    assert [answer.text for answer in answers] == run(path)
    assert answers[1] == heddle.Text("") and str(model.translate(TEXTS[0])) == "Bom dia."
    # n-best lists, scores to as many digits as are printed.
    listed = [line.split(" ||| ") for line in run(path, "--beam", "4", "--n-best", "3")]
    found = [(number, each) for number, answer in enumerate(model.translate(TEXTS, beam=4, n_best=3))
             for each in (answer, *answer.others)]
    assert len(found) == len(listed) == 10
    for (number, each), (theirs, text, sum_, score) in zip(found, listed):
        assert (number, each.text) == (int(theirs), text), (number, each)
        assert abs(each.sum - float(sum_.split()[1])) < 1e-5, (each.sum, sum_)
        assert abs(each.score - float(score)) < 1e-5, (each.score, score)
    text = "The train leaves at five."
    scored = model.score(text, model.translate(text).text)
    assert len(scored.log_probabilities) == len(scored.ids)
    assert abs(sum(scored.log_probabilities) - scored.sum) < 1e-4
    assert model.translate(text, target="O comboio").text.startswith("O comboio")
    assert model.detokenize(scored.ids) == scored.text
    assert model.tokenize("")[:1] != model.tokenize("Good")[:1]
    # A lone surrogate is no character, and no error.
    model.translate("\ud800")
    pieces = list(model.stream(text))
    assert len(pieces) > 2 and "".join(pieces) == model.translate(text).text
    for _ in zip(range(1), model.stream(text)):
        pass

    def fail(piece):
        if piece:
            raise RuntimeError(piece)

    # An exception of a callback comes out of the call.
    try:
        model._tell(text, fail)
        assert False
    except RuntimeError as error:
        assert str(error) == pieces[0]
    assert "".join(model.stream(text)) == "".join(pieces)
    return answers


def check_sharing(model, answers):
    """The same bits from threads, a child of fork, a pickle, and asyncio."""
    found = []

    def translate():
        for _ in range(3):
            found.append(model.translate(TEXTS, token_scores=True, scores=True))

    expected = model.translate(TEXTS, token_scores=True, scores=True)
    threads = [threading.Thread(target=translate) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 24 and all(each == expected for each in found)
    child = os.fork()
    if child == 0:
        os._exit(0 if model.translate(TEXTS) == answers else 1)
    assert os.waitpid(child, 0)[1] == 0
    copy = pickle.loads(pickle.dumps(model))
    assert copy.path == model.path and copy.translate(TEXTS) == answers

    asyncio.run(check_tasks(heddle.AsyncModel(model), answers))


async def check_tasks(model, answers):
    assert await asyncio.gather(*map(model.translate, TEXTS)) == answers
    assert await model.translate(TEXTS) == answers
    pieces = [piece async for piece in model.stream(TEXTS[2])]
    assert "".join(pieces) == answers[2].text and len(pieces) > 2
    async for _ in model.stream(TEXTS[2]):
        break
    # A task that is cancelled ends its call, which would take a minute.
    task = asyncio.create_task(model.translate([TEXTS[2]] * 20000))
    await asyncio.sleep(0.2)
    task.cancel()
    began = time.monotonic()
    try:
        await task
        assert False, "nothing cancelled the call"
    except asyncio.CancelledError:
        assert time.monotonic() - began < 5
    try:
        await model.translate("a", beam=0)
        assert False
    except heddle.MisuseError:
        pass
    assert await model.translate(TEXTS) == answers


def check_interrupt(model):
    """Ctrl-C ends a call of the main thread at once."""
    # What runs behind a shell may have it ignored.
    handler = signal.default_int_handler
    signal.signal(signal.SIGINT, handler)
    many = [TEXTS[2]] * 20000
    # Some seconds alone, so that the signal comes within the call.
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        model.translate(many)
        assert False, "nothing interrupted the call"
    except KeyboardInterrupt:
        pass
    timer.join()
    assert signal.getsignal(signal.SIGINT) is handler
    assert str(model.translate(TEXTS[0])) == "Bom dia."


def check_vectors():
    import numpy

    model = heddle.compile(f"{goldens}/embed/bert", "bert.heddle", target="native")
    assert model.tasks == ("embed",)
    vectors = model.embed(["a cat", "", "two dogs"])
    printed = [json.loads(line)["vector"] for line in run("bert.heddle", lines=["a cat", "", "two dogs"])]
    assert vectors.dtype == numpy.float32
    assert (vectors == numpy.array(printed, numpy.float32)).all()
    one = model.embed("a cat")
    # An array owns its memory.
    del model
    assert (one == vectors[0]).all() and vectors.flags.writeable
    assert heddle.load("bert.heddle").embed([]).shape[0] == 0


def check_labels():
    model = heddle.compile(f"{goldens}/heads/bert-classify", "labels.heddle", target="native")
    text = "the cat sat"
    labels = model.classify(text)
    printed = json.loads(run("labels.heddle", lines=[text])[0])
    assert isinstance(labels, list) and labels[0].score == max(each.score for each in labels)
    assert labels[0].name in json.dumps(printed)
    assert len(model.classify([text, text], top=1)) == 2


check_cache()
with heddle.load(path) as model:
    check_sharing(model, check_texts(model))
    check_interrupt(model)
check_vectors()
check_labels()
