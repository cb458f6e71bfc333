"""Cholesky factors in plain floats: a few hundred rows in about a second, without numpy.

Invariant: a fixed order of operations, so the same matrix gives the same bits on the same Python
(from 3.12 on `sum` is compensated).
"""

import math
from collections.abc import Sequence
from operator import mul

Matrix = list[list[float]]


def prior(size: int, sigma: float) -> tuple[Matrix, list[float]]:
    """The precision of so many, each with this deviation, and what they are drawn to: nothing."""
    matrix = [[0.0] * size for _ in range(size)]
    for number in range(size):
        matrix[number][number] = 1 / sigma**2
    return matrix, [0.0] * size


def add_difference(
    matrix: Matrix, vector: list[float], pair: tuple[int, int], *, weight: float, pull: float
) -> None:
    """Add what is known of x[one] - x[two]: its precision to a matrix, and what it is drawn to."""
    one, two = pair
    matrix[one][one] += weight
    matrix[two][two] += weight
    matrix[one][two] -= weight
    matrix[two][one] -= weight
    vector[one] += pull
    vector[two] -= pull


def factor(matrix: Matrix) -> Matrix:
    """The lower root of a symmetric positive definite matrix, rows up to the diagonal."""
    root: Matrix = []
    for number, source in enumerate(matrix):
        row: list[float] = []
        for column in range(number):
            other = root[column]
            # map stops at the shorter: row holds what is known of it so far.
            row.append((source[column] - sum(map(mul, row, other))) / other[column])
        row.append(math.sqrt(source[number] - sum(map(mul, row, row))))
        root.append(row)
    return root


def solve(root: Matrix, right: Sequence[float]) -> list[float]:
    """The x of (root · rootᵀ) x = right."""
    middle: list[float] = []
    for row, value in zip(root, right, strict=True):
        middle.append((value - sum(map(mul, row, middle))) / row[-1])
    for number in range(len(root) - 1, -1, -1):
        middle[number] /= root[number][number]
        found = middle[number]
        for column in range(number):
            middle[column] -= root[number][column] * found
    return middle


def inverse(root: Matrix) -> Matrix:
    size = len(root)
    # Columns of the inverse root, each from its diagonal down.
    columns: list[list[float]] = []
    for start in range(size):
        column = [1 / root[start][start]]
        for number in range(start + 1, size):
            row = root[number]
            column.append(-sum(map(mul, row[start:number], column)) / row[number])
        columns.append(column)
    whole = [[0.0] * size for _ in range(size)]
    for one in range(size):
        for two in range(one, size):
            found = sum(map(mul, columns[one][two - one :], columns[two]))
            whole[one][two] = whole[two][one] = found
    return whole
