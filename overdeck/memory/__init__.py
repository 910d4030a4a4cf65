"""``overdeck memory``: what a session keeps for the next one of its project."""
