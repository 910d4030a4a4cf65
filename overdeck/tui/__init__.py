"""The door for eyes (Textual)."""
