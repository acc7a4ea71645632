"""What of this family registers with fairseq."""

from fastdecode.families.aggressive import blockwise as blockwise
from fastdecode.families.aggressive import criteria as criteria
from fastdecode.families.aggressive import drafter as drafter
from fastdecode.families.aggressive import task as task
