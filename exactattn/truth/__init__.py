"""What is true and what follows: the ladder of engines, the judge of printed numbers, float runs."""
