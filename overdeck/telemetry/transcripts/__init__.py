"""The client's own transcripts: what they say of hooks, also of those that Overdeck never touched."""
