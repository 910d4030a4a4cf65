"""Adopting: handlers of a settings file become modules, after a replay has shown that they say the same."""
