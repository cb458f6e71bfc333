"""Roots of small matrices, by hand."""

import pytest

from arena.ratings.cholesky import add_difference, factor, inverse, prior, solve


def test_what_is_known_of_a_difference_is_known_of_both():
    """The matrix stays symmetric, whichever of the two is named first."""
    for pair, pull in (((0, 2), 3.0), ((2, 0), -3.0)):
        matrix, vector = prior(3, 2.0)
        add_difference(matrix, vector, pair, weight=1.5, pull=pull)
        assert [[1.75, 0.0, -1.5], [0.0, 0.25, 0.0], [-1.5, 0.0, 1.75]] == matrix
        assert [3.0, 0.0, -3.0] == vector


def test_a_matrix_times_what_was_found_is_what_it_was_found_for():
    """Root, solution and inverse, of three rows that all differ."""
    matrix = [[4.0, 2.0, -1.0], [2.0, 5.0, 0.5], [-1.0, 0.5, 3.0]]
    root = factor(matrix)
    found = solve(root, [1.0, -2.0, 3.0])
    back = [sum(a * b for a, b in zip(row, found, strict=True)) for row in matrix]
    assert back == pytest.approx([1.0, -2.0, 3.0])
    whole = inverse(root)
    for one, row in enumerate(matrix):
        for two in range(3):
            product = sum(a * whole[k][two] for k, a in enumerate(row))
            assert product == pytest.approx(float(one == two), abs=1e-12)
