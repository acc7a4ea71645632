"""What artifacts of all papers are made of: cells and points, rows, settings, tables, curves.

An artifact is made in two steps. A function turns what a run measured (`Evidence`) into one table
of cells or points, which is written as CSV; the printed table or the figure is drawn from that CSV
and the paper's row in `config/papers` alone.
"""
