"""What attention is: the spec, the one definition, how machines compute it, and alternative readings."""
