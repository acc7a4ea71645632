"""Tables and figures of Imamura and Sumita (2020) that no other paper has."""
