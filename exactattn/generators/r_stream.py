"""R's default stream after set.seed: Mersenne Twister, normal numbers by inversion, indices by rejection (R >= 3.6).

The twister runs on plain integers. A uniform number is a double with 32 bits; what is computed from it are R's own
operations on doubles, one by one in R's order, each rounded to nearest, none fused. Only the logarithm in the tails of
the normal distribution is the C library's: its last bit is that of this machine.
Source: M. Matsumoto, T. Nishimura (1998), ACM TOMACS 8, 3-30; R's manual page `Random`.
"""

from __future__ import annotations

import math

from exactattn.generators.normal_quantile import quantile

LENGTH, MIDDLE = 624, 397
WORD = 2**32 - 1
UPPER, LOWER = 2**31, 2**31 - 1
TWIST = 0x9908B0DF
SMALLEST = 0.5 * 2.328306437080797e-10  # half of 1/(2**32 - 1): what R gives in place of 0
BIG = 2**27


class RStream:
    """The numbers that follow set.seed(seed), in order."""

    def __init__(self, seed: int) -> None:
        """The state: R scrambles the seed 50 times, drops one number where it keeps the place, and fills the rest."""
        word = seed & WORD
        for _ in range(51):
            word = (69069 * word + 1) & WORD
        self.state: list[int] = []
        for _ in range(LENGTH):
            word = (69069 * word + 1) & WORD
            self.state.append(word)
        self.place = LENGTH

    def word(self) -> int:
        """The next 32 bits of the Mersenne Twister."""
        if self.place == LENGTH:
            self._twist()
        y = self.state[self.place]
        self.place += 1
        y ^= y >> 11
        y ^= (y << 7) & 0x9D2C5680
        y ^= (y << 15) & 0xEFC60000
        return y ^ (y >> 18)

    def _twist(self) -> None:
        state = self.state
        for i in range(LENGTH):
            y = (state[i] & UPPER) | (state[(i + 1) % LENGTH] & LOWER)
            state[i] = state[(i + MIDDLE) % LENGTH] ^ (y >> 1) ^ (TWIST if y & 1 else 0)
        self.place = 0

    def uniform(self) -> float:
        """A number inside (0, 1). Exact value: k/2**32 for the integer k drawn, and `SMALLEST` for k = 0."""
        return self.word() / 2**32 or SMALLEST

    def normal(self) -> float:
        """A standard normal number, from two uniform ones: 27 bits of the first and all of the second."""
        first = math.floor(BIG * self.uniform())
        return quantile((first + self.uniform()) / BIG)

    def index(self, n: int) -> int:
        """One of 0, ..., n - 1: as many bits as n - 1 has, 16 from each uniform number, until they are below n."""
        bits = (n - 1).bit_length()
        while True:
            drawn = 0
            for _ in range(bits // 16 + 1):
                drawn = 65536 * drawn + math.floor(self.uniform() * 65536)
            drawn &= (1 << bits) - 1
            if drawn < n:
                return drawn
