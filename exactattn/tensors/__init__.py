"""Tensors of a problem: from files, one format a module, and drawn ones that are hard for float arithmetic."""
