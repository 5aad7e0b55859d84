"""Equal eigenvalues and equal numbers: whatever rounding does to them, the same choice."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from mvgviz.noise.ties import eigen, largest_first, root, spaces, ties

VALUES = np.array([-1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 5.0])


@pytest.fixture(params=range(4))
def matrix(request):
    """With spaces of dimension 3 and 2, turned at random."""
    turn = ortho_group.rvs(7, random_state=request.param)
    return (turn * VALUES) @ turn.T


def shaken(matrix, rng):
    """As another processor's rounding might leave it."""
    off = 1e-15 * rng.standard_normal(matrix.shape)
    return matrix + off + off.T


def test_eigenvectors_do_not_depend_on_rounding(matrix, rng):
    values, vectors = eigen(matrix)
    assert values == pytest.approx(VALUES, abs=1e-12)
    assert np.abs(vectors.T @ vectors - np.eye(7)).max() < 1e-12
    assert np.abs((vectors * values) @ vectors.T - matrix).max() < 1e-12
    moved = 0.0
    for other in (shaken(matrix, rng) for _ in range(5)):
        assert eigen(other)[1] == pytest.approx(vectors, abs=1e-7)
        assert root(other @ other) == pytest.approx(root(matrix @ matrix), abs=1e-6)
        moved = max(moved, np.abs(np.abs(np.linalg.eigh(other)[1]) - np.abs(np.linalg.eigh(matrix)[1])).max())
    assert moved > 0.01  # numpy's own do


def test_the_basis_of_an_equal_eigenvalue_lies_along_the_axes_where_it_can(rng):
    assert np.array_equal(eigen(shaken(np.eye(4), rng))[1].round(7), np.eye(4))
    equal = np.full((2, 2), 0.5) + 1e-16 * rng.standard_normal((2, 2))
    assert eigen((equal + equal.T) / 2)[1] == pytest.approx(np.array([[1, 1], [-1, 1]]) / 2**0.5)  # the first above 0


def test_spaces_hold_the_equal_ones():
    assert [space.shape for space in spaces(VALUES, np.eye(7))] == [(7, 1), (7, 3), (7, 2), (7, 1)]
    assert ties(np.zeros((2, 3))).all()
    assert not ties(np.array([1.0, 1.0 + 1e-9])).any()


def test_equal_numbers_keep_their_order():
    assert largest_first(np.array([0.1 + 0.2, 0.3, 1.0, 0.3 + 1e-16, -1.0])) == [2, 0, 1, 3, 4]
