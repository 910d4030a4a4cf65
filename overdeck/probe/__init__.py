"""Proof in the real clients: a client, a throwaway HOME and a mock model on loopback, and what became of every hook."""
