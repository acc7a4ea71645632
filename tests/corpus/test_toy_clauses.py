"""Clauses put together by hand, with every German translation written out."""
# ruff: noqa: E501  (tables of sentences)

import pytest

from fastdecode.corpus.toy.clauses import CLOSING, COMMA, Clause, Tail
from fastdecode.corpus.toy.mentions import quality
from fastdecode.corpus.toy.nouns import ADJECTIVES, NOUNS
from fastdecode.corpus.toy.phrases import (
    Context,
    Name,
    NounPhrase,
    Phrase,
    Pronoun,
    Relative,
    adverbial,
)
from fastdecode.corpus.toy.tenses import Tense
from fastdecode.corpus.toy.tree import Style, Tree, finish, nth, then
from fastdecode.corpus.toy.verbs import BE, CLAUSAL, INTRANSITIVE, MOTION, TRANSITIVE, Verb

FORMAL, CASUAL = Context(Style.FORMAL), Context(Style.CASUAL)
WEIL = adverbial("because", "weil/1")


def verb(base: str, *objects: str, particle: str = "") -> Verb:
    every = (*TRANSITIVE, *INTRANSITIVE, *MOTION, *CLAUSAL)
    return next(v for v in every if (v.base, v.objects, v.particle) == (base, objects, particle))


def noun(english: str, article: str | Phrase = "the", plural: bool = False) -> NounPhrase:
    return NounPhrase(next(n for n in NOUNS if n.singular == english), article, (), plural)


def be(subject: Phrase, word: str) -> Clause:
    adjective = next(a for a in ADJECTIVES if a.english == word)
    return Clause(subject, BE, Tense.PAST, predicate=quality(adjective))


def texts(tree: Tree) -> set[str]:
    return {" ".join(word.text for word in finish(nth(tree, i))) for i in range(tree.count)}


def english(clause: Clause) -> str:
    return " ".join(token.text for token in clause.english())


def open_door(tense: Tense, **more: object) -> Clause:
    return Clause(Name("Anna", "f"), verb("open", "open"), tense, [noun("door")], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tense", "source", "formal", "casual", "final"),
    [
        (Tense.PAST, "opened", "öffnete die Tür", "hat die Tür aufgemacht", "die Tür aufgemacht hat"),
        (Tense.PRESENT, "opens", "öffnet die Tür", "macht die Tür auf", "die Tür aufmacht"),
        (Tense.PERFECT, "has opened", "hat die Tür geöffnet", "hat die Tür aufgemacht", "die Tür aufgemacht hat"),
        (Tense.PLUPERFECT, "had opened", "hatte die Tür geöffnet", "hatte die Tür aufgemacht", "die Tür aufgemacht hatte"),
        (Tense.FUTURE, "will open", "wird die Tür öffnen", "wird die Tür aufmachen", "die Tür aufmachen wird"),
        (Tense.WANTED, "wanted to open", "wollte die Tür öffnen", "wollte die Tür aufmachen", "die Tür aufmachen wollte"),
    ],
)  # fmt: skip
def test_tenses_and_the_place_of_the_verb(
    tense: Tense, source: str, formal: str, casual: str, final: str
) -> None:
    clause = open_door(tense)
    assert english(clause) == f"Anna {source} the door"
    assert texts(clause.main(FORMAL)) == {f"Anna {formal}"}
    assert texts(clause.main(CASUAL)) == {f"Anna {casual}"}
    assert texts(clause.final(CASUAL, WEIL.german(CASUAL))) == {f"Weil Anna {final}"}


def test_an_infinitive_with_zu() -> None:
    clause = open_door(Tense.INFINITIVE)
    assert english(clause) == "to open the door"
    assert texts(then(clause.infinitive(FORMAL), COMMA)) == {", die Tür zu öffnen ,"}
    assert texts(then(clause.infinitive(CASUAL), COMMA)) == {", die Tür aufzumachen ,"}


def test_an_order() -> None:
    clause = Clause(Pronoun("2"), verb("open", "open"), Tense.ORDER, [noun("door", "your")])
    assert english(clause) == "open your door"
    assert texts(clause.order(FORMAL, [])) == {"Öffnen Sie Ihre Tür"}
    assert texts(clause.order(CASUAL, [])) == {"Mach deine Tür auf"}


def test_negation() -> None:
    clause = open_door(Tense.PAST)
    clause.negate()
    assert english(clause) == "Anna did not open the door"
    assert texts(clause.main(FORMAL)) == {"Anna öffnete die Tür nicht"}
    without = Clause(Pronoun("m"), verb("buy", "goods"), Tense.PAST, [noun("book", "a")])
    without.negate()
    assert english(without) == "he did not buy a book"
    assert texts(without.main(FORMAL)) == {"Er kaufte kein Buch"}


def test_a_passive() -> None:
    clause = Clause(noun("door"), verb("open", "open"), Tense.PAST, passive=True)
    clause.agent = noun("man")
    assert english(clause) == "the door was opened by the man"
    assert texts(clause.main(FORMAL)) == {"Die Tür wurde vom Mann geöffnet"}
    assert texts(clause.final(CASUAL)) == {"Die Tür vom Mann aufgemacht worden ist"}


def test_the_time_moves_and_the_subject_with_it() -> None:
    clause = open_door(Tense.PAST, time=adverbial("yesterday", "gestern/1"))
    assert english(clause) == "Anna opened the door yesterday"
    assert texts(clause.main(FORMAL)) == {
        "Anna öffnete gestern die Tür",
        "Anna öffnete die Tür gestern",
        "Gestern öffnete Anna die Tür",
    }


def test_light_pronouns_stand_in_front() -> None:
    time = adverbial("yesterday", "gestern/1")
    clause = Clause(
        noun("man"), verb("see", "person"), Tense.PAST, [Pronoun("1s", True)], time=time
    )
    assert english(clause) == "the man saw me yesterday"
    assert texts(clause.main(FORMAL)) == {
        "Der Mann sah mich gestern",
        "Gestern sah mich der Mann",
        "Gestern sah der Mann mich",
    }


def test_an_auxiliary_that_two_verbs_share() -> None:
    clause = open_door(Tense.PAST)
    clause.second = Clause(clause.subject, verb("help", "person"), Tense.PAST, [noun("man")])
    assert english(clause) == "Anna opened the door and helped the man"
    assert texts(clause.main(FORMAL)) == {"Anna öffnete die Tür und half dem Mann"}
    assert texts(clause.final(CASUAL)) == {
        "Anna die Tür aufgemacht und dem Mann geholfen hat",
        "Anna die Tür aufgemacht hat und dem Mann geholfen hat",
    }


def test_the_chosen_noun_governs_article_relative_and_pronoun() -> None:
    """The relative clause may stand behind the verb; the pronoun still means the same noun."""
    car = noun("car", "a")
    relative = be(Relative(car), "old")
    car.english += relative.english()
    car.relative = lambda context: then(COMMA, relative.final(context), CLOSING)
    cheap = be(Pronoun("n", antecedent=car), "red")
    clause = Clause(Pronoun("f"), verb("buy", "goods"), Tense.PAST, [car])
    clause.tails.append(
        Tail(
            [*WEIL.english, *cheap.english()],
            lambda context: then(COMMA, cheap.final(context, WEIL.german(context)), CLOSING),
        )
    )
    assert english(clause) == "she bought a car that was old because it was red"
    tree = CASUAL.bind(car, clause.main)
    assert tree.count == 4
    assert texts(then(tree, COMMA)) == {
        "Sie hat ein Auto gekauft , das alt war , weil es rot war ,",
        "Sie hat ein Auto , das alt war , gekauft , weil es rot war ,",
        "Sie hat einen Wagen gekauft , der alt war , weil er rot war ,",
        "Sie hat einen Wagen , der alt war , gekauft , weil er rot war ,",
    }


def test_possessors() -> None:
    named, other = noun("book", Name("Anna", "f")), noun("book", noun("man"))
    assert [token.text for token in named.english] == ["Anna", "'s", "book"]
    assert texts(named.german("acc", FORMAL)) == {"Annas Buch"}
    assert texts(named.german("acc", CASUAL)) == {"Das Buch von Anna"}
    assert texts(other.german("dat", FORMAL)) == {"Dem Buch des Mannes"}
    assert texts(other.german("dat", CASUAL)) == {"Dem Buch vom Mann"}


def test_sex_is_open_until_a_pronoun_tells() -> None:
    teacher = noun("teacher", "a")
    assert texts(teacher.german("nom", FORMAL)) == {"Ein Lehrer", "Eine Lehrerin"}
    teacher.decide_sex("f")
    assert texts(teacher.german("dat", FORMAL)) == {"Einer Lehrerin"}
    assert texts(noun("teacher", "two", plural=True).german("dat", FORMAL)) == {"Zwei Lehrern"}
