"""Tables and figures of Xia et al. (2022) that no other paper has."""
