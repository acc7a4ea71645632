"""The CSV of a figure: one point a line, published ones beside those measured here."""

from fastdecode.report.artifacts.sheet import Sheet

POINTS = Sheet(
    (
        *("dataset", "panel", "series", "source", "x", "y", "sd", "n", "label"),
        *("split", "what", "seeds", "tier", "threads", "precision", "device", "commit", "marks"),
    ),
    ("x", "y", "sd", "n"),
    added=("marks",),
)
