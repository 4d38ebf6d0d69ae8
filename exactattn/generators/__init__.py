"""What a named generator and seed drew, one file each: numpy-legacy, numpy, r, torch."""
