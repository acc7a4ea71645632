"""The verb of a clause in its tense: its English words, and the German verb in either place."""

from dataclasses import dataclass

from fastdecode.corpus.toy.german import HABEN, SEIN, WERDEN, GermanVerb, Person
from fastdecode.corpus.toy.phrases import Context, Phrase, Pronoun
from fastdecode.corpus.toy.tenses import AUXILIARIES, Tense
from fastdecode.corpus.toy.tree import Style, Token, Tree, Word
from fastdecode.corpus.toy.verbs import BE, Verb


def be(past: bool, subject: Phrase) -> str:
    """Return the form of be that goes with a subject."""
    first = isinstance(subject, Pronoun) and subject.who == "1s"
    if past:
        return "was" if subject.singular_verb or first else "were"
    return "is" if subject.singular_verb else "am" if first else "are"


def english_verb(
    verb: Verb, tense: Tense, subject: Phrase, helped: bool, passive: bool
) -> tuple[str, str]:
    """Return the auxiliaries and the main verb; `helped`: by do, where no other auxiliary is."""
    third = subject.singular_verb
    present_be, past_be = be(False, subject), be(True, subject)
    past = tense in (Tense.PAST, Tense.WANTED, Tense.HAD)
    do = ("did" if past else "does" if third else "do") if helped else ""
    if passive:
        return past_be, verb.participle
    if verb is BE and tense in (Tense.PRESENT, Tense.PAST):
        return past_be if past else present_be, ""
    match tense:
        case Tense.PRESENT:
            return do, verb.third if third and not helped else verb.base
        case Tense.PAST:
            return do, verb.base if helped else verb.past
        case Tense.PROGRESSIVE:
            return present_be, verb.gerund
        case Tense.PAST_PROGRESSIVE:
            return past_be, verb.gerund
        case Tense.PERFECT:
            return "has" if third else "have", verb.participle
        case Tense.PLUPERFECT:
            return "had", verb.participle
        case Tense.ORDER:
            return "", verb.base
    want = f"{do} want" if helped else "wants" if third else "want"
    phrase = {
        Tense.WANTS: f"{want} to",
        Tense.WANTED: f"{want} to" if helped else "wanted to",
        Tense.HAD: f"{do} have to" if helped else "had to",
        Tense.COULD: f"{past_be} able to",
        Tense.ALLOWED: f"{past_be} allowed to",
        Tense.LIKES: "would like to",
        Tense.FUTURE: "will",
        Tense.CAN: "can",
        Tense.MUST: "must",
        Tense.SHOULD: "should",
        Tense.INFINITIVE: "to",
    }[tense]
    return phrase, verb.base


@dataclass(frozen=True, slots=True)
class Sources:
    """The English words that a German verb stands for: its auxiliaries, and all others."""

    helpers: tuple[Token, ...]
    lexical: tuple[Token, ...]


@dataclass(eq=False, slots=True)
class VerbGroup:
    """The German verb: where it is second, and where it is last."""

    finite: Word
    bracket: list[Tree]  # what stands at the end when the finite verb is second
    cluster: list[Tree]  # all of it, when the finite verb is last
    compound: bool = False  # whether the finite verb is an auxiliary


def _compound(finite: Word, *rest: Tree) -> VerbGroup:
    """Return a group whose finite verb is an auxiliary."""
    return VerbGroup(finite, [*rest], [*rest, finite], compound=True)


def german_verb(
    verb: GermanVerb, tense: Tense, person: Person, context: Context, of: Sources, passive: bool
) -> VerbGroup:
    """Return the German verb in a tense: the past is a perfect where one speaks."""
    spoken = context.spoken or context.style is Style.CASUAL
    shown = None if context.spoken else context.style  # the tense tells the style
    participle = Word(verb.participle, of.lexical, verb.style)
    if passive:
        if spoken:
            finite = Word(SEIN.finite(person, False), of.helpers, shown)
            return _compound(finite, participle, Word("worden", of.helpers, shown))
        return _compound(Word(WERDEN.finite(person, True), of.helpers, shown), participle)
    if tense in AUXILIARIES:
        modal, past = AUXILIARIES[tense]
        infinitive = Word(verb.prefix + verb.infinitive, of.lexical, verb.style)
        return _compound(Word(modal.finite(person, past), of.helpers), infinitive)
    past = tense in (Tense.PAST, Tense.PAST_PROGRESSIVE)
    if tense in (Tense.PERFECT, Tense.PLUPERFECT) or (past and spoken and not verb.plain):
        auxiliary = HABEN if verb.auxiliary == "haben" else SEIN
        form = auxiliary.finite(person, tense is Tense.PLUPERFECT)
        return _compound(Word(form, of.helpers or of.lexical, shown if past else None), participle)
    style = verb.style or (shown if past and not verb.plain else None)
    sources = (*of.helpers, *of.lexical)
    form = verb.finite(person, past)
    prefix = [Word(verb.prefix, of.lexical, style)] if verb.prefix else []
    return VerbGroup(
        Word(form, sources, style), [*prefix], [Word(verb.prefix + form, sources, style)]
    )
