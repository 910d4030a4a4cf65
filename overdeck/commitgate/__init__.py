"""The commit gate from the command line: the pass it waits for, and git's own hook."""
