"""Whether the claims of a paper hold of our numbers: judged from the CSV files of its artifacts.

A condition (fastdecode.config.claims) is a number and its bounds. BLEU and times have an interval,
from resamples of the test lines that are drawn alike for all decoders, and of the seeds where a
system was trained several times. A claim holds if the interval of every condition is within its
bounds, does not hold if that of one is outside, and cannot be told otherwise, or where a cell was
not measured, or is a BLEU of which there are no resamples: a few points more or less are often the
test lines'.
"""
