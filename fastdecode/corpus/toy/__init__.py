"""The embedded corpus: English sentences whose right German translations are all known.

A small grammar draws a meaning, says it in English, and builds the tree of all its right German
translations. What makes it a test bench for fast decoders:

- several translations are right, by synonyms (Auto, Wagen), word order (Gestern sah er …, Er sah
  gestern …), unknown sex (Lehrer, Lehrerin), and one of them is drawn with unequal weights;
- choices belong together: a sentence is formal (simple past, genitive, Sie) or casual (perfect,
  von, du) from end to end, and the gender of a noun governs articles, adjectives and pronouns;
- words move: verbs to the end of subordinate clauses, participles and separable prefixes to the
  end of main clauses, the verb before the subject;
- the right word can depend on another far away (know: wissen or kennen; bank: Bank or Ufer).

Right means right in this grammar: German allows more. You is one person (du or Sie, never ihr), a
plural of people is masculine, and nothing mixes the two styles.

The corpus is frozen: the same seed and sizes give the same bytes for ever.
"""

from fastdecode.corpus.toy.write import (
    TOY_SIZES,
    Example,
    References,
    draw_examples,
    generate,
    read_links,
    read_references,
    share_right,
)

__all__ = [
    "TOY_SIZES",
    "Example",
    "References",
    "draw_examples",
    "generate",
    "read_links",
    "read_references",
    "share_right",
]
