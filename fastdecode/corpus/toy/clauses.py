"""Clauses: one meaning in the English order and in every German order it can take.

German main clauses put the finite verb second and the rest of the verb last, subordinate clauses
put all of the verb last. What follows the last verb (that-clauses, because-clauses, relative
clauses that move out of the way) is a `Tail`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fastdecode.corpus.toy import german
from fastdecode.corpus.toy.german import GermanVerb
from fastdecode.corpus.toy.phrases import (
    Adverbial,
    Context,
    NounPhrase,
    Phrase,
    Preposition,
    Pronoun,
    Relative,
    tokens,
)
from fastdecode.corpus.toy.tenses import Tense
from fastdecode.corpus.toy.tree import EMPTY, Style, Token, Tree, Word, either, then
from fastdecode.corpus.toy.verb_forms import Sources, VerbGroup, be, english_verb, german_verb
from fastdecode.corpus.toy.verbs import Verb

COMMA = Word(",")
CLOSING = Word(",", closing=True)


@dataclass(eq=False, slots=True)
class Tail:
    """A clause after the clause it belongs to.

    `german` brings its commas along; `first`, if there is one, is the same clause before the main
    clause, its commas left to the caller.
    """

    english: list[Token]
    german: Callable[[Context], Tree]
    first: Callable[[Context], Tree] | None = None


@dataclass(eq=False)
class Clause:
    """A subject, a verb and all that goes with them.

    `objects` stand in English order, as the frames of the German verbs do. `time_first` and
    `time_inside` say where the English has its time: first, beside the verb, or else last.
    `gap`: the last object has been moved out of the clause (a relative pronoun or a question word).
    """

    subject: Phrase
    verb: Verb
    tense: Tense
    objects: Sequence[Phrase] = ()
    predicate: Adverbial | None = None
    means: Adverbial | None = None
    where: Adverbial | None = None
    time: Adverbial | None = None
    time_first: bool = False
    time_inside: bool = False
    agent: Phrase | None = None
    passive: bool = False
    negated: bool = False
    inverted: bool = False
    gap: bool = False
    where_optional: bool = False
    ahead: Tail | None = None  # the clause that stands before it in English
    ahead_movable: bool = True
    second: Clause | None = None  # and …, with the same subject
    tails: list[Tail] = field(default_factory=list)

    # English. The words are fixed when they are first asked for: whatever changes the clause
    # (negation, a question, a second verb) has to come before.

    @cached_property
    def _verb_words(self) -> tuple[list[Token], list[Token]]:
        auxiliaries, main = self._english_verb()
        return tokens(auxiliaries), tokens(main)

    @property
    def auxiliaries(self) -> list[Token]:
        """The English words before the main verb, to included."""
        return self._verb_words[0]

    @property
    def main_verb(self) -> list[Token]:
        """The English main verb; nothing where an auxiliary is all there is."""
        return self._verb_words[1]

    @cached_property
    def particle(self) -> list[Token]:
        """The English preposition before the last object, or the particle of the verb."""
        return tokens(self.verb.particle)

    @cached_property
    def by(self) -> list[Token]:
        """The word before the agent of a passive."""
        return tokens("by")

    @cached_property
    def and_(self) -> list[Token]:
        """The word before the second verb."""
        return tokens("and")

    @cached_property
    def comma(self) -> list[Token]:
        """The comma behind the clause that stands ahead, if there is one."""
        return tokens(",") if self.ahead else []

    @cached_property
    def not_(self) -> list[Token]:
        """The negation, if there is one."""
        return tokens("not") if self.negated else []

    def negate(self) -> None:
        """Deny the clause; an object without a definite article turns that into kein."""
        self.negated = True
        phrase = self.objects[-1] if self.objects else None
        if isinstance(phrase, NounPhrase) and not phrase.definite:
            preposition, _ = self.verb.german[0].frame[-1]
            phrase.negation = None if preposition else self.not_[0]

    def _english_verb(self) -> tuple[str, str]:
        """Return the auxiliaries and the main verb."""
        helped = self.negated or self.inverted
        return english_verb(self.verb, self.tense, self.subject, helped, self.passive)

    def english(self) -> list[Token]:
        """Return the English words, tails included."""
        words: list[Token] = [*self.ahead.english, *self.comma] if self.ahead else []
        if self.time and self.time_first:
            words += self.time.english
        subject = [] if self.tense in (Tense.INFINITIVE, Tense.ORDER) else self.subject.english
        words += [*self.auxiliaries[:1], *subject] if self.inverted else subject
        words += self.predicate_english(self.inverted)
        for tail in self.tails:
            words += tail.english
        return words

    def predicate_english(self, inverted: bool = False) -> list[Token]:
        """Return what follows the subject, without the tails."""
        words = [] if inverted else self.auxiliaries[:1]
        words = words + self.not_
        if self.time and self.time_inside:
            words += self.time.english
        words += [*self.auxiliaries[1:], *self.main_verb]
        if self.particle and not self.objects:
            words += self.particle
        for number, phrase in enumerate(self.objects):
            if number == len(self.objects) - 1:
                words += self.particle
            if not (self.gap and number == len(self.objects) - 1):
                words += phrase.english
        for part in (self.predicate, self.where, self.means):
            words += part.english if part else []
        words += [*self.by, *self.agent.english] if self.agent else []
        if self.time and not self.time_first and not self.time_inside:
            words += self.time.english
        if self.second:
            words += [*self.and_, *self.second.predicate_english()]
        return words

    # German

    @property
    def _noun_objects(self) -> list[NounPhrase]:
        return [phrase for phrase in self.objects if isinstance(phrase, NounPhrase)]

    @property
    def heavy(self) -> NounPhrase | None:
        """The object with a relative clause, if there is one."""
        return next((phrase for phrase in self._noun_objects if phrase.relative), None)

    def _options(self, context: Context) -> list[GermanVerb]:
        return [verb for verb in self.verb.german if context.allows(verb.style)]

    def _lexical(self, verb: GermanVerb) -> tuple[Token, ...]:
        """Return the source words of the verb: the particle too if no preposition stands for it."""
        return (*self.main_verb, *(() if verb.prepositional else self.particle))

    def _group(self, verb: GermanVerb, context: Context) -> VerbGroup:
        """Return the German verb in the tense of the clause."""
        to = tuple(token for token in self.auxiliaries if token.text == "to")
        helpers = tuple(token for token in self.auxiliaries if token not in to)
        sources = Sources(helpers, (*to, *self._lexical(verb)))
        person = self.subject.person(context)
        return german_verb(verb, self.tense, person, context, sources, self.passive)

    def _object(self, number: int, verb: GermanVerb, context: Context, moved: bool = False) -> Tree:
        """Return an object as the German verb governs it; `moved`: without its relative clause."""
        phrase = self.objects[number]
        text, case = verb.frame[number]
        links = tuple(self.particle or self.main_verb)
        preposition = Preposition(text, links) if text else None
        if moved and isinstance(phrase, NounPhrase):
            return phrase.german(case, context, preposition, with_relative=False)
        return phrase.german(case, context, preposition)

    def _objects(self, verb: GermanVerb) -> dict[str, list[int]]:
        """Sort the objects that are in the clause by where German puts them."""
        found: dict[str, list[int]] = {"pronoun": [], "noun": [], "prepositional": []}
        for number in range(len(self.objects) - self.gap):
            if verb.frame[number][0]:
                found["prepositional"].append(number)
            elif isinstance(self.objects[number], Pronoun):
                found["pronoun"].append(number)
            else:
                found["noun"].append(number)
        return found

    def _middle(
        self,
        verb: GermanVerb,
        context: Context,
        time: bool = True,
        where: bool = True,
        moved: bool = False,
    ) -> Tree:
        """Return what stands between the finite verb or the subject and the last verb.

        `time` and `where`: whether they stand here; `moved`: the relative clause of an object
        does not.
        """
        objects = self._objects(verb)
        nouns = [self._object(number, verb, context, moved) for number in objects["noun"]]
        places = [self.where.german(context)] if self.where and where else []
        when = self.time.german(context) if self.time and time else EMPTY
        early = then(when, *nouns)
        if when is not EMPTY and len(nouns) == 1:
            phrase = self.objects[objects["noun"][0]]
            if phrase.definite and phrase is not self.heavy:
                early = either([(65, early), (35, then(*nouns, when))])
        if self._says_just_now:
            gerade = Word("gerade", tuple(self.auxiliaries[:1]))
            early = then(either([(60, EMPTY), (40, gerade)]), early)
        parts = [early]
        if self.where_optional:
            parts += places
        if self.agent:
            von = Preposition("von", tuple(self.by))
            parts.append(self.agent.german("dat", context, von))
        if self.negated and not any(phrase.negation for phrase in self._noun_objects):
            parts.append(Word("nicht", tuple(self.not_)))
        if self.means:
            parts.append(self.means.german(context))
        parts += [self._object(number, verb, context, moved) for number in objects["prepositional"]]
        if not self.where_optional:
            parts += places
        if self.predicate:
            parts.append(self.predicate.german(context))
        return then(*parts)

    @property
    def _says_just_now(self) -> bool:
        """Say whether the progressive may be said with gerade."""
        progressive = self.tense in (Tense.PROGRESSIVE, Tense.PAST_PROGRESSIVE)
        return progressive and not (self.time or self.negated or self.inverted)

    def _light(self, verb: GermanVerb, context: Context) -> Tree:
        """Return the pronouns that stand as far in front as they can: sich, ihn, mir."""
        found: list[Tree] = []
        if verb.reflexive:
            itself = german.reflexive(self.subject.person(context))
            found.append(Word(itself, tuple(self.main_verb)))
        for number in self._objects(verb)["pronoun"]:
            found.append(self._object(number, verb, context))
        return then(*found)

    def _subject(self, verb: GermanVerb, context: Context) -> Tree:
        """Return the subject after the verb or the conjunction, and the light pronouns.

        A noun may come before or after them; one without a definite article comes after.
        """
        subject, light = self.subject.german("nom", context), self._light(verb, context)
        if light is EMPTY:
            return subject
        if isinstance(self.subject, (Pronoun, Relative)):
            return then(subject, light)
        if not self.subject.definite:
            return then(light, subject)
        return either([(60, then(light, subject)), (40, then(subject, light))])

    def _arrange(
        self,
        verb: GermanVerb,
        context: Context,
        opening: Sequence[Tree],
        final: bool = False,
        time: bool = True,
        where: bool = True,
        tails: bool = True,
    ) -> Tree:
        """Put a clause together behind its opening.

        `time`, `where` and `tails`: whether they are still to come. The relative clause of an
        object may move behind the last verb, if there is one.
        """
        group = self._group(verb, context)
        ending = group.cluster if final else group.bracket

        def whole(bound: Context, moved: Tree) -> Tree:
            middle = self._middle(verb, bound, time, where, moved is not EMPTY)
            if self.second is None:
                tree = then(*opening, middle, *ending, moved)
            else:
                tree = self._join(self.second, group, then(*opening, middle), bound, final)
            return then(tree, *(tail.german(bound) for tail in self.tails if tails))

        heavy = self.heavy
        if heavy is None or not ending:
            return whole(context, EMPTY)
        return context.bind(
            heavy,
            lambda bound: either(
                [(65, whole(bound, heavy.relative_clause(bound))), (35, whole(bound, EMPTY))]
            ),
        )

    def _join(
        self, second: Clause, first: VerbGroup, start: Tree, context: Context, final: bool
    ) -> Tree:
        """Add und and the second verb; an auxiliary that both have is better said once."""
        und = Word("und", tuple(self.and_))
        options: list[tuple[int, Tree]] = []
        for verb in second._options(context):
            group = second._group(verb, context)
            own = then(second._light(verb, context), second._middle(verb, context))
            if final:
                twice = then(start, *first.cluster, und, own, *group.cluster)
                once = then(start, *first.bracket, und, own, *group.cluster)
            else:
                twice = then(start, *first.bracket, und, group.finite, own, *group.bracket)
                once = then(start, *first.bracket, und, own, *group.bracket)
            same = first.compound and group.compound and first.finite.text == group.finite.text
            options.append((verb.weight, either([(70, once), (30, twice)]) if same else twice))
        return either(options)

    def main(self, context: Context, free: bool = True) -> Tree:
        """Return the clause with its verb second.

        Not `free`: something stands before it, and the subject follows the verb. Otherwise the
        subject, the time, the place or a clause that can come first does come first.
        """
        return either(
            (verb.weight, self._main(verb, context, free)) for verb in self._options(context)
        )

    def _main(self, verb: GermanVerb, context: Context, free: bool) -> Tree:
        finite = self._group(verb, context).finite
        subject = self._subject(verb, context)
        inverted = [finite, subject]
        if not free:
            return self._arrange(verb, context, inverted)
        plain = [self.subject.german("nom", context), finite, self._light(verb, context)]
        orders: list[tuple[int, Tree]] = []
        # What comes first goes with both verbs of "A and B": the order then stays the English one.
        if self.time and not self.time_inside and (self.time_first or not self.second):
            time = [self.time.german(context), *inverted]
            weight = 100 if self.second else 70 if self.time_first else 30
            orders.append((weight, self._arrange(verb, context, time, time=False)))
        if self.where and self.where_optional and not self.second:
            where = [self.where.german(context), *inverted]
            orders.append((15, self._arrange(verb, context, where, where=False)))
        rest = 100 - sum(weight for weight, _ in orders)
        if rest:
            orders.append((rest, self._arrange(verb, context, plain)))
        own = either(orders)
        tail = self.ahead or (self.tails[0] if len(self.tails) == 1 else None)
        if tail is None or tail.first is None:
            return own
        comma = Word(",", tuple(self.comma))
        other = self._arrange(
            verb, context, [tail.first(context), comma, *inverted], tails=self.ahead is not None
        )
        if self.ahead is None:
            return either([(80, own), (20, other)])
        if not self.ahead_movable:
            return other
        return either([(80, other), (20, then(own, self.ahead.german(context)))])

    def final(self, context: Context, conjunction: Tree = EMPTY) -> Tree:
        """Return the clause with its verb last, after a conjunction or its relative pronoun."""

        def build(verb: GermanVerb) -> Tree:
            number = len(self.objects) - 1
            lifted = [self._object(number, verb, context)] if self.gap else []
            opening = [conjunction, *lifted, self._subject(verb, context)]
            return self._arrange(verb, context, opening, final=True)

        return either((verb.weight, build(verb)) for verb in self._options(context))

    def infinitive(self, context: Context, um: Tree = EMPTY) -> Tree:
        """Return the clause with zu, commas included; its subject stays unsaid."""

        def build(verb: GermanVerb) -> Tree:
            middle = then(self._light(verb, context), self._middle(verb, context))
            to, lexical = tuple(self.auxiliaries), self._lexical(verb)
            if verb.prefix:
                form = f"{verb.prefix}zu{verb.infinitive}"
                last: Tree = Word(form, (*to, *lexical), verb.style)
            else:
                zu = Word("zu", to, verb.style)
                last = then(zu, Word(verb.infinitive, lexical, verb.style))
            if middle is EMPTY and um is EMPTY:
                return last  # a bare infinitive takes no comma
            return then(COMMA, um, middle, last, CLOSING)

        return either((verb.weight, build(verb)) for verb in self._options(context))

    def order(self, context: Context, please: Sequence[Token]) -> Tree:
        """Return the clause as an order to the person addressed; bitte stands first or inside."""
        formal = context.style is Style.FORMAL
        bitte = Word("bitte", tuple(please))

        def build(verb: GermanVerb) -> Tree:
            lexical = self._lexical(verb)
            start = [Word(verb.infinitive if formal else verb.order, lexical, context.style)]
            start += [Word("Sie", lexical, context.style)] if formal else []
            light = self._light(verb, context)
            prefix = [Word(verb.prefix, lexical, verb.style)] if verb.prefix else []
            tails = [tail.german(context) for tail in self.tails]
            rest = [self._middle(verb, context), *prefix, *tails]
            if not please:
                return then(*start, light, *rest)
            inside = then(*start, light, bitte, *rest)
            return either([(50, inside), (50, then(bitte, *start, light, *rest))])

        return either((verb.weight, build(verb)) for verb in self._options(context))


class Presence(Clause):
    """There is something somewhere: the German verb tells whether it lies or stands."""

    def _english_verb(self) -> tuple[str, str]:
        past = self.tense is Tense.PAST
        return "there " + be(past, self.subject), ""

    def english(self) -> list[Token]:
        """Return the English words, the subject after the verb."""
        assert self.where is not None
        return [*self.auxiliaries, *self.subject.english, *self.where.english]

    def _main(self, verb: GermanVerb, context: Context, free: bool) -> Tree:
        assert self.where is not None
        finite = self._group(verb, context).finite
        subject = self.subject.german("nom", context)
        where = self.where.german(context)
        if not free:
            return then(finite, where, subject)
        es = Word("es", tuple(self.auxiliaries[:1]))
        return either([(65, then(where, finite, subject)), (35, then(es, finite, subject, where))])

    def final(self, context: Context, conjunction: Tree = EMPTY) -> Tree:
        """Return the clause with its verb last, the place before or after the thing."""
        (verb,) = self.verb.german
        assert self.where is not None
        cluster = self._group(verb, context).cluster
        subject, where = self.subject.german("nom", context), self.where.german(context)
        return then(
            conjunction, either([(65, then(where, subject)), (35, then(subject, where))]), *cluster
        )
