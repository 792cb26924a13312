"""What calls return: values that nobody changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Text:
    """A text that was generated, or scored."""

    text: str
    #: Token ids: what was given first, then what was generated, the end included.
    ids: tuple[int, ...] = ()
    #: The log-probability in nats of what was generated, and that with the length
    #: penalty; 0 for greedy searches and samples without `scores=True`.
    sum: float = 0.0
    score: float = 0.0
    #: Of each id, with `token_scores=True` and of `Model.score`.
    log_probabilities: Optional[tuple[float, ...]] = None
    #: With `alignments=True`: of each token of the text, (source, target).
    pairs: Optional[tuple[tuple[int, int], ...]] = None
    #: The other hypotheses or samples of `n_best=N`, the best first.
    others: tuple[Text, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Label:
    """A label of a text or of a token, a word that a mask stands for, or an answer."""

    name: str
    #: The number of the label, or the token's id; 0 for an answer.
    id: int
    #: A probability, or what the model says if its scores are none.
    score: float
    #: The token that it is about, special ones counted.
    token: int
    token_name: Optional[str]
    #: Where it stands in the text, in characters.
    start: int
    end: int
