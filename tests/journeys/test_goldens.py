"""Every case gives the report that is kept for it; `pytest --rewrite-goldens` writes them anew."""

import pytest
from goldens import CASES, FIELD, ROOT, TABLE, golden_path, golden_suffixes, golden_texts, table_text


@pytest.mark.parametrize("case", CASES)
def test_the_kept_report_is_the_one_the_case_gives(case, request, monkeypatch):
    monkeypatch.chdir(ROOT)
    for suffix, text in golden_texts(case).items():
        path = golden_path(case, suffix)
        if request.config.getoption("--rewrite-goldens"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8"), f"{path} is not what {case} gives now"


def test_the_kept_table_is_the_one_the_command_gives(request, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = table_text()
    if request.config.getoption("--rewrite-goldens"):
        TABLE.write_text(text, encoding="utf-8", newline="\n")
    assert text == TABLE.read_text(encoding="utf-8"), f"{TABLE} is not what the corpus gives now"


def test_no_report_is_kept_without_its_case():
    kept = {path for path in (ROOT / "reports").rglob("*") if path.suffix in (".json", ".md")}
    measured = {ROOT / "reports" / name for name in ("benchmark.md", "onnx-conformance.md")}
    kept -= measured | {TABLE, FIELD}  # the others are derived from many cases or tests
    assert kept == {golden_path(case, suffix) for case in CASES for suffix in golden_suffixes(case)}
