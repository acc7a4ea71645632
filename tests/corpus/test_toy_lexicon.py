"""What makes an English sentence have one meaning, checked on the word lists themselves."""

from itertools import combinations

import pytest

from fastdecode.corpus.toy.nouns import ADJECTIVES, NOUNS, Noun
from fastdecode.corpus.toy.verbs import (
    CLAUSAL,
    INTRANSITIVE,
    MOTION,
    PRESENCE,
    TRANSITIVE,
    WEATHER,
    Verb,
)

VERBS = (*TRANSITIVE, *INTRANSITIVE, *MOTION, *CLAUSAL, *WEATHER)


def english_nouns(tag: str) -> set[str]:
    return {noun.singular for noun in NOUNS if tag in noun.tags}


def told_apart(one: Verb, other: Verb) -> bool:
    """Whether what stands around two verbs that look the same tells which it is."""
    if one.particle != other.particle or one.complement != other.complement:
        return True
    if len(one.objects) != len(other.objects) or one.means != other.means:
        return True
    if bool(one.where) != bool(other.where):
        return True
    tags = [(one.subject, other.subject), *zip(one.objects, other.objects, strict=True)]
    if any(not english_nouns(left) & english_nouns(right) for left, right in tags):
        return True
    return bool(one.where) and not set(one.where) & set(other.where)


def test_verbs_that_look_the_same_are_told_apart() -> None:
    for one, other in combinations(VERBS, 2):
        if {one.base, one.past} & {other.base, other.past} and one.german != other.german:
            assert told_apart(one, other), f"{one.base} {one.objects} {other.objects}"


def test_nouns_that_look_the_same_are_told_apart_by_their_verbs() -> None:
    twins = [(a, b) for a, b in combinations(NOUNS, 2) if a.singular == b.singular]
    assert {a.singular for a, _ in twins} == {"bank", "plant"}
    assert all(not one.tags & other.tags for one, other in twins)


def test_adjectives_that_look_the_same_are_told_apart_by_their_nouns() -> None:
    twins = [(a, b) for a, b in combinations(ADJECTIVES, 2) if a.english == b.english]
    assert {a.english for a, _ in twins} == {"light"}
    assert all(not a.kinds & b.kinds for a, b in twins)


def test_every_tag_has_nouns_and_verbs() -> None:
    wanted = {tag for verb in (*VERBS, *PRESENCE) for tag in (verb.subject, *verb.objects)}
    given = {tag for noun in NOUNS for tag in noun.tags}
    assert wanted <= given
    assert given - wanted == {"firm", "shore", "surface"}  # kinds of place


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.singular)
def test_options_of_a_noun_are_of_one_sort(noun: Noun) -> None:
    styles = {head.style for head in noun.german}
    assert None not in styles or styles == {None}  # both styles have a word, or neither its own
    assert len(styles) != 1 or styles == {None}
    if noun.sex == "mf":
        assert [head.gender for head in noun.german] == ["m", "f"]
    assert len({head.singular for head in noun.german}) == len(noun.german)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.base)
def test_options_of_a_verb_are_of_one_sort(verb: Verb) -> None:
    styles = {german.style for german in verb.german}
    assert None not in styles or styles == {None}
    assert len(styles) != 1 or styles == {None}
    assert len({german.plain for german in verb.german}) == 1
    assert all(len(german.frame) == len(verb.objects) for german in verb.german)
    forms = [(german.prefix, german.infinitive, german.frame) for german in verb.german]
    assert len(set(forms)) == len(forms)
