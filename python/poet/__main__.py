"""python3 -m poet: the published reference's command."""

from .published import main

main()
