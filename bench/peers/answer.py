"""How a peer of the benchmarks is asked: a line with a number, as many lines of
input, and as many lines of answers."""

import sys


def serve(answer):
    """Calls `answer` with the lines of each request until there is no more."""
    for count in sys.stdin:
        lines = [sys.stdin.readline().rstrip("\n") for _ in range(int(count))]
        print("\n".join(answer(lines)), flush=True)
