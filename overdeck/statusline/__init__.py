"""The line that a client shows below its prompt. Started at every redraw, so it imports next to nothing."""
