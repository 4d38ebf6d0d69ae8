"""The field cases with numbers, by section, and whether they are reproduced; a remark where there is something to say.

A case is a public report of attention computed or described wrongly. Sections: FM rows with no key, MV values that
stand for "masked", MP what a mask means, CA causal alignment, SW windows, GQ grouped heads, AB ALiBi, CP softcap, SK
sinks, RP rotary positions, OS the inside of a softmax, SC scale, OV overflow, LS log-sum-exp.
"""

REPRODUCED = "reproduced"

CASES = {
    "FM": ["B01", "B02", "B04", "B05", "B06", "B07", "B08", "B09", "B10", "B11", "B12"],
    "MV": ["B13", "B14", "B15", "B17", "B18", "B19", "B20", "B21", "B23", "B24"],
    "MP": ["B25", "B26", "B27", "B28", "B29", "B31", "B32"],
    "CA": ["B45", "B46", "B47", "B48", "B49", "B50", "B51", "B53", "B54", "B55", "B56"],
    "SW": ["B57", "B58", "B60", "B61", "B62"],
    "GQ": ["B95", "B97", "B98", "B99"],
    "AB": ["B118", "B119", "B121", "B122", "B123", "B124"],
    "CP": ["B113", "B114", "B115", "B116", "B117"],
    "SK": ["B134", "B136"],
    "RP": ["B125", "B126", "B127", "B128", "B129"],
    "OS": ["B80", "B82", "B83", "B84", "B85", "B86", "B87", "B88"],
    "SC": ["B63", "B64", "B65", "B67", "B68", "B69", "B70", "B71", "B72"],
    "OV": ["B73", "B74", "B76", "B77", "B78", "B79"],
    "LS": ["B89", "B91", "B92", "B93", "B94"],
}

NOT_AS_PRINTED = {
    "B17": "the printed weights are exchanged: of -32 and -28 the second is the larger, and has 0.98201379",
    "B68": "the printed weight is that of the root of 8; the scale 1/0.35355 gives 0.94419421",
    "B74": "the printed 6516.6 is cut; 73728 / sqrt(128) = 6516.6961 is 6516.7 when rounded",
}

REMARKS = {
    "B02": "the exact value needs balls: in float64 the constant leaves no bound",
    "B04": "rows 0 to 2 are defined",
    "B23": "with drawn tensors in place of a model's",
    "B31": "-inf as a weight is no number: that part by NumPy",
    "B88": "each output in bfloat16 is proven to lie within one ulp",
    "B97": "the wrong map as another number of key heads",
    "B98": "the wrong map as another number of key heads",
    "B92": "merged by the split algorithm, one part of it without keys",
    "B125": "the wrong pairs as an exact expression: they are no rotation",
}


def status(case):
    """Is it reproduced, and what is there to say?"""
    if case in NOT_AS_PRINTED:
        return f"not as printed: {NOT_AS_PRINTED[case]}"
    return f"{REPRODUCED}; {REMARKS[case]}" if case in REMARKS else REPRODUCED
