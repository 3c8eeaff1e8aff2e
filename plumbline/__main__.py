"""``python -m plumbline`` is the command ``plumb``."""

from plumbline.cli import main

if __name__ == "__main__":
    main()
