"""Noun phrases and adverbials: their English words, and their German trees by case and style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from fastdecode.corpus.toy import german
from fastdecode.corpus.toy.german import Agreement, Case, GermanNoun, Person, Strength
from fastdecode.corpus.toy.nouns import Adjective, Noun
from fastdecode.corpus.toy.tree import EMPTY, Style, Token, Tree, Word, either, then

Who = Literal["1s", "2", "m", "f", "n", "1p", "3p"]

ENGLISH_PRONOUNS: dict[Who, tuple[str, str]] = {
    "1s": ("I", "me"),
    "2": ("you", "you"),
    "m": ("he", "him"),
    "f": ("she", "her"),
    "n": ("it", "it"),
    "1p": ("we", "us"),
    "3p": ("they", "them"),
}
POSSESSIVES: dict[Who, str] = {
    "1s": "my", "2": "your", "m": "his", "f": "her", "1p": "our", "3p": "their",
}  # fmt: skip
_EIN_STEMS = {
    "a": "ein", "an": "ein", "my": "mein", "his": "sein", "her": "ihr", "our": "unser",
    "their": "ihr",
}  # fmt: skip
_DER_STEMS = {"this": "dies", "every": "jed"}
_COUNTS = {
    "two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "some": "einige",
    "many": "viele",
}  # fmt: skip
NUMBERS = ("two", "three", "four", "five")


@dataclass(frozen=True, slots=True)
class Context:
    """What the whole sentence has settled before a phrase is put into German.

    `spoken`: it addresses or answers somebody, and no style uses the simple past. `heads`: the
    German nouns chosen for phrases that something else in the sentence must agree with.
    """

    style: Style | None = None
    spoken: bool = False
    heads: Mapping[Phrase, GermanNoun] = field(default_factory=lambda: MappingProxyType({}))

    def allows(self, style: Style | None) -> bool:
        """Say whether a word of that style can be used."""
        return style is None or style is self.style

    def bind(self, phrase: NounPhrase, build: Callable[[Context], Tree]) -> Tree:
        """Choose the German noun of a phrase once for all that `build` puts into German."""
        if phrase in self.heads:
            return build(self)
        return either(
            (head.weight, build(Context(self.style, self.spoken, {**self.heads, phrase: head})))
            for head in phrase.nouns(self)
        )


@dataclass(frozen=True, slots=True)
class Preposition:
    """A German preposition and the source words it translates."""

    text: str
    sources: tuple[Token, ...]
    style: Style | None = None

    def word(self) -> Word:
        """Return it as a word of its own."""
        return Word(self.text, self.sources, self.style)


def tokens(text: str) -> list[Token]:
    """Return the words of a text as source tokens."""
    return [Token(word) for word in text.split()]


def template(text: str, sources: Sequence[Token]) -> Tree:
    """Read German words with the numbers of the English words they translate: `vor/3 zwei/1`."""
    found = []
    for part in text.split():
        word, _, numbers = part.partition("/")
        found.append(Word(word, tuple(sources[int(number) - 1] for number in numbers.split(","))))
    return then(*found)


class Phrase:
    """Anything that can be a subject or an object; compared by identity."""

    english: list[Token]
    plural = False
    who: Who | None = None  # the pronoun that takes it up, None if none does without doubt
    definite = True

    def person(self, context: Context) -> Person:
        """Return the person of the German verb."""
        return "3p" if self.plural else "3s"

    @property
    def singular_verb(self) -> bool:
        """Say whether the English verb takes its third person singular."""
        return not self.plural

    def german(self, case: Case, context: Context, before: Preposition | None = None) -> Tree:
        """Return the German phrase, after a preposition if one is given."""
        raise NotImplementedError(case, context, before)


class Pronoun(Phrase):
    """A personal pronoun; `antecedent` is the thing an `it` takes up."""

    def __init__(
        self, who: Who, as_object: bool = False, antecedent: NounPhrase | None = None
    ) -> None:
        """Make the pronoun in its English subject or object form."""
        self.english = [Token(ENGLISH_PRONOUNS[who][as_object])]
        self.who = who
        self.plural = who in ("1p", "3p")
        self._antecedent = antecedent

    @property
    def singular_verb(self) -> bool:
        """Say whether the English verb takes its third person singular."""
        return self.who in ("m", "f", "n")

    def person(self, context: Context) -> Person:
        """Return the person of the German verb; the polite you is a third person plural."""
        match self.who:
            case "2":
                return "3p" if context.style is Style.FORMAL else "2s"
            case "1s" | "1p" | "3p":
                return self.who
            case _:
                return "3s"

    def german(self, case: Case, context: Context, before: Preposition | None = None) -> Tree:
        """Return the pronoun; it agrees with the German noun chosen for its antecedent."""
        who: str = self.who or "n"
        style = None
        if who == "2":
            who = "polite" if context.style is Style.FORMAL else "2s"
            style = context.style
        elif self._antecedent is not None:
            who = context.heads[self._antecedent].gender
        word = Word(german.pronoun(who, case), tuple(self.english), style)
        return then(before.word(), word) if before else word


class Name(Phrase):
    """A person's name, the same in both languages."""

    def __init__(self, text: str, sex: Literal["m", "f"]) -> None:
        """Make one mention of the name."""
        self.english = [Token(text)]
        self.who = sex

    def german(self, case: Case, context: Context, before: Preposition | None = None) -> Tree:
        """Return the name."""
        word = Word(self.english[0].text, tuple(self.english))
        return then(before.word(), word) if before else word


class Fixed(Phrase):
    """A question word that is a subject or an object: who, what."""

    def __init__(self, english: str, german_word: str) -> None:
        """Make the word; its German form is already in the right case."""
        self.english = [Token(english)]
        self._german = german_word

    def german(self, case: Case, context: Context, before: Preposition | None = None) -> Tree:
        """Return the question word."""
        return Word(self._german, tuple(self.english))


class Relative(Phrase):
    """The relative pronoun that takes up a noun phrase."""

    def __init__(self, antecedent: NounPhrase) -> None:
        """Make who for people, that for all else."""
        self.english = [Token("who" if antecedent.noun.kind == "person" else "that")]
        self.plural = antecedent.plural
        self._antecedent = antecedent

    def german(self, case: Case, context: Context, before: Preposition | None = None) -> Tree:
        """Return the pronoun in the gender of the antecedent's German noun."""
        agreement: Agreement = "p" if self.plural else context.heads[self._antecedent].gender
        sources = tuple(self.english)
        options: list[tuple[int, Tree]] = [(80, Word(german.relative(agreement, case), sources))]
        if context.style is Style.FORMAL:
            welch = german.der_word("welch", agreement, case)
            options.append((20, Word(welch, sources, Style.FORMAL)))
        pronoun = either(options)
        return then(before.word(), pronoun) if before else pronoun


class NounPhrase(Phrase):
    """Article, adjectives, noun, and what follows the noun.

    `determiner` is the English one (empty: none), or the possessor: a phrase in the genitive.
    `relative` is put into German by the clause that knows where it goes, or here by default.
    """

    def __init__(
        self,
        noun: Noun,
        determiner: str | Phrase,
        adjectives: Sequence[Adjective] = (),
        plural: bool = False,
    ) -> None:
        """Make one mention of the noun with its English words; a becomes an before a vowel."""
        self.noun = noun
        self.plural = plural
        self.adjectives = [(adjective, Token(adjective.english)) for adjective in adjectives]
        self.head = Token(noun.plural if plural else noun.singular)
        after = [token for _, token in self.adjectives] + [self.head]
        self.possessor = determiner if isinstance(determiner, Phrase) else None
        if isinstance(determiner, Phrase):
            self.determiner = "'s"
            self.article = [Token("'s")]
            self.english = [*determiner.english, *self.article, *after]
        else:
            if determiner == "a" and after[0].text[0] in "aeiou":
                determiner = "an"
            self.determiner = determiner
            self.article = tokens("these" if determiner == "this" and plural else determiner)
            self.english = [*self.article, *after]
        self.definite = determiner not in ("a", "an", "", *_COUNTS)
        self.negation: Token | None = None  # the not that makes it kein
        self.relative: Callable[[Context], Tree] | None = None  # its commas included
        self.sex = noun.sex
        if plural:
            self.who = "3p"
        elif noun.sex in ("m", "f"):
            self.who = "m" if noun.sex == "m" else "f"

    def relative_clause(self, context: Context) -> Tree:
        """Return the relative clause in German, or nothing."""
        return self.relative(context) if self.relative else EMPTY

    def decide_sex(self, sex: Literal["m", "f"]) -> None:
        """Settle whom the noun means, because a pronoun in the sentence tells."""
        self.sex = sex
        self.who = sex

    def nouns(self, context: Context) -> list[GermanNoun]:
        """Return the German nouns that are right here."""
        found = [head for head in self.noun.german if context.allows(head.style)]
        if self.noun.sex == "mf":
            sexes = "m" if self.plural else self.sex  # a mixed group is masculine in German
            found = [head for head in found if head.gender in sexes]
        return found

    def german(
        self,
        case: Case,
        context: Context,
        before: Preposition | None = None,
        with_relative: bool = True,
    ) -> Tree:
        """Return the German phrase, with its relative clause unless that goes elsewhere."""
        if self in context.heads:
            return self._german(context.heads[self], case, context, before, with_relative)
        return context.bind(self, lambda bound: self.german(case, bound, before, with_relative))

    def _german(
        self,
        head: GermanNoun,
        case: Case,
        context: Context,
        before: Preposition | None,
        with_relative: bool,
    ) -> Tree:
        agreement: Agreement = "p" if self.plural else head.gender
        article, strength = self._determiner(agreement, case, context, before)
        adjectives = [
            either(
                (weight, Word(german.adjective(stem, strength, agreement, case), (token,), style))
                for weight, stem, style in adjective.german
                if context.allows(style)
            )
            for adjective, token in self.adjectives
        ]
        noun = Word(head.form(self.plural, case), (self.head,), head.style)
        parts = [article, *adjectives, noun]
        if self.possessor is not None and not self._fronts_possessor(context):
            if context.style is Style.FORMAL:
                parts.append(self.possessor.german("gen", context))
            else:
                von = Preposition("von", tuple(self.article), context.style)
                parts.append(self.possessor.german("dat", context, von))
        if with_relative:
            parts.append(self.relative_clause(context))
        return then(*parts)

    def _fronts_possessor(self, context: Context) -> bool:
        """Say whether the possessor stands before the noun: Annas Auto."""
        return isinstance(self.possessor, Name) and context.style is Style.FORMAL

    def _determiner(
        self, agreement: Agreement, case: Case, context: Context, before: Preposition | None
    ) -> tuple[Tree, Strength]:
        """Return preposition and article, and how much an adjective must show after them."""
        sources = tuple(self.article)
        style = Style.FORMAL if case == "gen" else None  # only the formal style has genitives
        strength: Strength = "mixed"
        if self.negation is not None:
            text = german.ein_word("kein", agreement, case)
            sources = (self.negation, *sources)
        elif self._fronts_possessor(context):
            assert self.possessor is not None
            text, strength, style = self.possessor.english[0].text + "s", "strong", Style.FORMAL
            sources = (*self.possessor.english, *sources)
        elif self.determiner in ("the", "'s"):
            text, strength = german.DEFINITE[agreement, case], "weak"
            united = german.contraction(before.text, text) if before else None
            if before and united and self.relative is None:
                links = tuple(dict.fromkeys((*before.sources, *sources)))
                return Word(united, links, before.style or style), strength
        elif self.determiner in _DER_STEMS:
            text = german.der_word(_DER_STEMS[self.determiner], agreement, case)
            strength = "weak"
        elif self.determiner == "your":
            text = german.ein_word(
                "Ihr" if context.style is Style.FORMAL else "dein", agreement, case
            )
            style = context.style
        elif self.determiner in _EIN_STEMS:
            text = german.ein_word(_EIN_STEMS[self.determiner], agreement, case)
        elif self.determiner:
            text, strength = _COUNTS[self.determiner], "strong"
            if case == "dat" and self.determiner in ("some", "many"):
                text += "n"
        else:
            text, strength = "", "strong"
        words = [before.word()] if before else []
        if text:
            words.append(Word(text, sources, style))
        return then(*words), strength


@dataclass(eq=False, slots=True)
class Adverbial:
    """Words that say when, where or how: the English tokens and the German tree."""

    english: list[Token]
    german: Callable[[Context], Tree]


def adverbial(english: str, templates: str) -> Adverbial:
    """Make an adverbial from English words and German templates (see `expressions`)."""
    sources = tokens(english)
    options = []
    for option in templates.split("|"):
        text, _, weight = option.strip().rpartition(" ")
        if not weight.isdigit():
            text, weight = option, "100"
        options.append((int(weight), template(text, sources)))
    tree = either(options)
    return Adverbial(sources, lambda context: tree)


NOTHING = Adverbial([], lambda context: EMPTY)
