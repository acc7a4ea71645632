"""Drawing what a sentence mentions (people, things, places), and what its pronouns take up.

Rules that keep the meaning of a sentence single, so that its right translations are known:
he, she, they and their possessives mean whoever is mentioned first, and are used only while nobody
else they could mean has been mentioned; it means the only thing mentioned so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from fastdecode.corpus.toy.draw import Draw
from fastdecode.corpus.toy.expressions import AT_HOME, CITIES, DEGREES, HOME, NAMES, Expression
from fastdecode.corpus.toy.german import Case
from fastdecode.corpus.toy.nouns import ADJECTIVES, NOUNS, Adjective, Noun
from fastdecode.corpus.toy.phrases import (
    NUMBERS,
    POSSESSIVES,
    Adverbial,
    Context,
    Name,
    NounPhrase,
    Phrase,
    Preposition,
    Pronoun,
    Relative,
    Who,
    adverbial,
    tokens,
)
from fastdecode.corpus.toy.tree import Token, Tree, Word, either, then

T = TypeVar("T")

_SEXES: tuple[Literal["m"], Literal["f"]] = ("m", "f")
_TAGS = {
    tag: [noun for noun in NOUNS if tag in noun.tags]
    for tag in sorted({tag for noun in NOUNS for tag in noun.tags})
}
_PLACES = {
    "place": [noun for noun in NOUNS if noun.place and not noun.tags & {"firm", "shore"}],
    "near": [noun for noun in NOUNS if noun.place and not noun.place.far and noun.kind != "shore"],
    "far": [noun for noun in NOUNS if noun.place and noun.place.far],
    "town": [noun for noun in NOUNS if noun.kind == "town"],
    "firm": _TAGS["firm"],
    "shore": _TAGS["shore"],
    "surface": _TAGS["surface"],
}
_KINDS = sorted({noun.kind for noun in NOUNS})
_ADJECTIVES = {kind: [word for word in ADJECTIVES if kind in word.kinds] for kind in _KINDS}
_WORDS = Counter(noun.singular for noun in NOUNS)
_DESCRIBED = [  # without the words that mean one thing or another by their verb
    noun
    for noun in NOUNS
    if noun.kind not in ("", "person") and noun.plural and _WORDS[noun.singular] == 1
]
_STATES = ("tired", "ill", "hungry", "sad", "happy", "angry")  # what somebody is for a time
_BECOMES = ("rich", "famous", "ill", "tired", "angry", "sad")


def kind_of(phrase: Phrase) -> str:
    """Return the kind of noun a phrase has; whatever else is a subject is somebody."""
    return phrase.noun.kind if isinstance(phrase, NounPhrase) else "person"


def quality(adjective: Adjective, degree: Expression | None = None) -> Adverbial:
    """Return an adjective as a predicate, which does not inflect in German."""
    degrees = tokens(degree[0]) if degree else []
    word = Token(adjective.english)

    def build(context: Context) -> Tree:
        stem = either(
            (weight, Word(text, (word,), style))
            for weight, text, style in adjective.german
            if context.allows(style)
        )
        return then(Word(degree[1], tuple(degrees)), stem) if degree else stem

    return Adverbial([*degrees, word], build)


class Mentions:
    """Draws noun phrases, and remembers those of the sentence so far."""

    def __init__(self, draw: Draw, to_you: bool) -> None:
        """Start a sentence; `to_you`: it may address somebody."""
        self.draw = draw
        self.to_you = to_you
        self.topic: Phrase | None = None  # who is mentioned first
        self.rivals: set[Who] = set()  # pronouns that could mean somebody else than the topic
        self.things: list[NounPhrase] = []  # what it could mean
        self.taken_up: list[NounPhrase] = []  # what an it does mean
        self.references = 0  # how many words take something up
        self._used: set[str] = set()

    def fresh(self, options: Sequence[T], key: Callable[[T], str]) -> T:
        """Draw an option, early ones more often; one used before only for want of others."""
        unused = [option for option in options if key(option) not in self._used]
        drawn = self.draw.early(unused or options)
        self._used.add(key(drawn))
        return drawn

    def _noun(self, options: Sequence[Noun]) -> Noun:
        return self.fresh(options, lambda noun: noun.singular)

    def _adjectives(self, noun: Noun, share: float = 0.33) -> list[Adjective]:
        options = _ADJECTIVES[noun.kind]
        return [self.draw.early(options)] if options and self.draw.chance(share) else []

    # Taking up

    def mention(self, phrase: Phrase) -> Phrase:
        """Note that somebody is mentioned: the topic, or a rival for its pronouns."""
        if self.topic is None:
            self.topic = phrase
        else:
            self.rivals.update([phrase.who] if phrase.who else _SEXES)
        return phrase

    def take_up_topic(self) -> Who | None:
        """Return the pronoun that means the topic, None if none does without doubt.

        The pronoun must be used: it settles the sex of a teacher, a neighbour and the like.
        """
        topic = self.topic
        if isinstance(topic, NounPhrase) and topic.who is None and topic.noun.sex == "mf":
            free = [sex for sex in _SEXES if sex not in self.rivals]
            if free:
                topic.decide_sex(self.draw.pick(free))
        if topic is None or topic.who is None or topic.who in self.rivals:
            return None
        self.references += 1
        return topic.who

    def take_up_thing(self) -> NounPhrase | None:
        """Return what it means, None if nothing, or one of several things."""
        if len(self.things) != 1 or self.things[0].noun.kind == "animal":
            return None
        self.references += 1
        if self.things[0] not in self.taken_up:
            self.taken_up.append(self.things[0])
        return self.things[0]

    def _thing(self, phrase: NounPhrase) -> NounPhrase:
        """Note that a thing or an animal is mentioned."""
        if phrase.plural:
            self.rivals.add("3p")
        else:
            self.things.append(phrase)
        return phrase

    def _possessive(self) -> str:
        """Return the topic's possessive, or one that takes up nobody."""
        who = self.take_up_topic() if self.draw.chance(0.6) else None
        if who is not None:
            return POSSESSIVES[who]
        return self.draw.weighted([(50, "my"), (20, "our"), (60 if self.to_you else 0, "your")])

    def _owner(self) -> Phrase:
        """Return a possessor in the genitive."""
        owner: Phrase
        if self.draw.chance(0.5):
            owner = NounPhrase(self._noun(_TAGS["person"]), "the")
        else:
            owner = self._name()
        self.rivals.update([owner.who] if owner.who else _SEXES)
        return owner

    # People

    def _name(self) -> Name:
        return Name(*self.fresh(NAMES, lambda row: row[0]))

    def person(self) -> Phrase:
        """Draw somebody, not a pronoun."""
        kind = self.draw.weighted([(16, "name"), (24, "kin"), (60, "person")])
        if kind == "name":
            return self.mention(self._name())
        if kind == "kin":
            return self.mention(self._relation(adjectives=0.15))
        noun = self._noun(_TAGS["person"])
        plural = self.draw.chance(0.2)
        article = self.draw.weighted(
            [(60, "the"), (20, self.draw.pick(NUMBERS)), (10, "some"), (10, "many")]
            if plural
            else [(62, "the"), (26, "a"), (7, "this"), (5, "every")]
        )
        return self.mention(NounPhrase(noun, article, self._adjectives(noun), plural))

    def _relation(self, adjectives: float) -> NounPhrase:
        """Draw one of somebody's family or friends."""
        noun = self._noun(_TAGS["kin"])
        owner = self._owner() if self.draw.chance(0.2) else self._possessive()
        return NounPhrase(noun, owner, self._adjectives(noun, adjectives))

    def subject(self, tag: str) -> Phrase:
        """Draw a subject for a verb that wants this tag."""
        if tag != "person":
            noun = self._noun(_TAGS[tag])
            mine = "my" if noun.kind == "animal" else "this"
            article = self.draw.weighted([(70, "the"), (15, "a"), (15, mine)])
            return self._thing(NounPhrase(noun, article, self._adjectives(noun)))
        if self.topic is not None:
            who = self.take_up_topic() if self.draw.chance(0.5) else None
            return Pronoun(who) if who else self.person()
        if self.draw.chance(0.33):
            chances: list[tuple[int, Who]] = [(25, "1s"), (22, "m"), (22, "f"), (18, "1p")]
            chances += [(13, "3p"), (90 if self.to_you else 0, "2")]
            return self.mention(Pronoun(self.draw.weighted(chances)))
        return self.person()

    def described(self) -> Phrase:
        """Draw a thing to say something about."""
        noun = self._noun(_DESCRIBED)
        way = self.draw.weighted([(60, "the"), (25, "my"), (15, "this")])
        return self._thing(NounPhrase(noun, self._possessive() if way == "my" else way))

    # Objects

    def object(self, tag: str, doer: Phrase | None = None) -> Phrase:
        """Draw an object for a verb that wants this tag; `doer` is the subject of that verb."""
        if tag == "person":
            return self._somebody(doer)
        if tag == "kin":
            return self.mention(self._relation(adjectives=0.0))
        noun = self._noun(_TAGS[tag])
        plural = bool(noun.plural) and self.draw.chance(0.16)
        article: str | Phrase
        if plural:
            article = self.draw.weighted(
                [(35, "the"), (25, self.draw.pick(NUMBERS)), (10, "some"), (10, "many"), (20, "")]
            )
        elif noun.mass:
            article = self.draw.weighted([(50, ""), (50, "the")])
        elif tag == "spend":
            article = "the"
        else:
            article = self.draw.weighted(
                [(36, "a"), (34, "the"), (15, "my"), (7, "this"), (8, "'s")]
            )
            if article == "my":
                article = self._possessive()
            elif article == "'s":
                article = self._owner()
        return self._thing(NounPhrase(noun, article, self._adjectives(noun), plural))

    def _somebody(self, doer: Phrase | None) -> Phrase:
        """Draw somebody as an object: a pronoun at times, but never the doer's own."""
        if self.draw.chance(0.25) and doer is not None and not isinstance(doer, Relative):
            topic = self.topic
            if topic is not None and doer is not topic and doer.who != topic.who:
                who = self.take_up_topic()
                if who is not None:
                    return Pronoun(who, as_object=True)
            others: list[Who] = ["2"] if self.to_you else []
            others += ["1s"] if self.draw.chance(0.6) else ["1p"]
            mine = ("1s", "1p") if doer.who in ("1s", "1p") else (doer.who,)
            others = [who for who in others if who not in mine]
            if others:
                return Pronoun(self.draw.pick(others), as_object=True)
        return self.person()

    def present(self, tag: str) -> NounPhrase:
        """Draw something that is there."""
        noun = self._noun(_TAGS[tag])
        plural = self.draw.chance(0.2)
        article = self.draw.pick(NUMBERS) if plural else "a"
        return self._thing(NounPhrase(noun, article, self._adjectives(noun), plural))

    # Places and predicates

    def where(self, kinds: Sequence[str]) -> Adverbial:
        """Draw a place: being there (at-…) or going there (to-…)."""
        way, _, kind = self.draw.pick(kinds).partition("-")
        here = way == "at"
        if kind == "home":
            return adverbial(*(AT_HOME if here else HOME))
        if kind == "named":
            english, german = self.fresh(CITIES, lambda row: row[0])
            return adverbial(
                f"{'in' if here else 'to'} {english}", f"{'in' if here else 'nach'}/1 {german}/2"
            )
        noun = self._noun(_PLACES[kind])
        owned = kind in ("place", "near", "far") and self.draw.chance(0.1)
        adjectives = self._adjectives(noun, 0.15)
        phrase = self._thing(NounPhrase(noun, self._possessive() if owned else "the", adjectives))
        ways: Sequence[tuple[int, str, Case]]
        if noun.place is None:
            sources, ways = tokens("on"), [(100, "auf", "dat" if here else "acc")]
        else:
            sources = tokens(noun.place.at if here else "to")
            ways = [(100, noun.place.where, "dat")] if here else noun.place.whither

        def build(context: Context) -> Tree:
            return either(
                (weight, phrase.german(case, context, Preposition(german, tuple(sources))))
                for weight, german, case in ways
            )

        return Adverbial([*sources, *phrase.english], build)

    def state(self) -> Adverbial:
        """Draw what somebody can become."""
        return quality(self.draw.early([word for word in ADJECTIVES if word.english in _BECOMES]))

    def predicate(self, subject: Phrase, kind: str = "") -> Adverbial:
        """Draw what a subject is: an adjective with or without a degree, or a comparison.

        `kind` is the kind of noun that a pronoun stands for.
        """
        kind = kind or kind_of(subject)
        options = _ADJECTIVES[kind]
        if kind == "person" and (not isinstance(subject, NounPhrase) or self.draw.chance(0.7)):
            options = [adjective for adjective in options if adjective.english in _STATES]
        compared = [adjective for adjective in options if adjective.comparative]
        if compared and isinstance(subject, NounPhrase) and self.draw.chance(0.25):
            return self._comparison(self.draw.early(compared), kind)
        degree = self.draw.early(DEGREES) if self.draw.chance(0.4) else None
        return quality(self.draw.early(options), degree)

    def _comparison(self, adjective: Adjective, kind: str) -> Adverbial:
        other: Phrase
        if kind == "person":
            other = self.person()
        else:
            noun = self._noun([noun for noun in _DESCRIBED if noun.kind == kind])
            article = self._possessive() if self.draw.chance(0.5) else "this"
            other = self._thing(NounPhrase(noun, article))
        words, than = tokens(adjective.comparative), tokens("than")

        def build(context: Context) -> Tree:
            better = either(
                (weight, Word(text, tuple(words))) for weight, text in adjective.german_comparative
            )
            return then(better, Word("als", tuple(than)), other.german("nom", context))

        return Adverbial([*words, *than, *other.english], build)
