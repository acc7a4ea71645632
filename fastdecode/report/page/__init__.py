"""The page of a run: its systems, and every paper's artifacts and claims, in one file of HTML."""
