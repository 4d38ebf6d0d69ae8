"""What people write: case files, and the numbers they print."""
