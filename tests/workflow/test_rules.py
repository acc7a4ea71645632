"""Rule files share one name space."""

import re
from collections import Counter

from tests.workflow.conftest import ROOT

NAME = re.compile(r"^(?:def (\w+)\(|([A-Z_]+) = )", re.MULTILINE)


def test_no_name_is_defined_twice() -> None:
    """The later one would win, and an input function that fails hides its rule without a word."""
    names = Counter(
        found[1] or found[2]
        for file in (ROOT / "workflow/rules").glob("*.smk")
        for found in NAME.finditer(file.read_text(encoding="utf-8"))
    )
    assert len(names) > 50
    assert [name for name, count in names.items() if count > 1] == []
