"""What a number is: exact numbers, printed numerals, formats, enclosures, and what an arithmetic must offer."""
