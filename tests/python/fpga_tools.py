#!/usr/bin/env python3
"""Stands in for aoc, v++ and emconfigutil (by its name): checks arguments and files, and leaves what they leave.

Names of kernels and of their pointers come from the preprocessed source. STAND_IN_VERSION is the printed version,
STAND_IN_FAIL a tool that fails, STAND_IN_HANG one that hangs, STAND_IN_KILL one that is killed, STAND_IN_HEADERS the
folder of the headers of HLS C++.
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

AOC_FLAGS = {"-fpc", "-fp-relaxed", "-no-interleaving=default", "-rtl", "-report"}
AOC_BOARDS = ("p520_hpc_sg280l", "p520_max_sg280l", "p520_hpc_m210h", "pac_s10_usm")
AOC_REPORT = """ALUTs: 176,396
Registers: 449,231
Logic utilization: 178,268 / 933,120 ( 19 % )
I/O pins: 288 / 1,064 ( 27 % )
DSP blocks: 128 / 5,760 ( 2 % )
Memory bits: 22,000,000 / 240,046,080 ( 9 % )
RAM blocks: 4,029 / 11,721 ( 34 % )
Actual clock freq: {clock}.0
Kernel fmax: {fmax}.5
1x clock fmax: 310.2
"""
VPP_VALUES = {
    "-t",
    "--platform",
    "-k",
    "--config",
    "--report_dir",
    "-o",
    "--user_ip_repo_paths",
    "--advanced.param",
}
VPP_FLAGS = {"-c", "-l", "-R2", "-O3"}
PLATFORM_BANKS = {
    "u280": {"DDR": 2, "HBM": 32, "PLRAM": 6},
    "u250": {"DDR": 4, "PLRAM": 4},
    "u55c": {"HBM": 32, "PLRAM": 6},
}


def stop(text):
    print(f"Error: {text}")
    sys.exit(1)


def in_brackets(text, pair):
    """The text before the bracket that closes."""
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == pair[0]) - (letter == pair[1])
        if depth == 0:
            return text[:at]
    return stop(f"a bracket {pair[0]} is not closed")


def preprocessed(source, language, words):
    """The source's text, by the preprocessor of a C compiler."""
    options = [word for word in words if word.startswith(("-D", "-I"))]
    done = subprocess.run(
        ["cc", "-E", "-P", "-x", language, *options, str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        stop(done.stderr)
    return done.stdout


def hls_kernel(source, words, name):
    """A function of C linkage in HLS C++: its pointers and streams. The headers are those of C simulation."""
    text = preprocessed(source, "c++", [*words, f"-I{os.environ['STAND_IN_HEADERS']}"])
    linked = "".join(
        text[found.end() : found.end() + len(in_brackets(text[found.end() :], "{}"))]
        for found in re.finditer(r'extern "C" \{', text)
    )
    linked += "".join(re.findall(r'extern "C" void[^{]*', text))
    found = re.search(rf"\bvoid\s+{name}\s*\(", linked)
    if found is None:
        stop(f"there is no kernel {name} in {source}")
    arguments = in_brackets(linked[found.end() :], "()")
    streams = re.findall(r"hls::stream<[^&]*>\s*&\s*(\w+)", arguments)
    pointers = re.findall(r"\*\s*(?:__restrict__\s+)?(\w+)\s*(?:,|$)", arguments)
    return {name: {"pointers": pointers, "banks": [], "streams": streams}}


def kernels_of(source, words):
    """Kernels of the source with their pointers to global memory."""
    text = preprocessed(source, "c", words)
    kernels = {}
    for found in re.finditer(r"__kernel[^{;]*?\bvoid\s+(\w+)\s*\(", text):
        if found[1] in kernels:
            stop(f"redefinition of {found[1]}")
        arguments = in_brackets(text[found.end() :], "()")
        banks = re.findall(r'buffer_location\("(\w+)"\)', arguments)
        plain = re.sub(r'__attribute__\(\(buffer_location\("\w+"\)\)\)', "", arguments)
        pointers = re.findall(r"__global[^,]*?(\w+)\s*(?:,|$)", plain)
        kernels[found[1]] = {"pointers": pointers, "banks": banks}
    if not kernels:
        stop(f"{source} has no kernel")
    return kernels


def elf(sections):
    """An ELF file of 64 bits with these sections."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".shstrtab"])
    body, headers, at = b"", [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)], 64
    for name, content in [*sections.items(), (".shstrtab", names)]:
        kind = 3 if name == ".shstrtab" else 1
        place = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<IIQQQQIIQQ", place, kind, 0, 0, at, len(content), 0, 0, 1, 0))
        body += content
        at += len(content)
    head = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\2\1\1",
        1,
        62,
        1,
        0,
        0,
        at,
        0,
        64,
        0,
        0,
        64,
        len(headers),
        len(headers) - 1,
    )
    return head + body + b"".join(headers)


def aocx(board, kernels):
    information = "".join(f'<kernel name="{name}"/>' for name in kernels)
    sections = {".acl.board": board.encode() + b"\0", ".acl.hash": b"0"}
    return elf({**sections, ".acl.kernel_arg_info.xml": f"<board>{information}</board>".encode()})


def aoc_options(words):
    found, rest = {}, iter(words)
    for word in rest:
        key, _, value = word.partition("=")
        if word == "-o":
            found["-o"] = next(rest)
        elif key in ("-board", "-seed", "-march"):
            found[key] = value
        elif not (re.fullmatch(r"-D\w+(=\w+)?|-I.*", word) or word in AOC_FLAGS):
            stop(f"invalid option {word}")
    return found


def aoc(words):
    if words == ["-version"]:
        print("Intel(R) FPGA SDK for OpenCL(TM), 64-Bit Offline Compiler")
        print(f"Version {os.environ['STAND_IN_VERSION']} Build 64 Pro Edition")
        return
    source, given = Path(words[0]), aoc_options(words[1:])
    board, march = given.get("-board"), given.get("-march")
    if source.suffix != ".cl" or "-o" not in given or (board is None) == (march is None):
        stop("usage: aoc SRC.cl ... -board=B | -march=emulator|simulator -o OUT")
    if march not in (None, "emulator", "simulator"):
        stop(f"unknown -march={march}")
    if board not in (None, *AOC_BOARDS):
        stop(f"unknown board {board}")
    output = Path(given["-o"])
    output.write_bytes(aocx(board or march, kernels_of(source, words)))
    if board and "-rtl" not in words:
        output.with_suffix("").mkdir(exist_ok=True)
        extra = int(given.get("-seed", 0)) * 7 % 5
        report = AOC_REPORT.format(clock=300 + extra, fmax=301 + extra)
        (output.with_suffix("") / "acl_quartus_report.txt").write_text(report)


def options_of(words):
    found, rest = {"words": [], "configs": []}, iter(words)
    for word in rest:
        if word in VPP_VALUES:
            found[word] = next(rest)
            found["configs"] += [Path(found[word])] if word == "--config" else []
        elif word in VPP_FLAGS or re.fullmatch(r"-D\w+(=\w+)?", word) or word.startswith("-I"):
            continue
        elif word.startswith("-"):
            stop(f"invalid option {word}")
        else:
            found["words"].append(word)
    return found


def vpp(words):
    if words == ["--version"]:
        print(f"\n****** v++ v{os.environ['STAND_IN_VERSION']} (64-bit)")
        return
    given = options_of(words)
    if given.get("-t") not in ("sw_emu", "hw_emu", "hw") or not given.get(
        "--platform", ""
    ).startswith("xilinx_"):
        stop("-t and --platform are needed")
    reports = Path(given["--report_dir"])
    reports.mkdir(parents=True, exist_ok=True)
    if "-c" in words:
        compile_kernel(words, given, reports)
    else:
        link(words, given, reports)


def compile_kernel(words, given, reports):
    for line in Path(given["--config"]).read_text().splitlines():
        if not re.fullmatch(
            r"#.*|\[hls\]|kernel_frequency=\d+(\.\d+)?|max_memory_ports=all|", line
        ):
            stop(f"invalid line of the configuration: {line}")
    (source,) = given["words"]
    if Path(source).suffix == ".cpp":
        kernels = hls_kernel(source, words, given["-k"])
    else:
        kernels = kernels_of(source, words)
    if given["-k"] not in kernels:
        stop(f"there is no kernel {given['-k']} among {', '.join(kernels)}")
    Path(given["-o"]).write_text(json.dumps({"kernel": given["-k"], **kernels[given["-k"]]}))
    (reports / f"{given['-k']}_csynth.xml").write_text(
        f"<profile><UserAssignments><TopModelName>{given['-k']}</TopModelName></UserAssignments><PerformanceEstimates><SummaryOfTimingAnalysis>"
        "<EstimatedClockPeriod>2.433</EstimatedClockPeriod></SummaryOfTimingAnalysis></PerformanceEstimates><AreaEstimates><Resources>"
        "<BRAM_18K>88</BRAM_18K><DSP>80</DSP><FF>17968</FF><LUT>9296</LUT><URAM>0</URAM></Resources></AreaEstimates></profile>"
    )


def count_copies(value, objects, copies):
    separator = "," if float(os.environ["STAND_IN_VERSION"]) >= 2024 else "."
    kernel, count, names = value.split(":")
    if kernel not in objects:
        stop(f"nk: there is no object of {kernel}")
    if len(names.split(separator)) != int(count):
        stop(f"nk: {count} names joined by {separator} are needed: {names}")
    copies.update(dict.fromkeys(names.split(separator), kernel))


def connect(value, objects, copies, connected, banks):
    name, bank = value.split(":", 1)
    copy, argument = name.split(".")
    found = re.fullmatch(r"(\w+)\[(\d+)(?::(\d+))?\]", bank)
    if copy not in copies or argument not in objects[copies[copy]]["pointers"] or found is None:
        stop(f"sp: {value}")
    if int(found[3] or found[2]) >= banks.get(found[1], 0):
        stop(f"sp: the platform has no bank {bank}")
    connected.setdefault(copy, set()).add(argument)


def connectivity(path):
    """Keys and values of the section [connectivity]."""
    section = ""
    for line in path.read_text().splitlines():
        key, _, value = line.partition("=")
        if line.startswith("["):
            section = line
        elif line and not line.startswith("#"):
            if section != "[connectivity]" or key not in ("nk", "slr", "sp", "stream_connect"):
                stop(f"invalid line of the configuration: {line}")
            yield key, value


def join(value, objects, copies, joined):
    ends = [tuple(end.split(".")) for end in value.split(":")[:2]]
    if len(ends) != 2 or not {copy for copy, _ in ends} <= set(copies):
        stop(f"stream_connect: {value}")
    for copy, port in ends:
        streams = objects[copies[copy]].get("streams")
        if streams is not None and port not in streams:
            stop(f"stream_connect: {copy} has no stream {port}")
        joined.setdefault(copy, set()).add(port)


def complete(copy, kernel, connected, joined):
    if connected != set(kernel["pointers"]):
        stop(f"{copy}: arguments without a bank")
    if joined < set(kernel.get("streams") or ()):
        stop(f"{copy}: streams without another end")


def extras(given):
    """A repository of cores and a script that runs after the system is linked."""
    cores, parameter = given.get("--user_ip_repo_paths"), given.get("--advanced.param")
    if cores is not None and not Path(cores).is_dir():
        stop(f"user_ip_repo_paths: there is no {cores}")
    if parameter is not None:
        key, _, script = parameter.partition("=")
        if key != "compiler.userPostSysLinkOverlayTcl" or not Path(script).is_file():
            stop(f"advanced.param: {parameter}")


def link(words, given, reports):
    objects = {}
    for path in given["words"]:
        content = json.loads(Path(path).read_text())
        objects[content["kernel"]] = content
    banks = next(have for name, have in PLATFORM_BANKS.items() if name in given["--platform"])
    copies, connected, joined = {}, {}, {}
    extras(given)
    for key, value in (line for path in given["configs"] for line in connectivity(path)):
        if key == "nk":
            count_copies(value, objects, copies)
        elif key == "sp":
            connect(value, objects, copies, connected, banks)
        elif key == "stream_connect":
            join(value, objects, copies, joined)
        elif value.split(":")[0] not in copies or not re.fullmatch(r"\w+:SLR[0-3]", value):
            stop(f"slr: {value}")
    for copy, kernel in copies.items():
        complete(copy, objects[kernel], connected.get(copy, set()), joined.get(copy, set()))
    if set(copies.values()) != set(objects):
        stop("an object has no copy")
    Path(given["-o"]).write_bytes(
        xclbin(given["--platform"], [f"{kernel}:{copy}" for copy, kernel in copies.items()])
    )
    (reports / "kernel_util_routed.rpt").write_text(
        "+--------------------+------------------+------------------+--------------+-------------+-------------+\n"
        "| Name               | LUT              | REG              | BRAM         | URAM        | DSP         |\n"
        "+--------------------+------------------+------------------+--------------+-------------+-------------+\n"
        "| Platform           | 164361 [ 12.62%] | 279284 [ 10.72%] | 202 [10.02%] | 0 [ 0.00%]  | 10 [ 0.11%] |\n"
        "| User Budget        | 1138359 [100.00%]| 2328076 [100.0%] | 1814 [100.0%]| 960 [100.0%]| 9014 [100.0%] |\n"
        "|    Used Resources  | 20832 [  1.83%]  | 39002 [  1.68%]  | 558 [ 30.7%] | 0 [ 0.00%]  | 160 [ 1.78%] |\n"
        "|    Unused Resources| 1117527 [ 98.1%] | 2289074 [ 98.3%] | 1256 [ 69.2%]| 960 [100.0%]| 8854 [98.2%] |\n"
    )


def xclbin(platform, copies):
    """axlf with the sections IP_LAYOUT and CLOCK_FREQ_TOPOLOGY (XRT's xclbin.h)."""
    layout = struct.pack("<i4x", len(copies)) + b"".join(
        struct.pack("<IIQ64s", 1, 0, 0, copy.encode()) for copy in copies
    )
    clocks = struct.pack("<h", 1) + struct.pack("<HB5x128s", 300, 1, b"DATA_CLK")
    sections = [(8, layout), (11, clocks)]
    at = 456 + 40 * len(sections)
    table = b""
    for kind, content in sections:
        table += struct.pack("<I16s4xQQ", kind, b"", at, len(content))
        at += len(content)
    header = struct.pack(
        "<QQQHBBHH16s64s16s16sI4x",
        at,
        0,
        0,
        0,
        2,
        1,
        0,
        0,
        b"",
        platform.encode(),
        b"",
        b"",
        len(sections),
    )
    return (
        struct.pack("<8si28s256sQ", b"xclbin2", -1, b"", b"", 0) + header + table + layout + clocks
    )


def emconfigutil(words):
    if len(words) != 4 or words[0] != "-f" or words[2] != "--od":
        stop("usage: emconfigutil -f PLATFORM --od FOLDER")
    (Path(words[3]) / "emconfig.json").write_text(json.dumps({"Platform": words[1]}))


def main():
    tool, words = Path(sys.argv[0]).name, sys.argv[1:]
    asked = words and "version" in words[0]
    if os.environ.get("STAND_IN_FAIL") == tool and not asked:
        print("first line\nInternal error: the fitter gave up")
        sys.exit(5)
    if os.environ.get("STAND_IN_HANG") == tool and not asked:
        print("place and route", flush=True)
        time.sleep(600)
    if os.environ.get("STAND_IN_KILL") == tool and not asked:
        os.kill(os.getpid(), signal.SIGKILL)
    {"aoc": aoc, "v++": vpp, "emconfigutil": emconfigutil}[tool](words)


if __name__ == "__main__":
    main()
