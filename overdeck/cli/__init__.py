"""The doors for terminals: overdeck, hookbench, od-incidents. A verb a file; no logic lives here."""
