"""Made by scripts/recipes.py from steps.toml.

In the checkout: spack repo add packages/spack; spack dev-build plumbline@main
"""

from spack.package import *


class Plumbline(PythonPackage):
    """Measures accelerated HPC machines, proves each result right, and judges it by a performance model."""

    license("BSD-3-Clause")
    version("main")
    version("0.1.0")

    variant("opencl", default=True, description="OpenCL devices")
    variant("mpi", default=True, description="the engine over MPI")
    variant("shmem", default=True, description="the engine over OpenSHMEM, if the MPI library has one")
    conflicts("+shmem", when="~mpi")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt", type=("build", "link", "run"))
    depends_on("hwloc", type=("build", "link", "run"))
    depends_on("opencl", type=("build", "link", "run"), when="+opencl")
    depends_on("opencl-clhpp", type="build", when="+opencl")
    depends_on("openblas", type=("build", "link", "run"))
    depends_on("fftw@3", type=("build", "link", "run"))
    depends_on("clblast", type=("build", "link", "run"), when="+opencl")
    depends_on("metis", type=("build", "link", "run"))
    depends_on("mpi", type=("build", "link", "run"), when="+mpi")
    depends_on("python@3.11:", type=("build", "link", "run"))
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-plotly@5.20:", type=("build", "run"))
    depends_on("py-pyelftools@0.31:", type=("build", "run"))
    depends_on("py-pydantic@2.6:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-simpy@4.1:", type=("build", "run"))
    depends_on("py-tomli-w@1.0:", type=("build", "run"))
    depends_on("py-typer@0.12:", type=("build", "run"))

    def config_settings(self, spec, prefix):
        options = {"PLUMBLINE_OPENCL": "opencl", "PLUMBLINE_MPI": "mpi", "PLUMBLINE_SHMEM": "shmem"}
        return {
            f"cmake.define.{option}": "ON" if spec.satisfies(f"+{variant}") else "OFF"
            for option, variant in options.items()
        }

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_version(self):
        Executable(join_path(self.prefix.bin, "plumb"))("version")
