"""Hooks at work now: what the machine withholds, which of their processes are alive, what their calls cost."""
