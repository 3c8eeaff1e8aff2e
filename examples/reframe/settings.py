"""Partitions for the tests beside this file: this node at once, and Slurm jobs.

    reframe -C settings.py -c plumbline_tests.py -r --system plumbline:batch

The launcher is ``local`` in both: ``plumb`` starts the ranks by itself, within a job by srun. The
scheduler ``squeue`` needs no accounting.
"""

site_configuration = {
    "systems": [
        {
            "name": "plumbline",
            "descr": "any machine",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "node",
                    "descr": "this node",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["default"],
                },
                {
                    "name": "batch",
                    "descr": "Slurm jobs; its partition and account stand in `access`",
                    "scheduler": "squeue",
                    "launcher": "local",
                    "access": [],
                    "environs": ["default"],
                    "max_jobs": 1,
                },
            ],
        }
    ],
    "environments": [{"name": "default"}],
}
