"""The codes of `exactattn report`, and what each means."""

from __future__ import annotations

CODES = {
    "EA510": "What `exactattn report` understood: sizes, types, layout, every option that is not left out, which "
    "tensor is what, and which are not used. Compare it with what was computed before you read further.",
    "EA511": "The truth of a stage, and how wide its enclosures are. The first look is engine midradius, float64 with "
    "a proven radius; all assumptions that this rests on are listed. The radius of a row is that of its widest "
    "element, of the context in units of the largest |v| of the head. Rows that such an enclosure does not "
    "decide are done again, with sharper bounds and then in balls; `rows_by_engine` counts them.",
    "EA512": "Rows that have no true value, so nothing about them is judged: no key is allowed and the spec gives no "
    "rule (`masked_row`), or a NaN or an infinity of q, k or v takes part in them. Floats that stand there are "
    "neither right nor wrong.",
    "EA513": "How far the floats of a file are from the true values: how many are surely within half an ulp (correctly "
    "rounded, but for ties) and within one ulp of their format, how many are not, and for how many it cannot "
    "be told; the largest error as an enclosure, and where it is. The ulp is that of the format at the true "
    "value. By itself this is no error: `--within ULPS` asks for a bound.",
    "EA514": "Whether every element is within the bound of `--within`. It fails where an element is surely beyond "
    "it, or NaN or infinite where the truth is not; where it cannot be told, or a number stands where there is no "
    "true value, that is undecided and never a pass.",
    "EA515": "Elements that are NaN or infinite although their true value is a number within the range of the format: "
    "an overflow or an invalid operation inside the program. Rows with such elements are judged beside those that are "
    "drawn, at most 256; how many are left is undecided. Look at EA512 for rows that have no true value at all.",
    "EA516": "What a correctly rounded result would be in the format of `--format`: for how many elements the rounding "
    "is proven. An element so near to a tie that no number of bits decides it is undecided.",
    "EA517": "A gradient whose truth alone was asked for, as the file holds none; or one that was not looked at, with "
    "the reason. Gradients need the gradient of the output (`output_gradient`), and every row: `--rows all` asks for "
    "them whatever they cost.",
    "EA518": "A bound was set with `--within`, and nothing was judged: no tensor is known as an output, lse, weights "
    "or a gradient with its `output_gradient`, or no element has a true value. Say under `tensors:` of a spec "
    "which tensor is what. `--strict` makes this exit status 3.",
}
