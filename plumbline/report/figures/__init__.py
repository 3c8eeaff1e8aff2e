"""Figures of records: contents (``shapes.py``), drawing (``svg.py``, ``tty.py``)."""
