"""The small inputs that many field cases share."""

import numpy as np

A23 = ([[1, 0], [0, 2]], [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [2, 2]])  # two queries, three keys
A33 = ([[1, 0], [0, 1], [1, 1]], *A23[1:])
ONE = (A23[0][:1], *A23[1:])  # its first query alone, as when decoding
W5 = (np.zeros((5, 1)), np.zeros((5, 1)), np.eye(5))  # equal scores and unit values: the context is the weights
FIRST_TWO = [[True, True, False]] * 2  # keep the first two keys
SECOND_ROW_EMPTY = [[True, True, False], [False, False, False]]

PLAIN = "[[1.2033363, 1.0], [1.0, 1.3374248]]"
PLAIN_ONE = "[1.2033363, 1.0]"
TOP_LEFT = "[[1.0, 0.0], [0.19557032, 0.80442968]]"
BOTTOM_RIGHT = "[[0.66976155, 0.33023845], [1.0, 1.3374248]]"
TWO_KEYS = "[[0.66976155, 0.33023845], [0.19557032, 0.80442968]]"
SQUARE_CAUSAL = "[[1.0, 0.0], [0.33023845, 0.66976155], [1.2552348, 1.2552348]]"
