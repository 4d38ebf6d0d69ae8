"""The claims K01 to K19 of `cases/published/claims.yaml` come out as the field collection has them.

Source of the verdicts: the collection of published claims, where each was recomputed by hand and by other programs; the
numbers in the evidence are those of its table.
"""

from __future__ import annotations

import pytest
from goldens import ROOT

from exactattn.journeys.verify import verify

HOLDS, FAILS = "holds", "fails"
# Of each collected claim: the claims of the case that state it, with the verdict of the table; "depends" there is a
# claim that holds and one that fails here. Others beside them are their counter-cases.
TABLE = {
    "K01": {"k01-mean-and-variance": HOLDS, "k01-scaled": HOLDS},
    "K02": {"k02-unscaled": HOLDS, "k02-scaled": FAILS, "k02-too-little": FAILS},
    "K03": {"k03-normal": FAILS, "k03-products": FAILS},
    "K04": {"k04-fact": HOLDS, "k04-reason": FAILS},
    "K05": {"k05-invariant": FAILS},
    "K06": {"k06-matrix": FAILS, "k06-pooled": HOLDS},
    "K07": {
        "k07-attention": HOLDS,
        "k07-attention-path": HOLDS,
        "k07-convolution": HOLDS,
        "k07-convolution-path": HOLDS,
        "k07-recurrent": HOLDS,
        "k07-recurrent-path": HOLDS,
        "k07-variance": HOLDS,
    },
    "K08": {"k08-product": HOLDS, "k08-deviation": HOLDS},
    "K09": {"k09-none": HOLDS, "k09-d_k": HOLDS, "k09-root": HOLDS},
    "K10": {"k10-scores": HOLDS, "k10-multiplications": FAILS},
    "K11": {"k11": FAILS},
    "K12": {"k12-range": HOLDS, "k12-outside": HOLDS, "k12-variance": HOLDS},
    "K13": {"k13-declared": HOLDS, "k13-undeclared": FAILS},
    "K14": {"k14-one": HOLDS, "k14-sum": HOLDS},
    "K15": {"identity:k15-largest": FAILS, "identity:k15-average": FAILS},
    "K16": {"k16-bug": HOLDS, "k16-factor": HOLDS, "k16-numbers": HOLDS},
    "K17": {"k17": HOLDS, "w01:k17-kept": HOLDS},
    "K18": {"k18-same": FAILS, "k18-symmetric": HOLDS, "identity:k18-sums": HOLDS, "identity:k18-product": HOLDS},
    "K19": {"k19-near-zero": HOLDS, "k19-jacobian": HOLDS, "k19-shift": HOLDS, "k19-numbers": HOLDS, "k19-zero": FAILS},
    "tests": {"positive-float32": FAILS, "entropy-alone": HOLDS, "entropy-together": FAILS, "k14-inside": FAILS},
    "counter-cases": {
        "k01-uniform": HOLDS,
        "k01-without-assumptions": FAILS,
        "k05-equivariant": HOLDS,
        "k05-fixed-query": HOLDS,
        "k07-with-projections": FAILS,
        "identity:k15-tie": HOLDS,
        "k16-one-head": HOLDS,
        "k17-sum": FAILS,
        "k18-hull": FAILS,
        "k19-float32": FAILS,
    },
}
SAID = {  # what the table has as the right answer, where a claim fails
    "k01-without-assumptions": "7/144",
    "k02-scaled": "= sigma**4",
    "k02-too-little": "= sigma**4/d_k",
    "k03-normal": "of 4 such entries lie in [0.143864, 6.23227], so 1.6 contradicts nothing",
    "k04-reason": "= 1/d_k",
    "k05-invariant": "f(PX) = P f(X)",
    "k06-matrix": "f(PX) = P f(X)",
    "k07-with-projections": "2*n**2*d + 4*n*d**2",
    "k10-multiplications": "10240000000000",
    "k11": "1/3",
    "k13-undeclared": "sqrt(d_k) times 1/d_k",
    "k18-same": "only where A is symmetric",
    "k19-zero": "above 0 for finite scores",
    "positive-float32": "scores [104, 0]",
    "entropy-together": "log(2) for every t",
}


@pytest.fixture(scope="module")
def findings():
    (report,) = verify([str(ROOT / "cases/published/claims.yaml")]).reports
    return {finding.id: finding for finding in report.findings}


@pytest.mark.parametrize("claim", TABLE)
def test_the_verdicts_are_those_of_the_table(claim, findings):
    assert {id: str(findings[id].verdict) for id in TABLE[claim]} == TABLE[claim]


def test_every_claim_of_the_case_is_in_the_table(findings):
    kinds = ("claimed-laws", "equations", "orders")
    assert {f.id for f in findings.values() if f.check in kinds} == {id for row in TABLE.values() for id in row}


@pytest.mark.parametrize("id", SAID)
def test_what_fails_says_what_is_right(id, findings):
    assert SAID[id] in findings[id].message


def test_what_fails_by_a_law_has_a_counterexample_and_a_correction(findings):
    failed = [f for f in findings.values() if f.check == "claimed-laws" and str(f.verdict) == FAILS]
    assert len(failed) == 20
    for finding in failed:
        assert finding.evidence["counterexample"]
        assert finding.evidence["corrected"]


def test_statistical_claims_carry_sample_size_and_interval(findings):
    for id in ("k03-normal", "k03-products"):
        values = findings[id].evidence["values"]
        assert values["sample size"] == "4"
        assert values["confidence"] == "0.95"
        assert values["interval"].startswith("[")
        assert findings[id].evidence["assumptions"]["sample"] in id


def test_the_tail_is_that_of_the_table(findings):
    assert findings["k12-outside"].evidence["values"]["outside"].startswith("0.01241")


def test_nothing_comes_out_otherwise_than_expected():
    (report,) = verify([str(ROOT / "cases/published/claims.yaml")]).reports
    summary = report.as_json()["summary"]
    assert (summary["unexpected"], summary["undecided"], summary["not_run"], summary["broken"]) == (0, 0, 0, 0)
