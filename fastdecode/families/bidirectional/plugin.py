"""What of this family registers with fairseq."""

from fastdecode.families.bidirectional import criterion as criterion
from fastdecode.families.bidirectional import model as model
