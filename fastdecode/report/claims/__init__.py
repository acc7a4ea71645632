"""Whether the claims of a paper hold of our numbers: judged from the CSV files of its artifacts.

A condition (fastdecode.config.claims) is a number and its bounds. What other test lines would move,
such as BLEU, and what a clock told have an interval: of the former from resamples of the lines that
are drawn alike for all decoders, and of the seeds where a system was trained several times; of
times from resamples of the timed lines and of the repeats. A claim holds if the interval of every
condition is within its bounds, does not hold if that of one is outside, and cannot be told
otherwise, or where a cell was not measured, or is such a number without resamples: a few points of
BLEU more or less are often the test lines'.
"""
