"""The verb alone, in its English words and in both places of the German one."""

import pytest

from fastdecode.corpus.toy.phrases import Context, Name, Phrase, Pronoun
from fastdecode.corpus.toy.tenses import Tense
from fastdecode.corpus.toy.tree import Style, Token, Tree, Word
from fastdecode.corpus.toy.verb_forms import Sources, VerbGroup, be, english_verb, german_verb
from fastdecode.corpus.toy.verbs import BE, TRANSITIVE

CALL = next(verb for verb in TRANSITIVE if verb.base == "call")
(ANRUFEN,) = CALL.german
FORMAL, CASUAL = Context(Style.FORMAL), Context(Style.CASUAL)
SPOKEN = Context(Style.FORMAL, spoken=True)
ANNA, MYSELF, US = Name("Anna", "f"), Pronoun("1s"), Pronoun("1p")
HAS, CALLED = Token("has"), Token("called")


def words(trees: list[Tree]) -> list[str]:
    assert all(isinstance(tree, Word) for tree in trees)
    return [tree.text for tree in trees if isinstance(tree, Word)]


def group(tense: Tense, context: Context, passive: bool = False) -> VerbGroup:
    return german_verb(ANRUFEN, tense, "3s", context, Sources((HAS,), (CALLED,)), passive)


@pytest.mark.parametrize(
    ("subject", "present", "past"),
    [(MYSELF, "am", "was"), (US, "are", "were"), (ANNA, "is", "was")],
)
def test_be_goes_with_its_subject(subject: Phrase, present: str, past: str) -> None:
    assert (be(False, subject), be(True, subject)) == (present, past)


@pytest.mark.parametrize(
    ("tense", "plain", "helped"),
    [
        (Tense.PRESENT, ("", "calls"), ("does", "call")),
        (Tense.PAST, ("", "called"), ("did", "call")),
        (Tense.PROGRESSIVE, ("is", "calling"), ("is", "calling")),
        (Tense.PERFECT, ("has", "called"), ("has", "called")),
        (Tense.WANTS, ("wants to", "call"), ("does want to", "call")),
        (Tense.WANTED, ("wanted to", "call"), ("did want to", "call")),
        (Tense.HAD, ("had to", "call"), ("did have to", "call")),
        (Tense.COULD, ("was able to", "call"), ("was able to", "call")),
        (Tense.ORDER, ("", "call"), ("", "call")),
    ],
)
def test_do_helps_where_nothing_else_does(
    tense: Tense, plain: tuple[str, str], helped: tuple[str, str]
) -> None:
    assert english_verb(CALL, tense, ANNA, False, passive=False) == plain
    assert english_verb(CALL, tense, ANNA, True, passive=False) == helped


def test_be_needs_no_help_and_a_passive_is_past() -> None:
    assert english_verb(BE, Tense.PRESENT, MYSELF, True, passive=False) == ("am", "")
    assert english_verb(CALL, Tense.PAST, US, False, passive=True) == ("were", "called")


@pytest.mark.parametrize(
    ("tense", "context", "finite", "bracket", "cluster"),
    [
        (Tense.PRESENT, CASUAL, "ruft", ["an"], ["anruft"]),
        (Tense.PAST, FORMAL, "rief", ["an"], ["anrief"]),
        (Tense.PAST, CASUAL, "hat", ["angerufen"], ["angerufen", "hat"]),
        (Tense.PAST, SPOKEN, "hat", ["angerufen"], ["angerufen", "hat"]),
        (Tense.PLUPERFECT, FORMAL, "hatte", ["angerufen"], ["angerufen", "hatte"]),
        (Tense.MUST, FORMAL, "muss", ["anrufen"], ["anrufen", "muss"]),
    ],
)  # fmt: skip
def test_the_finite_verb_second_and_last(
    tense: Tense, context: Context, finite: str, bracket: list[str], cluster: list[str]
) -> None:
    verb = group(tense, context)
    assert verb.finite.text == finite
    assert (words(verb.bracket), words(verb.cluster)) == (bracket, cluster)
    assert verb.compound is (finite not in ("ruft", "rief"))


def test_a_passive_is_said_as_a_perfect_where_one_speaks() -> None:
    assert words(group(Tense.PAST, FORMAL, passive=True).cluster) == ["angerufen", "wurde"]
    assert words(group(Tense.PAST, CASUAL, passive=True).cluster) == ["angerufen", "worden", "ist"]


def test_every_german_word_knows_the_english_it_stands_for() -> None:
    perfect, simple = group(Tense.PERFECT, FORMAL), group(Tense.PRESENT, FORMAL)
    assert perfect.finite.sources == (HAS,)
    assert [word.sources for word in perfect.bracket if isinstance(word, Word)] == [(CALLED,)]
    assert simple.finite.sources == (HAS, CALLED)  # one word for both


def test_a_tense_that_only_one_style_has_tells_the_style() -> None:
    assert group(Tense.PAST, FORMAL).finite.style is Style.FORMAL
    assert group(Tense.PAST, CASUAL).finite.style is Style.CASUAL
    assert group(Tense.PERFECT, FORMAL).finite.style is None
