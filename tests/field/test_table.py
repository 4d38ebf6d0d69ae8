"""No field case is forgotten, and the table of them is what the tests give."""

from field.ids import CASES, NOT_AS_PRINTED, REMARKS
from field.table import PATH, cases_tested, table

COUNTS = {"FM": 11, "MV": 10, "MP": 7, "CA": 11, "SW": 5, "GQ": 4, "AB": 6, "CP": 5, "SK": 2, "RP": 5, "OS": 8}
COUNTS |= {"SC": 9, "OV": 6, "LS": 5}  # as the list of reports says in its headings
IDS = [case for cases in CASES.values() for case in cases]


def test_every_case_has_its_test_and_every_test_its_case():
    assert {section: len(cases) for section, cases in CASES.items()} == COUNTS
    assert len(set(IDS)) == len(IDS)
    assert cases_tested().keys() == set(IDS)
    assert NOT_AS_PRINTED.keys() | REMARKS.keys() <= set(IDS)
    assert not NOT_AS_PRINTED.keys() & REMARKS.keys()


def test_every_test_says_in_one_line_what_it_computes():
    for tests in cases_tested().values():
        for test in tests:
            assert test.__doc__, test
            assert "\n" not in test.__doc__.strip(), test


def test_the_kept_table_is_the_one_the_tests_give(request):
    text = table()
    if request.config.getoption("--rewrite-goldens"):
        PATH.write_text(text, encoding="utf-8", newline="\n")
    assert text == PATH.read_text(encoding="utf-8"), f"{PATH} is not what the tests give now"
