"""What of this family registers with fairseq."""

from fastdecode.families.dag import criterion as criterion
from fastdecode.families.dag import model as model
from fastdecode.families.dag import task as task
