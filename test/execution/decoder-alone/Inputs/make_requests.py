"""Writes requests of a decoder alone for engine-requests: arrivals, settings and
log-normal lengths at random."""

import math
import random
import sys

seed, count, most, vocabulary = map(int, sys.argv[1:])
random.seed(seed)


def settings():
    words = [f"max-length={random.randint(1, 50)}"]
    kind = random.choice(["greedy", "greedy", "sample", "beam", "penalty", "ngrams"])
    if kind == "sample":
        words += ["sample=true", f"seed={random.randrange(1000)}"]
        words += [f"temperature={random.choice([0.5, 1, 1.5])}"]
        words += [f"top-k={random.choice([3, 5, 13])}"]
        if random.random() < 0.3:
            words += [f"cancel={random.randint(1, 3)}"]
        elif random.random() < 0.3:
            words += ["n-best=3"]
    if kind == "beam":
        words += ["beam=4", "n-best=2"]
    if kind == "penalty":
        words += ["repetition-penalty=1.3"]
    if kind == "ngrams":
        words += ["no-repeat-ngram=2"]
    return ",".join(words)


step = 0
for _ in range(count):
    step += random.choice([0, 0, 0, 1, 2, 5])
    length = int(random.lognormvariate(math.log(64), 0.9))
    ids = [random.randrange(vocabulary) for _ in range(max(1, min(length, most)))]
    print(step, settings(), " ".join(map(str, ids)), sep="\t")
