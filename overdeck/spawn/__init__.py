"""The one measured child: commands started as a client starts hooks, and what the kernel says they cost."""
