"""What the text of ONNX's Attention says, which has changed under the same opset number.

Each version's own reference and node tests agree with its own text; they are judged by that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from exactattn.attention.options import MaskedRow, SoftcapOrder


@dataclass(frozen=True, slots=True)
class Text:
    """The parts that differ between versions of the package.

    softcap_order   where the softcap stands; up to 1.21 after the mask, so that a blocked key has the score -c
    capped_mode     the value of qk_matmul_output_mode for scores after the softcap; up to 1.21 2
    biased_mode     the same for scores with the mask added; up to 1.21 1, before the softcap
    head_map        which key head a query head uses; in 1.18 "tiled"
    split           how rank 3 becomes heads: each token's width is cut ("width"); in 1.18 all numbers of a sequence are
                    cut, heads first ("sequence"), so that tokens get mixed
    masked_row      what a row with no allowed key gives; up to 1.22 NaN
    lengths_place   do lengths of keys place the causal corner? Only from 1.23 on
    """

    version: str
    softcap_order: SoftcapOrder = "before-bias"
    capped_mode: int = 1
    biased_mode: int = 2
    head_map: Literal["grouped", "tiled"] = "grouped"
    split: Literal["width", "sequence"] = "width"
    masked_row: MaskedRow = "zero"
    lengths_place: bool = True


def text_of(version: str) -> Text:
    """The text of a version of the package."""
    number = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    old, first = number < (1, 22), number < (1, 19)
    return Text(
        version,
        "after-mask" if old else "before-bias",
        2 if old else 1,
        1 if old else 2,
        "tiled" if first else "grouped",
        "sequence" if first else "width",
        "undefined" if number < (1, 23) else "zero",
        number >= (1, 23),
    )
