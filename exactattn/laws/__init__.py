"""Statements about all inputs, one file each, decided by exact algebra."""
