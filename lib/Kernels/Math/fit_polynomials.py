"""Prints the coefficients of VectorMath.cpp and ActivationKernel.cpp.

Each polynomial minimises the largest weighted error on an interval (Remez'
exchange algorithm). Coefficients are rounded to f32 one after the other, and
those that are left are fitted again, so that they make up for the rounding.
"""

import math
import struct


def to_f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def solve(matrix, right):
    """Solves a square system of equations by Gauss-Jordan elimination."""
    rows = [row + [value] for row, value in zip(matrix, right)]
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def exchange(f, weight, begin, end, powers):
    """Returns c that minimises max |weight (sum c_k x^powers_k - f)|."""
    middle, half = (begin + end) / 2, (end - begin) / 2
    grid = [middle - half * math.cos(math.pi * i / 8000) for i in range(8001)]
    table = [(x, f(x), weight(x)) for x in grid]
    count = len(powers) + 1
    points = [(2 * i + 1) * 8000 // (2 * count) for i in range(count)]
    best, least = None, math.inf
    for _ in range(40):
        matrix = [
            [w * x**p for p in powers] + [(-1) ** i]
            for i, (x, _, w) in enumerate(table[at] for at in points)
        ]
        right = [table[at][1] * table[at][2] for at in points]
        c = solve(matrix, right)[:-1]
        errors = [
            w * (sum(a * x**p for a, p in zip(c, powers)) - y)
            for x, y, w in table
        ]
        worst = max(abs(error) for error in errors)
        if worst < least:
            best, least = c, worst
        # The largest error of each run of one sign.
        points = []
        for i, error in enumerate(errors):
            if not points or (error > 0) != (errors[points[-1]] > 0):
                points.append(i)
            elif abs(error) > abs(errors[points[-1]]):
                points[-1] = i
        while len(points) > count:
            first, last = abs(errors[points[0]]), abs(errors[points[-1]])
            points.pop(0 if first < last else -1)
        if len(points) < count:
            break
    return best


def fit(name, f, weight, begin, end, degree, fixed=()):
    """Prints a polynomial whose first coefficients are `fixed`."""
    c = list(fixed)
    while len(c) <= degree:
        rest = lambda x: f(x) - sum(a * x**p for p, a in enumerate(c))
        powers = range(len(c), degree + 1)
        c.append(to_f32(exchange(rest, weight, begin, end, powers)[0]))
    grid = [begin + (end - begin) * i / 20000 for i in range(20001)]
    error = max(
        abs(weight(x) * (sum(a * x**p for p, a in enumerate(c)) - f(x)))
        for x in grid
    )
    print(f"{name}, error {error:.2g}:", *c, sep="\n  ")


def over_root(f, series):
    """Returns f(sqrt(z)) / sqrt(z), by its Taylor series near 0."""

    def result(z):
        root = math.sqrt(z)
        if root > 1e-3:
            return f(root) / root
        return sum(a * z**p for p, a in enumerate(series))

    return result


def main():
    ln2 = math.log(2)
    fit("2^x", lambda x: 2**x, lambda x: 2**-x, 0, 1, 5, (1,))
    fit("e^x", math.exp, lambda x: math.exp(-x), 0, ln2, 6, (1, 1))
    power = lambda r: math.expm1(2 * r) / 2
    series = lambda r: 1 + r * (2 / 3 + r / 3)
    behind = lambda r: (power(r) - r) / r**2 if abs(r) > 1e-3 else series(r)
    relative = lambda r: r**2 / abs(power(r)) if r else 0
    fit("(e^2r - 1) / 2", behind, relative, -ln2 / 4, ln2 / 4, 4, (1,))
    a = 2 / math.sqrt(math.pi)
    erf = over_root(math.erf, (a, -a / 3, a / 10))
    less_one, relative = lambda z: erf(z) - 1, lambda z: 1 / erf(z)
    fit("erf(x) / x - 1", less_one, relative, 0, 0.92**2, 5)
    # An error of the logarithm is one of erfc, which erf sees as less.
    logarithm = lambda x: -math.log(math.erfc(x)) / ln2
    weight = lambda x: ln2 * math.erfc(x) / math.erf(x)
    fit("-log2(1 - erf(x))", logarithm, weight, 0.92, 4, 5)
    # Of x^2 - 4.5^2: 0 there makes the function 1 where it ends.
    root = lambda v: math.sqrt(v + 4.5**2)
    above_half = over_root(lambda x: math.erf(x / math.sqrt(2)) / 2, (a / 8**0.5,))
    shifted = lambda v: above_half(v + 4.5**2)
    fit("(Phi(x) - 1/2) / x", shifted, root, -(4.5**2), 0, 9, (to_f32(1 / 9),))


main()
