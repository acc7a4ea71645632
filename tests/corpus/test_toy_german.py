# ruff: noqa: E501  (tables of forms)

import pytest

from fastdecode.corpus.toy.german import (
    CASES,
    DEFINITE,
    Agreement,
    GermanNoun,
    GermanVerb,
    Strength,
    adjective,
    contraction,
    der_word,
    ein_word,
    pronoun,
    relative,
)
from fastdecode.corpus.toy.verbs import g

# Written out by hand from a grammar table: nominative, accusative, dative, genitive.
PHRASES = [
    ("m", "weak", "der alte", "den alten", "dem alten", "des alten"),
    ("f", "weak", "die alte", "die alte", "der alten", "der alten"),
    ("n", "weak", "das alte", "das alte", "dem alten", "des alten"),
    ("p", "weak", "die alten", "die alten", "den alten", "der alten"),
    ("m", "mixed", "kein alter", "keinen alten", "keinem alten", "keines alten"),
    ("f", "mixed", "keine alte", "keine alte", "keiner alten", "keiner alten"),
    ("n", "mixed", "kein altes", "kein altes", "keinem alten", "keines alten"),
    ("p", "mixed", "keine alten", "keine alten", "keinen alten", "keiner alten"),
    ("m", "strong", "alter", "alten", "altem", "alten"),
    ("f", "strong", "alte", "alte", "alter", "alter"),
    ("n", "strong", "altes", "altes", "altem", "alten"),
    ("p", "strong", "alte", "alte", "alten", "alter"),
]


@pytest.mark.parametrize(("agreement", "strength", "nom", "acc", "dat", "gen"), PHRASES)
def test_articles_and_adjectives(
    agreement: Agreement, strength: Strength, nom: str, acc: str, dat: str, gen: str
) -> None:
    for case, expected in zip(CASES, (nom, acc, dat, gen), strict=True):
        articles = {
            "weak": DEFINITE[agreement, case],
            "mixed": ein_word("kein", agreement, case),
            "strong": "",
        }
        found = f"{articles[strength]} {adjective('alt', strength, agreement, case)}"
        assert found.strip() == expected


def test_words_that_inflect_like_the_article() -> None:
    assert [der_word("jed", "m", case) for case in CASES] == ["jeder", "jeden", "jedem", "jedes"]
    assert [der_word("dies", "n", case) for case in CASES] == [
        "dieses",
        "dieses",
        "diesem",
        "dieses",
    ]
    assert [der_word("welch", "p", case) for case in CASES] == [
        "welche",
        "welche",
        "welchen",
        "welcher",
    ]
    assert [ein_word("unser", "f", case) for case in CASES] == [
        "unsere",
        "unsere",
        "unserer",
        "unserer",
    ]
    assert [relative("p", case) for case in ("nom", "acc", "dat")] == ["die", "die", "denen"]
    assert [pronoun("f", case) for case in ("nom", "acc", "dat")] == ["sie", "sie", "ihr"]
    assert [pronoun("polite", case) for case in ("nom", "acc", "dat")] == ["Sie", "Sie", "Ihnen"]


def test_stems_that_change() -> None:
    assert adjective("teuer", "mixed", "n", "nom") == "teures"
    assert adjective("sauer", "weak", "m", "nom") == "saure"
    assert adjective("müde", "strong", "m", "nom") == "müder"


def test_contractions() -> None:
    assert contraction("in", "dem") == "im"
    assert contraction("zu", "der") == "zur"
    assert contraction("in", "der") is None
    assert contraction("auf", "das") is None


@pytest.mark.parametrize(
    ("noun", "forms", "plurals"),
    [
        (GermanNoun("m", "Mann", "Mannes", "Männer"), "Mann Mann Mann Mannes", "Männer Männern"),
        (GermanNoun("m", "Junge", "Jungen", "Jungen"), "Junge Jungen Jungen Jungen", "Jungen Jungen"),
        (GermanNoun("m", "Garten", "Gartens", "Gärten"), "Garten Garten Garten Gartens", "Gärten Gärten"),
        (GermanNoun("f", "Ärztin", "Ärztin", "Ärztinnen"), "Ärztin Ärztin Ärztin Ärztin", "Ärztinnen Ärztinnen"),
        (GermanNoun("n", "Mädchen", "Mädchens", "Mädchen"), "Mädchen Mädchen Mädchen Mädchens", "Mädchen Mädchen"),
        (GermanNoun("n", "Auto", "Autos", "Autos"), "Auto Auto Auto Autos", "Autos Autos"),
    ],
)  # fmt: skip
def test_nouns(noun: GermanNoun, forms: str, plurals: str) -> None:
    assert " ".join(noun.form(False, case) for case in CASES) == forms
    assert f"{noun.form(True, 'nom')} {noun.form(True, 'dat')}" == plurals


@pytest.mark.parametrize(
    ("verb", "present", "past"),
    [
        ("kaufen kauft kaufte gekauft", "kaufe kaufst kauft kaufen kaufen", "kaufte kauftest kaufte kauften kauften"),
        ("fahren fährt fuhr ist gefahren", "fahre fährst fährt fahren fahren", "fuhr fuhrst fuhr fuhren fuhren"),
        ("lesen liest las gelesen", "lese liest liest lesen lesen", None),
        ("sitzen sitzt saß gesessen", "sitze sitzt sitzt sitzen sitzen", None),
        ("warten wartet wartete gewartet", "warte wartest wartet warten warten", None),
        ("kümmern kümmert kümmerte gekümmert", "kümmere kümmerst kümmert kümmern kümmern", None),
        ("öffnen öffnet öffnete geöffnet", "öffne öffnest öffnet öffnen öffnen", "öffnete öffnetest öffnete öffneten öffneten"),
    ],
)  # fmt: skip
def test_verbs(verb: str, present: str, past: str | None) -> None:
    forms: GermanVerb = g(verb)
    persons = ("1s", "2s", "3s", "1p", "3p")
    assert " ".join(forms.finite(person, False) for person in persons) == present
    if past:
        assert " ".join(forms.finite(person, True) for person in persons) == past


def test_reading_a_verb() -> None:
    verb = g("an|kommen kommt kam ist angekommen", "dat, auf acc")
    assert (verb.prefix, verb.infinitive, verb.auxiliary) == ("an", "kommen", "sein")
    assert verb.frame == (("", "dat"), ("auf", "acc"))
    assert verb.prepositional
