"""How it is computed, one file each: symbolic, multiprecision, ball, rational, hardware."""
