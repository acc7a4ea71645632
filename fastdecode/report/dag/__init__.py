"""Tables and figures of Huang et al. (2022) that no other paper has."""
