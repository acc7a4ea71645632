"""`python -m fastdecode` is the command `fastdecode`."""

from fastdecode.commands import main

main()
