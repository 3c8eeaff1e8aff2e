"""Runtimes that ``plumb`` can set up and select, each with its own vendor list of OpenCL.

Intel's runtimes come from the Python package index at pinned versions, into a virtual environment
in their own folder of HOME, never vendored. Their wheels' ``.icd`` files hold a placeholder path,
so the vendor list is written here. A process loads one runtime only: several crash. Runtime
``sycl`` also needs the engine's SYCL plug-in, compiled here against the wheel's headers.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import venv
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plumbline.base.errors import RunError, UsageError, did_you_mean
from plumbline.base.paths import PACKAGE, Home, checkout_root

SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
POCL_PACKAGE = "pocl-opencl-icd"
EULA_VARIABLE = "ACCEPT_INTEL_EULA"
PLUGIN_VARIABLE = "PLUMBLINE_SYCL"
_PLUGIN = "libplumb-sycl.so"
_PLUGIN_MKL = "libplumb-sycl-mkl.so"

# Targets of the FPGA emulator's compiler, with the processor flags that each needs. It takes AMD's
# processors of families after the last that it knows for ones without AVX, yet gives kernels 16
# lanes, which compute nonsense or crash (2023.2.4 on the fifth Zen). Where a target is named it
# refuses program binaries, so none is named elsewhere.
EMULATOR_KNOWS_FAMILY = 25
EMULATOR_TARGETS = {
    "skx": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "core-avx2": {"avx2", "bmi2", "fma"},
}
CPU_INFO = Path("/proc/cpuinfo")

# The Intel wheels bring an OpenCL loader and a hwloc that must not hide the system's.
_NOT_LINKED = ("libOpenCL.", "libhwloc.")


@dataclass(frozen=True)
class WheelRuntime:
    """A runtime from pinned wheels; ``library`` is the shared object in the vendor list.

    ``engine`` is the engine's name for it.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    library: str
    megabytes: int
    engine: str = "opencl"


FPGA_EMULATOR = WheelRuntime(
    "fpga-emulator",
    "Intel FPGA Emulation Platform for OpenCL",
    ("intel-opencl-rt==2023.2.4", "intel-cmplr-lib-rt==2023.2.4"),
    "libintelocl_emu.so",
    960,
)
INTEL_CPU = WheelRuntime(
    "intel-cpu",
    "Intel CPU Runtime for OpenCL",
    ("intel-opencl-rt==2026.2.0", "intel-cmplr-lib-rt==2026.2.0"),
    "libintelocl.so",
    840,
)
INTEL_SYCL = WheelRuntime(
    "intel-sycl",
    "Intel SYCL Runtime, over Intel's CPU Runtime for OpenCL",
    ("intel-sycl-rt==2026.2.0", *INTEL_CPU.packages),
    "libintelocl.so",
    1500,
    engine="sycl",
)
# oneMKL for variant `library` of runtime `sycl`, in the folder of INTEL_SYCL.
ONEMKL_PACKAGES = (
    "onemkl-sycl-blas==2026.2.0",
    "onemkl-sycl-dft==2026.2.0",
    "onemkl-sycl-include==2026.2.0",
)
ONEMKL_MEGABYTES = 900
WHEELS = {runtime.name: runtime for runtime in (INTEL_CPU, FPGA_EMULATOR, INTEL_SYCL)}
NAMES = ("pocl", *WHEELS)


def is_installed(name: str, home: Home) -> bool:
    """Whether the vendor list of runtime ``name`` and its library exist.

    Runtime ``intel-sycl`` also needs its plug-in, compiled from the present source.
    """
    vendors = _vendor_list(name, home)
    if vendors is None:
        return False
    files = [vendors] if vendors.is_file() else sorted(vendors.glob("*.icd"))
    if name not in WHEELS:
        return bool(files)
    if name == INTEL_SYCL.name and not _has_present_plugin(home.runtimes / name):
        return False
    return any(Path(file.read_text().strip()).is_file() for file in files)


def environment(
    name: str, home: Home, devices: int, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The variables that restrict a process to runtime ``name``.

    ``devices`` is the FPGA emulator's number of devices. What the caller's environment sets of it,
    of the emulator's local memory and of its compiler's target stays.
    Raises :class:`UsageError` if the runtime is not installed.
    """
    if not is_installed(name, home):
        raise UsageError(f"the runtime {name} is not installed: plumb setup {name} installs it")
    added = {"OCL_ICD_VENDORS": str(_vendor_list(name, home))}
    if name in WHEELS:
        paths = [str(home.runtimes / name / "lib"), environ.get("LD_LIBRARY_PATH", "")]
        added["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    if name == INTEL_SYCL.name:
        added[PLUGIN_VARIABLE] = str(_plugin(home))
    if name == FPGA_EMULATOR.name:
        emulated = {
            "CL_CONFIG_CPU_EMULATE_DEVICES": str(max(devices, 1)),
            "CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE": "32MB",  # as a board; 256 KiB without
        }
        if target := _emulator_target():
            emulated["CL_CONFIG_CPU_TARGET_ARCH"] = target
        added |= {key: value for key, value in emulated.items() if key not in environ}
    return added


def _emulator_target() -> str | None:
    """The target for the FPGA emulator's compiler on this processor; None leaves it to itself."""
    lines = CPU_INFO.read_text().splitlines() if CPU_INFO.is_file() else []
    of_last_core: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        of_last_core[name.strip()] = value.strip()
    amd = of_last_core.get("vendor_id") == "AuthenticAMD"
    if not amd or int(of_last_core.get("cpu family", 0)) <= EMULATOR_KNOWS_FAMILY:
        return None
    flags = set(of_last_core.get("flags", "").split())
    return next((name for name, needs in EMULATOR_TARGETS.items() if needs <= flags), None)


def engine_name(name: str) -> str:
    """The engine's runtime for a value of ``--runtime``."""
    if name in WHEELS:
        return WHEELS[name].engine
    return "opencl" if name in NAMES else name


def set_up_name(
    runtime: str | None, home: Home, environ: Mapping[str, str] = os.environ
) -> str | None:
    """The runtime whose :func:`environment` a value of ``--runtime`` needs, or None.

    ``sycl`` needs that of ``intel-sycl`` where it is installed, unless the caller's environment
    names a plug-in.
    """
    if runtime in NAMES:
        return runtime
    own = runtime == INTEL_SYCL.engine and PLUGIN_VARIABLE not in environ
    return INTEL_SYCL.name if own and is_installed(INTEL_SYCL.name, home) else None


def check_name(name: str) -> None:
    """Raise :class:`UsageError` unless ``name`` is a runtime that can be set up."""
    if name not in NAMES:
        raise UsageError(
            f"unknown runtime {name} (choose from {', '.join(NAMES)}){did_you_mean(name, NAMES)}"
        )


def licence_accepted(
    given: bool, environ: Mapping[str, str], ask: Callable[[], bool] | None
) -> bool:
    """Whether Intel's licence was accepted: by flag, by variable, or in answer to ``ask``."""
    if given or environ.get(EULA_VARIABLE) == "1":
        return True
    return ask() if ask else False


def licence_error(name: str) -> UsageError:
    """The error message for a licence that was not accepted."""
    return UsageError(
        f"{name} falls under the Intel End User License Agreement for Developer Tools and is "
        f"installed only when you accept it: plumb setup {name} --accept-eula, or {EULA_VARIABLE}=1"
    )


def install(runtime: WheelRuntime, home: Home, onemkl: bool = False) -> Path:
    """Install ``runtime`` into its folder of ``home`` (fresh) and return the folder.

    ``onemkl``: with the library of runtime ``sycl``. If only the plug-in's source has changed, it
    alone is compiled again.

    Raises :class:`RunError` with pip's last lines on failure.
    """
    folder = home.runtimes / runtime.name
    if runtime is INTEL_SYCL and _renew_plugin(folder, onemkl):
        return folder
    try:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder / "venv", with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RunError(
            f"a virtual environment cannot be made in {folder}: {error} "
            "(Debian: apt install python3-venv)"
        ) from None
    python = folder / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    packages = (*runtime.packages, *(ONEMKL_PACKAGES if onemkl else ()))
    done = subprocess.run([*pip, "install", *packages], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        last = " ".join(done.stderr.strip().splitlines()[-2:])
        raise RunError(f"pip could not install {' '.join(packages)}: {last}")
    _link_libraries(folder)
    _write_vendor_list(runtime, folder)
    if runtime is INTEL_SYCL:
        _compile_plugin(folder)
    if onemkl:
        _compile_onemkl(folder)
    return folder


def set_up_pocl() -> str:
    """Install PoCL if missing; returns a message. Raises with a remedy."""
    if pocl_vendor_file() is not None:
        return f"pocl is installed: {pocl_vendor_file()}"
    command = ["apt-get", "install", "--yes", POCL_PACKAGE]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise UsageError(
            f"pocl is a package of the distribution: {POCL_PACKAGE} must be installed "
            f"(Debian, Ubuntu: sudo {' '.join(command)}), or load your centre's module"
        )
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
        raise RunError(f"{' '.join(command)} failed")
    return f"pocl is installed: {pocl_vendor_file()}"


def pocl_vendor_file() -> Path | None:
    """The vendor file of the system's PoCL, or None."""
    return next(iter(sorted(SYSTEM_VENDORS.glob("pocl*.icd"))), None)


def _vendor_list(name: str, home: Home) -> Path | None:
    if name in WHEELS:
        folder = home.runtimes / name / "icd"
        return folder if folder.is_dir() else None
    return pocl_vendor_file()


def _link_libraries(folder: Path) -> None:
    links = folder / "lib"
    links.mkdir()
    for library in sorted((folder / "venv" / "lib").glob("*.so*")):
        if not library.name.startswith(_NOT_LINKED) and not library.name.endswith(".py"):
            (links / library.name).symlink_to(library)


def _write_vendor_list(runtime: WheelRuntime, folder: Path) -> None:
    library = folder / "venv" / "lib" / runtime.library
    if not library.is_file():
        raise RunError(f"{' '.join(runtime.packages)} do not contain {runtime.library}")
    (folder / "icd").mkdir()
    (folder / "icd" / f"{runtime.name}.icd").write_text(f"{library}\n")


def _plugin(home: Home) -> Path:
    return home.runtimes / INTEL_SYCL.name / "lib" / _PLUGIN


def _plugin_stamp(folder: Path) -> Path:
    """The file with the digest of the source that the plug-in was compiled from."""
    return folder / "plugin-source"


def _plugin_digest() -> str:
    digest = hashlib.sha256()
    for file in sorted(_plugin_source().glob("*.?pp")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _has_present_plugin(folder: Path) -> bool:
    stamp = _plugin_stamp(folder)
    present = stamp.is_file() and stamp.read_text() == _plugin_digest()
    return present and (folder / "lib" / _PLUGIN).is_file()


def _renew_plugin(folder: Path, onemkl: bool) -> bool:
    """Compile the plug-in anew if its source is all that has changed; whether it was."""
    has_onemkl = (folder / "lib" / _PLUGIN_MKL).is_file()
    whole = (folder / "lib" / _PLUGIN).is_file() and (folder / "icd").is_dir()
    if not whole or _has_present_plugin(folder) or (onemkl and not has_onemkl):
        return False
    _compile_plugin(folder)
    if has_onemkl:
        _compile_onemkl(folder)
    return True


def _plugin_source() -> Path:
    """The folder of the plug-in's source: the checkout's, or the package's."""
    checkout = checkout_root()
    return checkout / "engine/device/sycl/plugin" if checkout else PACKAGE / "sycl_plugin"


def _compile_plugin(folder: Path) -> None:
    """Compile the engine's SYCL plug-in against the headers and libraries of ``folder``."""
    libsycl = zlib.adler32((folder / "lib" / "libsycl.so").read_bytes())
    words = [f'-DPLUMB_SYCL_BUILT_WITH="{libsycl:08x}"', "-lOpenCL"]
    _compile_shared(folder, "plumb_sycl.cpp", _PLUGIN, words)
    _plugin_stamp(folder).write_text(_plugin_digest())


def _compile_onemkl(folder: Path) -> None:
    """Compile the plug-in's library of oneMKL."""
    names = ("sycl_blas", "sycl_dft", "intel_ilp64", "tbb_thread", "core")
    words = [f"-l:{_newest(folder / 'lib', f'libmkl_{name}.so')}" for name in names]
    _compile_shared(folder, "plumb_sycl_mkl.cpp", _PLUGIN_MKL, words)


def _newest(folder: Path, name: str) -> str:
    """The versioned file of a library; the wheels have no links without a version."""
    found = sorted(folder.glob(f"{name}.*"))
    if not found:
        raise RunError(f"{folder} has no {name}, so the SYCL plug-in has no oneMKL")
    return found[-1].name


def _compile_shared(folder: Path, source: str, target: str, words: list[str]) -> None:
    libraries = folder / "lib"
    command = [
        *shlex.split(os.environ.get("CXX", "g++")),
        *("-std=c++17", "-O2", "-shared", "-fPIC", "-w"),
        f"-I{folder / 'venv' / 'include'}",
        str(_plugin_source() / source),
        *("-o", str(libraries / target), f"-L{libraries}", *words, "-lsycl"),
        *(f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RunError(
            f"the SYCL plug-in cannot be compiled: {error}; CXX names a compiler"
        ) from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise RunError(f"{command[0]} could not compile the SYCL plug-in: {' '.join(errors[:2])}")
