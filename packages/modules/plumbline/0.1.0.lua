-- Made by scripts/recipes.py from steps.toml.
-- For an installation by the steps of a container, in PLUMBLINE_PREFIX or /opt/plumbline.
help([[Measures accelerated HPC machines, proves each result right, and judges it by a performance model.]])
whatis("Name: Plumbline")
whatis("Version: 0.1.0")
whatis("Description: Measures accelerated HPC machines, proves each result right, and judges it by a performance model")
conflict("plumbline")
local prefix = os.getenv("PLUMBLINE_PREFIX") or "/opt/plumbline"
prepend_path("PATH", pathJoin(prefix, "bin"))
