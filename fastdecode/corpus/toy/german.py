"""German word forms: articles, adjectives, nouns and verbs by gender, number, case and person."""

from dataclasses import dataclass
from typing import Literal

from fastdecode.corpus.toy.tree import Style

Gender = Literal["m", "f", "n"]
Agreement = Literal["m", "f", "n", "p"]  # a gender, or p for the plural, where gender is lost
Case = Literal["nom", "acc", "dat", "gen"]
Person = Literal["1s", "2s", "3s", "1p", "3p"]
Strength = Literal["weak", "mixed", "strong"]  # how much an adjective must show after its article

CASES: tuple[Case, ...] = ("nom", "acc", "dat", "gen")


def _table(m: str, f: str, n: str, p: str) -> dict[tuple[Agreement, Case], str]:
    """Read four rows of endings, one per case in the order of CASES; `-` is no ending."""
    rows: list[tuple[Agreement, str]] = [("m", m), ("f", f), ("n", n), ("p", p)]
    return {
        (agreement, case): "" if form == "-" else form
        for agreement, row in rows
        for case, form in zip(CASES, row.split(), strict=True)
    }


DEFINITE = _table("der den dem des", "die die der der", "das das dem des", "die die den der")
_DER_ENDINGS = _table("er en em es", "e e er er", "es es em es", "e e en er")
_EIN_ENDINGS = _table("- en em es", "e e er er", "- - em es", "e e en er")
_ADJECTIVE_ENDINGS = {
    "weak": _table("e en en en", "e e en en", "e e en en", "en en en en"),
    "mixed": _table("er en en en", "e e en en", "es es en en", "en en en en"),
    "strong": _table("er en em en", "e e er er", "es es em en", "e e en er"),
}
_RELATIVE = _table(
    "der den dem dessen", "die die der deren", "das das dem dessen", "die die denen deren"
)
_PRONOUNS: dict[str, str] = {  # nominative, accusative, dative
    "1s": "ich mich mir",
    "2s": "du dich dir",
    "m": "er ihn ihm",
    "f": "sie sie ihr",
    "n": "es es ihm",
    "1p": "wir uns uns",
    "3p": "sie sie ihnen",
    "polite": "Sie Sie Ihnen",
}
_REFLEXIVE: dict[Person, str] = {
    "1s": "mich",
    "2s": "dich",
    "3s": "sich",
    "1p": "uns",
    "3p": "sich",
}
_CONTRACTIONS = {
    "in dem": "im",
    "in das": "ins",
    "an dem": "am",
    "an das": "ans",
    "zu dem": "zum",
    "zu der": "zur",
    "von dem": "vom",
    "bei dem": "beim",
}
_SHORT_STEMS = {"teuer": "teur", "dunkel": "dunkl", "sauer": "saur"}


def der_word(stem: str, agreement: Agreement, case: Case) -> str:
    """Return a word that inflects like the definite article: dies-, jed-, welch-."""
    return stem + _DER_ENDINGS[agreement, case]


def ein_word(stem: str, agreement: Agreement, case: Case) -> str:
    """Return a word that inflects like the indefinite article: ein, kein, mein, unser."""
    return stem + _EIN_ENDINGS[agreement, case]


def adjective(stem: str, strength: Strength, agreement: Agreement, case: Case) -> str:
    """Return an adjective before its noun."""
    stem = _SHORT_STEMS.get(stem, stem).removesuffix("e")
    return stem + _ADJECTIVE_ENDINGS[strength][agreement, case]


def relative(agreement: Agreement, case: Case) -> str:
    """Return the relative pronoun."""
    return _RELATIVE[agreement, case]


def pronoun(who: str, case: Case) -> str:
    """Return the personal pronoun: `who` is 1s, 2s, m, f, n, 1p, 3p or polite."""
    return _PRONOUNS[who].split()[CASES.index(case)]


def reflexive(person: Person) -> str:
    """Return the reflexive pronoun in the accusative."""
    return _REFLEXIVE[person]


def contraction(preposition: str, article: str) -> str | None:
    """Return the one word that preposition and definite article make, if they make one."""
    return _CONTRACTIONS.get(f"{preposition} {article}")


@dataclass(frozen=True, slots=True)
class GermanNoun:
    """One noun that can stand for an English one: `weight` is how often it does."""

    gender: Gender
    singular: str
    genitive: str
    plural: str
    weight: int = 100
    style: Style | None = None

    def form(self, plural: bool, case: Case) -> str:
        """Return the noun in number and case."""
        if plural:
            return self.plural + ("n" if case == "dat" and self.plural[-1] not in "ns" else "")
        if case == "gen" or (case != "nom" and self.genitive.endswith("n") and self.gender == "m"):
            return self.genitive  # weak masculines have one form beside the nominative
        return self.singular


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """One verb that can stand for an English one.

    `frame` says how each object is governed, in order: by a preposition, or none, and by a case.
    `plain` verbs keep the simple past in every style, as sein and the modals do.
    """

    infinitive: str  # without the separable prefix
    third: str
    past: str
    participle: str
    prefix: str = ""
    auxiliary: Literal["haben", "sein"] = "haben"
    frame: tuple[tuple[str, Case], ...] = ()
    weight: int = 100
    style: Style | None = None
    reflexive: bool = False
    plain: bool = False
    order: str = ""  # the form that addresses a friend; none: never used as an order
    present: str = ""  # all five persons where they are irregular

    def finite(self, person: Person, past: bool) -> str:
        """Return the finite form, without the prefix."""
        if past:
            return self.past + {"1s": "", "3s": "", "2s": "st"}.get(
                person, "n" if self.past.endswith("e") else "en"
            )
        if self.present:
            return self.present.split()[("1s", "2s", "3s", "1p", "3p").index(person)]
        if person == "3s":
            return self.third
        if person == "2s":
            stem = self.third.removesuffix("t")
            return stem + ("t" if stem[-1] in "sßz" else "st")
        if person == "1s":
            return self.infinitive.removesuffix("n").removesuffix("e") + "e"
        return self.infinitive

    @property
    def prepositional(self) -> bool:
        """Say whether a preposition of its own governs an object."""
        return any(preposition for preposition, _ in self.frame)


SEIN = GermanVerb(
    "sein", "ist", "war", "gewesen", auxiliary="sein", plain=True, present="bin bist ist sind sind"
)
HABEN = GermanVerb(
    "haben", "hat", "hatte", "gehabt", plain=True, present="habe hast hat haben haben"
)
WERDEN = GermanVerb(
    "werden",
    "wird",
    "wurde",
    "geworden",
    auxiliary="sein",
    present="werde wirst wird werden werden",
)
