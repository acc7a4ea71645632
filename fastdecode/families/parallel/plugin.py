"""What of this family registers with fairseq."""

from fastdecode.families.parallel import task as task
