"""`python -m exactattn` is the command `exactattn`."""

from exactattn.cli import main

if __name__ == "__main__":
    main()
