"""What the page's script does, in a real browser where there is one."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from fastdecode.report.page.page import page
from tests.report.page.test_page import report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")

STATE = """
const state = () => ({
  shown: points.filter((point) => point.style.display !== "none").map(name),
  front: chart.querySelector(".front").style.display,
  reached: points.filter((point) => point.getAttribute("tabindex") === "0").map(name),
  chosen: points.filter((point) => point.getAttribute("aria-selected") === "true").map(name),
  told: chart.querySelector(".told").textContent,
});
"""


def seen(folder: Path, actions: str) -> list[dict[str, Any]]:
    """Return the states that `actions` note, on the page of a run with two points."""
    script = f"""<script>
const chart = document.querySelector(".chart");
const points = [...chart.querySelectorAll(".point")];
const name = (point) => point.getAttribute("aria-label").split(":")[0];
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {{key}}));
const button = (family) => chart.querySelector(`.legend button[data-family="${{family}}"]`);
const found = [];
{STATE}
const note = () => found.push(state());
{actions}
const told = document.body.appendChild(document.createElement("pre"));
told.id = "found";
told.textContent = JSON.stringify(found);
</script></body>"""
    file = folder / "index.html"
    file.write_text(page(report(folder)).replace("</body>", script))
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    dumped = subprocess.run(
        [*command, f"--user-data-dir={folder / 'browser'}", file.as_uri()],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout
    (text,) = re.findall(r'<pre id="found">(.*?)</pre>', dumped, re.DOTALL)
    states: list[dict[str, Any]] = json.loads(unescape(text))
    return states


def test_families_are_hidden_with_the_front_and_come_back(tmp_path: Path) -> None:
    first, without, again = seen(
        tmp_path,
        "note(); button(points[0].dataset.family).click(); note();"
        "button(points[0].dataset.family).click(); note();",
    )
    assert first["shown"] and first["front"] == ""
    assert len(first["reached"]) == 1
    assert without["front"] == "none" and set(without["shown"]) < set(first["shown"])
    assert again["shown"] == first["shown"] and again["front"] == ""


def test_a_point_that_is_hidden_is_told_of_no_more(tmp_path: Path) -> None:
    before, without = seen(
        tmp_path, "points[0].focus(); note(); button(points[0].dataset.family).click(); note();"
    )
    assert before["chosen"] == before["shown"][:1]
    assert before["chosen"] != without["chosen"] == without["reached"] == without["shown"][:1]
    assert without["told"].startswith(f"{without['chosen'][0]}: ")


def test_arrow_keys_go_round_the_points_and_tell_them(tmp_path: Path) -> None:
    states = seen(
        tmp_path,
        "points[0].focus(); note();"
        "for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'Home', 'End', 'a'])"
        "{ press(key); note(); }",
    )
    names = states[0]["shown"]
    assert len(names) > 1
    expected = [0, 1, 0, -1, 0, -1, -1]
    for state, place in zip(states, expected, strict=True):
        assert state["chosen"] == state["reached"] == [names[place]]
        assert state["told"].startswith(f"{names[place]}: ")


def test_a_long_path_wraps_and_lines_of_a_row_stay_while_a_table_scrolls(tmp_path: Path) -> None:
    (found,) = seen(
        tmp_path,
        "const cell = document.querySelector('td.here'), table = cell.closest('table');"
        "cell.textContent = 'transformer-big/lattice/lattice-k64, '.repeat(9);"
        "const sticky = getComputedStyle(table.querySelector('tbody .name'));"
        "found.push({wide: cell.getBoundingClientRect().width,"
        "  borders: getComputedStyle(table).borderCollapse, place: sticky.position,"
        "  line: sticky.borderBottomWidth,"
        "  shadow: getComputedStyle(table.parentElement).backgroundAttachment});",
    )
    assert 0 < found["wide"] <= 16 * 16
    # Borders that are not collapsed are the cell's own, and go where it goes.
    assert (found["borders"], found["place"], found["line"]) == ("separate", "sticky", "1px")
    assert found["shadow"] == "local, local, scroll, scroll"


def test_a_heading_sorts_the_systems_turns_them_round_and_gives_their_order_back(
    tmp_path: Path,
) -> None:
    states = seen(
        tmp_path,
        "const table = document.querySelector('table.sortable');"
        "const head = [...table.tHead.rows[0].cells].find(one => one.textContent === 'BLEU');"
        "const shown = () => found.push({order: head.getAttribute('aria-sort'),"
        "  rows: [...table.tBodies[0].rows].map(row => row.cells[head.cellIndex].textContent)});"
        "shown();"
        "for (let i = 0; i < 3; i++) { head.querySelector('button').click(); shown(); }",
    )
    assert states == [
        {"order": None, "rows": ["40.00", "35.00"]},
        {"order": "ascending", "rows": ["35.00", "40.00"]},
        {"order": "descending", "rows": ["40.00", "35.00"]},
        {"order": None, "rows": ["40.00", "35.00"]},
    ]


@pytest.mark.parametrize(
    ("texts", "ascending"),
    [
        (["×9.50†", "–", "×10.00", "−1.0", ""], ["−1.0", "×9.50†", "×10.00", "–", ""]),
        (["beam10", "beam5", "argmax"], ["argmax", "beam5", "beam10"]),
        (["6-6", "12-1", "6-1"], ["6-1", "6-6", "12-1"]),
        (["0.32 M", "–", "0.5 M"], ["0.32 M", "0.5 M", "–"]),
    ],
)
def test_printed_numbers_are_sorted_as_numbers_and_what_is_missing_is_last(
    texts: list[str], ascending: list[str], tmp_path: Path
) -> None:
    (found,) = seen(
        tmp_path,
        "const row = text => { const made = document.createElement('tr');"
        "  made.insertCell().textContent = text; return made; };"
        f"const rows = {json.dumps(texts)}.map(row);"
        "const by = order => sorted(rows, 0, order).map(one => one.textContent);"
        "found.push({up: by('ascending'), down: by('descending'), run: by('none')});",
    )
    missing = [text for text in ascending if text in ("", "–")]
    there = [text for text in ascending if text not in missing]
    assert found == {"up": ascending, "down": there[::-1] + missing, "run": texts}


def test_a_drawing_that_is_shown_twice_is_in_the_page_once(tmp_path: Path) -> None:
    (found,) = seen(
        tmp_path,
        'const copy = document.querySelector("img[data-of]");'
        "const one = document.getElementById(copy.dataset.of).querySelector('img');"
        "found.push({hidden: copy.hidden, same: copy.src === one.src, is: one.src.slice(0, 18)});",
    )
    assert found == {"hidden": False, "same": True, "is": "data:image/svg+xml"}
