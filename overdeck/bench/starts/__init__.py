"""What one run of an arm starts: processes, programs and threads, counted exactly or labelled."""
