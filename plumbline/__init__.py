"""Plumbline plans, launches, models, stores and compares runs of its engine.

The command is ``plumb`` (:mod:`plumbline.cli`); the engine is ``plumb-mpi``, found by
:mod:`plumbline.engine`. Measurements are kept in records
(:mod:`plumbline.record.record`), which are never altered here.
"""
