"""From report to text, one file a form."""
