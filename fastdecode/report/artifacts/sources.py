"""Whose a cell or a point is: what the column `source` of an artifact's CSV says."""

LABEL = "label"  # words of a row
PUBLISHED, OURS = "published", "ours"  # a number of the paper; one that was measured here
