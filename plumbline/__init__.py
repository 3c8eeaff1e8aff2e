"""Plumbline plans, launches, models, stores and compares runs of its engine.

The command is ``plumb`` (:mod:`plumbline.cli`); the engine is ``plumb-mpi``, found by
:mod:`plumbline.engine`. What the engine measures lies in records
(:mod:`plumbline.record.record`), which nothing here alters.
"""
