"""The questions asked of a case, one file each."""
