"""Runtimes: licence, folders, variables. The wheels are only used where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from plumbline.base.errors import RunError, UsageError
from plumbline.base.paths import Home, find_home
from plumbline.engine import runtimes
from plumbline.engine.runtimes import (
    FPGA_EMULATOR,
    INTEL_CPU,
    INTEL_SYCL,
    environment,
    is_installed,
)

# Where the runtimes may be installed: the home in use before a test makes its own.
INSTALLED = find_home()
AVX2 = "fpu avx avx2 bmi2 fma"


def pretend(home: Home, runtime: runtimes.WheelRuntime) -> None:
    """Lay out the folder of an installed runtime, with an empty library."""
    folder = home.runtimes / runtime.name
    libraries = folder / "venv" / "lib"
    libraries.mkdir(parents=True)
    for name in (runtime.library, "libsvml.so", "libOpenCL.so.1", "libhwloc.so.15"):
        (libraries / name).touch()
    runtimes._link_libraries(folder)
    runtimes._write_vendor_list(runtime, folder)


@pytest.mark.parametrize(
    ("processor", "flags", "target"),
    [
        ("AuthenticAMD 26", f"{AVX2} avx512f avx512bw avx512cd avx512dq avx512vl", "skx"),
        ("AuthenticAMD 27", f"{AVX2} avx512f", "core-avx2"),
        ("AuthenticAMD 26", "fpu avx", None),
        ("AuthenticAMD 25", AVX2, None),
        ("GenuineIntel 30", AVX2, None),
    ],
)
def test_an_installed_runtime_is_selected_by_variables(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    processor: str,
    flags: str,
    target: str | None,
) -> None:
    home = Home(tmp_path)
    monkeypatch.setattr(runtimes, "CPU_INFO", tmp_path / "cpuinfo")
    vendor, family = processor.split()
    words = f"vendor_id\t: {vendor}\ncpu family\t: {family}\nflags\t\t: {flags}\n\nbugs: a: b\n"
    (tmp_path / "cpuinfo").write_text(words)
    pretend(home, FPGA_EMULATOR)
    assert is_installed("fpga-emulator", home)
    added = environment("fpga-emulator", home, 4, {"LD_LIBRARY_PATH": "/opt/lib"})
    folder = tmp_path / "runtimes" / "fpga-emulator"
    assert added == {
        "OCL_ICD_VENDORS": str(folder / "icd"),
        "LD_LIBRARY_PATH": f"{folder / 'lib'}:/opt/lib",
        "CL_CONFIG_CPU_EMULATE_DEVICES": "4",
        "CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE": "32MB",
        **({"CL_CONFIG_CPU_TARGET_ARCH": target} if target else {}),
    }
    library = (folder / "icd" / "fpga-emulator.icd").read_text().strip()
    assert Path(library).is_absolute()
    assert Path(library).is_file()


def test_the_systems_loader_and_hwloc_are_not_hidden(tmp_path: Path) -> None:
    pretend(Home(tmp_path), INTEL_CPU)
    links = tmp_path / "runtimes" / "intel-cpu" / "lib"
    assert sorted(link.name for link in links.iterdir()) == ["libintelocl.so", "libsvml.so"]


def test_what_the_user_sets_of_the_emulator_stays(tmp_path: Path) -> None:
    home = Home(tmp_path)
    pretend(home, FPGA_EMULATOR)
    given = {"CL_CONFIG_CPU_EMULATE_DEVICES": "8", "CL_CONFIG_CPU_TARGET_ARCH": "corei7"}
    assert not given.keys() & environment("fpga-emulator", home, 2, given).keys()


def test_a_runtime_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="intel-cpu is not installed: plumb setup intel-cpu"):
        environment("intel-cpu", Home(tmp_path), 1, {})
    pretend(Home(tmp_path), INTEL_CPU)
    shutil.rmtree(tmp_path / "runtimes" / "intel-cpu" / "venv")
    assert not is_installed("intel-cpu", Home(tmp_path))


def test_sycl_needs_its_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's name takes the installed runtime, unless the caller's environment has a plug-in."""
    home = Home(tmp_path)
    pretend(home, INTEL_SYCL)
    assert not is_installed("intel-sycl", home)
    assert runtimes.set_up_name("sycl", home, {}) is None
    folder = tmp_path / "runtimes" / "intel-sycl"
    plugin = folder / "lib" / "libplumb-sycl.so"
    (folder / "lib" / "libsycl.so").touch()
    monkeypatch.setattr(runtimes, "_compile_shared", lambda *_: plugin.touch())
    runtimes._compile_plugin(folder)
    assert is_installed("intel-sycl", home)
    added = environment("intel-sycl", home, 1, {})
    assert added["PLUMBLINE_SYCL"] == str(plugin)
    assert runtimes.set_up_name("sycl", home, {}) == "intel-sycl"
    assert runtimes.set_up_name("sycl", home, {"PLUMBLINE_SYCL": "/own.so"}) is None
    assert runtimes.set_up_name("cuda", home, {}) is None
    assert runtimes.engine_name("intel-sycl") == runtimes.engine_name("sycl") == "sycl"
    assert runtimes.engine_name("intel-cpu") == "opencl"


def test_a_plugin_of_older_source_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It alone: the wheels stay."""
    home = Home(tmp_path)
    pretend(home, INTEL_SYCL)
    folder = home.runtimes / INTEL_SYCL.name
    (folder / "lib" / "libsycl.so").touch()
    compiled: list[str] = []
    monkeypatch.setattr(runtimes, "_compile_shared", lambda _, source, *__: compiled.append(source))
    (folder / "lib" / "libplumb-sycl.so").touch()
    (folder / "plugin-source").write_text("another digest")
    assert not is_installed("intel-sycl", home)
    assert runtimes.install(INTEL_SYCL, home) == folder
    assert compiled == ["plumb_sycl.cpp"]
    assert (folder / "icd").is_dir()
    assert is_installed("intel-sycl", home)


@pytest.mark.parametrize(
    ("compiler", "said"),
    [
        ("no-such-compiler", "cannot be compiled: .*no-such-compiler.*; CXX names"),
        ("g++ -include /nowhere.h", r"g\+\+ could not compile the SYCL plug-in: .*/nowhere.h"),
    ],
)
def test_a_plugin_that_does_not_compile_says_why(
    compiler: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libsycl.so").touch()
    monkeypatch.setenv("CXX", compiler)
    with pytest.raises(RunError, match=said):
        runtimes._compile_plugin(tmp_path)


def test_pocl_is_selected_by_its_own_vendor_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtimes, "SYSTEM_VENDORS", tmp_path)
    assert not is_installed("pocl", Home(tmp_path))
    (tmp_path / "pocl.icd").write_text("libpocl.so.2\n")
    (tmp_path / "nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    assert environment("pocl", Home(tmp_path), 2, {}) == {
        "OCL_ICD_VENDORS": str(tmp_path / "pocl.icd")
    }
    assert "pocl is installed" in runtimes.set_up_pocl()


@pytest.mark.parametrize(
    ("flag", "environ", "answer", "accepted"),
    [
        (False, {}, None, False),
        (True, {}, None, True),
        (False, {"ACCEPT_INTEL_EULA": "1"}, None, True),
        (False, {"ACCEPT_INTEL_EULA": "0"}, None, False),
        (False, {}, True, True),
        (False, {}, False, False),
    ],
)
def test_the_licence_is_accepted_by_a_person(
    flag: bool, environ: dict[str, str], answer: bool | None, accepted: bool
) -> None:
    ask = None if answer is None else lambda: answer
    assert runtimes.licence_accepted(flag, environ, ask) is accepted


def test_versions_are_pinned() -> None:
    for runtime in runtimes.WHEELS.values():
        assert all("==" in package for package in runtime.packages)


@pytest.mark.parametrize(
    ("name", "platform", "devices"),
    [("fpga-emulator", "Intel(R) FPGA Emulation", 3), ("intel-cpu", "Intel(R) OpenCL", 1)],
)
def test_an_installed_runtime_shows_its_devices_alone(
    name: str, platform: str, devices: int
) -> None:
    if not is_installed(name, INSTALLED):
        pytest.skip(f"{name} is not installed (plumb setup {name})")
    if shutil.which("clinfo") is None:
        pytest.skip("there is no clinfo")
    environ = {**os.environ, **environment(name, INSTALLED, 3)}
    done = subprocess.run(["clinfo", "-l"], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.count("Platform #") == 1
    assert platform in done.stdout
    assert done.stdout.count("Device #") == devices
