"""A model, and what it is asked for."""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from contextlib import contextmanager
from ctypes import c_size_t, c_void_p
from typing import Any, Iterator, Optional, Sequence, Union, overload

from ._library import Input, TokenCallback, byref, lib, take_text, text_of
from .errors import CancelledError, MisuseError
from .results import Label, Text
from .settings import Settings

#: heddle.h: HEDDLE_VERIFY and the devices.
_VERIFY = 1
_DEVICES = {"auto": 0, "cpu": 2, "cuda": 4}
#: Kinds of heddle_encode.
_SOURCE, _TARGET = 0, 3

Texts = Union[str, Sequence[str]]


class _Session:
    """Owns a session of the library: one call at a time."""

    def __init__(self, model: c_void_p, settings: Settings) -> None:
        self.handle = c_void_p()
        self.process = os.getpid()
        lib.session_create(model, settings.handle, byref(self.handle))

    def __del__(self) -> None:
        # The threads of a session are not there in a child of fork.
        if self.handle and self.process == os.getpid():
            lib.session_free(self.handle)
            self.handle = c_void_p()


class Call:
    """A call that another thread may end."""

    _current = threading.local()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Optional[_Session] = None
        self._is_cancelled = False

    def run(self, method: Any, *arguments: Any, **settings: Any) -> Any:
        """Calls a method of a model, in this thread."""
        Call._current.call = self
        try:
            return method(*arguments, **settings)
        finally:
            Call._current.call = None

    def cancel(self) -> None:
        """Raises CancelledError where the call runs, or once it begins."""
        with self._lock:
            self._is_cancelled = True
            if self._session is not None:
                lib.cancel(self._session.handle)

    @contextmanager
    def _has(self, session: _Session) -> Iterator[None]:
        with self._lock:
            if self._is_cancelled:
                raise CancelledError("the call was cancelled")
            self._session = session
        try:
            yield
        finally:
            with self._lock:
                self._session = None


class _Inputs:
    """The texts of a call, which the library borrows."""

    def __init__(
        self,
        texts: Sequence[str],
        targets: Optional[Sequence[str]] = None,
        pairs: Optional[Sequence[str]] = None,
    ) -> None:
        self.array = (Input * len(texts))()
        self.kept = []
        for field, values in (("text", texts), ("target", targets), ("pair", pairs)):
            if values is None:
                continue
            if len(values) != len(texts):
                raise MisuseError(f"{len(texts)} texts have {len(values)} {field}s")
            for each, value in zip(self.array, values):
                if not isinstance(value, str):
                    raise MisuseError(
                        f"a {field} is of the type {type(value).__name__}, expected str"
                    )
                data = value.encode("utf-8", "surrogatepass")
                self.kept.append(data)
                setattr(each, field, data)
                setattr(each, f"{field}_size", len(data))

    def __len__(self) -> int:
        return len(self.array)


class Model:
    """A file of heddle-compile. Any number of threads may call one; each call has a
    session of its own, which later calls use again.

    `device` is "auto", "cpu" or "cuda"; `verify` reads the whole file first."""

    def __init__(
        self, path: str | os.PathLike[str], *, device: str = "auto", verify: bool = False
    ) -> None:
        if device not in _DEVICES:
            raise MisuseError(f"the device is '{device}', expected auto, cpu or cuda")
        self.path = os.fspath(path)
        self.device = device
        self._handle: Optional[c_void_p] = None
        self._sessions: list[_Session] = []
        self._lock = threading.Lock()
        flags = _DEVICES[device] | (_VERIFY if verify else 0)
        handle = c_void_p()
        lib.model_load(os.fsencode(self.path), flags, byref(handle))
        self._handle = handle

    # ------------------------------------------------------------------ life

    def close(self) -> None:
        """Gives the model back, once calls that run have ended."""
        with self._lock:
            handle, self._handle = self._handle, None
            self._sessions.clear()
        if handle is not None:
            lib.model_free(handle)

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle is the path: another process maps the same file."""
        return _reload, (self.path, self.device)

    def __repr__(self) -> str:
        return f"heddle.Model({self.path!r})"

    def _open(self) -> c_void_p:
        if self._handle is None:
            raise MisuseError(f"the model '{self.path}' is closed")
        return self._handle

    @contextmanager
    def _session(self, settings: dict[str, Any]) -> Iterator[_Session]:
        own = Settings(settings)
        session = None
        with self._lock:
            model = self._open()
            while self._sessions and session is None:
                session = self._sessions.pop()
                if session.process != os.getpid():
                    session = None
        if session is None:
            session = _Session(model, own)
        else:
            lib.session_configure(session.handle, own.handle)
        call = getattr(Call._current, "call", None)
        if call is not None:
            with call._has(session):
                yield session
        elif threading.current_thread() is threading.main_thread():
            # Python tells this thread alone of Ctrl-C.
            lib.guard_interrupts(session.handle)
            try:
                yield session
            finally:
                lib.release_interrupts()
        else:
            yield session
        # One that has failed is not used again.
        with self._lock:
            if self._handle is not None:
                self._sessions.append(session)

    # ------------------------------------------------------------------ what it is

    @property
    def tasks(self) -> tuple[str, ...]:
        """Of "generate", "embed", "classify", "tag", "answer" and "fill"."""
        names = ("generate", "embed", "classify", "tag", "answer", "fill")
        model = self._open()
        return tuple(n for n in names if lib.model_has_task(model, n.encode()))

    @property
    def continues_texts(self) -> bool:
        """Whether it is a language model, and no translator."""
        return bool(lib.model_continues_texts(self._open()))

    def describe(self) -> str:
        """What the file holds, as text for people."""
        text = c_void_p()
        lib.describe(os.fsencode(self.path), _DEVICES["cpu"], 0, byref(text))
        return take_text(text)

    # ------------------------------------------------------------------ texts

    @overload
    def translate(self, texts: str, *, target: Any = None, **settings: Any) -> Text: ...
    @overload
    def translate(
        self, texts: Sequence[str], *, target: Any = None, **settings: Any
    ) -> list[Text]: ...
    def translate(self, texts: Texts, *, target: Any = None, **settings: Any) -> Any:
        """Translates texts, or continues them if the model does that. `target` is what
        each answer begins with. An input without a token has an empty answer."""
        return self._texts(lib.translate, texts, target, settings)

    generate = translate

    def score(self, texts: Texts, targets: Texts, **settings: Any) -> Any:
        """How likely targets are: `log_probabilities` of each token, and their sum."""
        return self._texts(lib.score, texts, targets, settings)

    def _texts(
        self, function: Any, texts: Texts, targets: Any, settings: dict[str, Any]
    ) -> Any:
        one = isinstance(texts, str)
        if isinstance(targets, str):
            targets = [targets] * (1 if one else len(texts))
        inputs = _Inputs(_as_list(texts), targets)
        answers = c_void_p()
        with self._session(settings) as session:
            function(session.handle, inputs.array, len(inputs), byref(answers))
        try:
            found = [_read_answers(answers, i) for i in range(len(inputs))]
        finally:
            lib.answers_free(answers)
        return found[0] if one else found

    def stream(
        self, text: str, *, target: Optional[str] = None, **settings: Any
    ) -> Iterator[str]:
        """The pieces of an answer as soon as they are certain: joined, they are its
        text. Greedy searches and samples alone. What ends the iteration early cancels
        the call."""
        pieces: queue.SimpleQueue[Any] = queue.SimpleQueue()
        call = Call()

        def run() -> None:
            try:
                call.run(self._tell, text, pieces.put, target=target, **settings)
                pieces.put(None)
            except BaseException as error:  # Whoever iterates raises it.
                pieces.put(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            while (piece := pieces.get()) is not None:
                if isinstance(piece, BaseException):
                    raise piece
                if piece:
                    yield piece
        finally:
            call.cancel()
            thread.join()

    def _tell(
        self, text: str, put: Any, *, target: Optional[str] = None, **settings: Any
    ) -> None:
        """Calls `put` with each piece of an answer. What that raises ends the call and
        is raised from it."""
        inputs = _Inputs([text], None if target is None else [target])
        raised: list[BaseException] = []

        def take(_c: Any, _i: int, _id: int, data: int, size: int, _last: int) -> int:
            try:
                put(text_of(data, size) if size else "")
            except BaseException as error:
                raised.append(error)
            return len(raised)

        callback = TokenCallback(take)
        with self._session(settings) as session:
            lib.session_on_token(session.handle, callback, None)
            answers = c_void_p()
            try:
                lib.translate(session.handle, inputs.array, 1, byref(answers))
            except CancelledError:
                if not raised:
                    raise
            finally:
                lib.session_on_token(session.handle, TokenCallback(), None)
                lib.answers_free(answers)
            if raised:
                raise raised[0]

    def tokenize(self, text: str) -> list[int]:
        """The ids of a source, special tokens included."""
        ids, count = c_void_p(), c_size_t()
        data = text.encode("utf-8", "surrogatepass")
        with self._session({}) as session:
            lib.encode(
                session.handle, _SOURCE, data, len(data), None, byref(ids), byref(count)
            )
        try:
            numbers = ctypes.cast(ids, ctypes.POINTER(ctypes.c_int32))
            return numbers[: count.value]
        finally:
            lib.free(ids)

    def detokenize(self, ids: Sequence[int]) -> str:
        """The text of target ids, without special tokens."""
        text, size = c_void_p(), c_size_t()
        array = (ctypes.c_int32 * len(ids))(*ids)
        with self._session({}) as session:
            lib.decode(session.handle, array, len(ids), byref(text), byref(size))
        return take_text(text, size.value)

    # ------------------------------------------------------------------ vectors

    def embed(self, texts: Texts, **settings: Any) -> Any:
        """Vectors, float32 [texts, width], or [width] of one text: a NumPy array, which
        has the library's memory and owns it."""
        import numpy

        one = isinstance(texts, str)
        inputs = _Inputs(_as_list(texts))
        values, width = c_void_p(), c_size_t()
        with self._session(settings) as session:
            lib.embed(
                session.handle, inputs.array, len(inputs), byref(values), byref(width)
            )
        if not values.value:
            return numpy.empty((len(inputs), width.value), numpy.float32)
        owner = _Memory(values, len(inputs) * width.value)
        array = numpy.asarray(owner).reshape(len(inputs), width.value)
        return array[0] if one else array

    # ------------------------------------------------------------------ labels

    def classify(self, texts: Texts, pairs: Any = None, **settings: Any) -> Any:
        """The labels of texts, or of pairs of them: `top=N` the best N, or all."""
        return self._labels(lib.classify, texts, pairs, settings)

    def tag(self, texts: Texts, **settings: Any) -> Any:
        """Labels of tokens, in their order."""
        return self._labels(lib.tag, texts, None, settings)

    def fill(self, texts: Texts, **settings: Any) -> Any:
        """Words that the masks of texts may stand for."""
        return self._labels(lib.fill, texts, None, settings)

    def answer(self, questions: Texts, contexts: Texts, **settings: Any) -> Any:
        """Where the answers to questions stand in texts."""
        return self._labels(lib.find_answers, questions, contexts, settings)

    def _labels(
        self, function: Any, texts: Texts, pairs: Any, settings: dict[str, Any]
    ) -> Any:
        one = isinstance(texts, str)
        if isinstance(pairs, str):
            pairs = [pairs] * (1 if one else len(texts))
        inputs = _Inputs(_as_list(texts), None, pairs)
        labels = c_void_p()
        with self._session(settings) as session:
            function(session.handle, inputs.array, len(inputs), byref(labels))
        try:
            found = [_read_labels(labels, i) for i in range(len(inputs))]
        finally:
            lib.labels_free(labels)
        return found[0] if one else found


def _as_list(texts: Texts) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _reload(path: str, device: str) -> Model:
    return Model(path, device=device)


class _Memory:
    """Floats of the library, freed with the last array that reads them."""

    def __init__(self, address: c_void_p, count: int) -> None:
        self._address = address
        self.__array_interface__ = {
            "data": (address.value, False),
            "shape": (count,),
            "typestr": "<f4",
            "version": 3,
        }

    def __del__(self) -> None:
        lib.free(self._address)


def _read_text(answer: Any) -> Text:
    ids = tuple(answer.ids[: answer.id_count])
    return Text(
        text_of(answer.text, answer.text_size),
        ids,
        answer.sum,
        answer.score,
        tuple(answer.log_probabilities[: len(ids)]) if answer.log_probabilities else None,
        tuple(
            (answer.pairs[2 * i], answer.pairs[2 * i + 1]) for i in range(answer.pair_count)
        )
        if answer.pairs
        else None,
    )


def _read_answers(answers: c_void_p, number: int) -> Text:
    found = [
        _read_text(lib.answer(answers, number, rank).contents)
        for rank in range(lib.answer_count(answers, number))
    ]
    if not found:
        return Text("")
    best, *others = found
    if not others:
        return best
    return Text(
        best.text,
        best.ids,
        best.sum,
        best.score,
        best.log_probabilities,
        best.pairs,
        tuple(others),
    )


def _read_labels(labels: c_void_p, number: int) -> list[Label]:
    count = c_size_t()
    listed = lib.labels_of(labels, number, byref(count))
    return [
        Label(
            text_of(each.text, each.text_size),
            each.id,
            each.score,
            each.token,
            each.token_name.decode("utf-8", "replace") if each.token_name else None,
            each.first_character,
            each.last_character,
        )
        for each in (listed[: count.value] if listed else ())
    ]
