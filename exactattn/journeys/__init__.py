"""From input to report: one file a command."""
