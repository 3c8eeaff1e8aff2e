"""Kernels of ``ceilings`` that do less than they say, or do it wrongly."""

from tests.mutants.kernel_mutants import KernelMutant, Sound

_WORDS = {
    "memory": ("--only", "memory", "--size", "16"),
    "read": ("--only", "memory/read", "--size", "16"),
    "write": ("--only", "memory/write", "--size", "16"),
    "copy": ("--only", "memory/copy", "--size", "16"),
    "flops": ("--only", "flops/float,flops/double", "--accumulators", "4096"),
    "matrix": ("--only", "flops/matrix", "--accumulators", "4096"),
    "random": ("--only", "random", "--size", "14", "--updates", "12"),
    "update": ("--only", "random/update", "--size", "14", "--updates", "12"),
    "launch": ("--only", "launch/wait,launch/row"),
    "meet": ("--only", "launch/meet"),
}
# A rank that is bound to a core has one compute unit, and a group alone always meets.
_UNITS = {"POCL_MAX_PTHREAD_COUNT": "2", "POCL_CPU_MAX_CU_COUNT": "2"}


def _mutant(name: str, words: str, old: str, new: str, device: str = "pocl") -> KernelMutant:
    file = "benchmarks/device/ceilings/ceilings.cl"
    variables = _UNITS if words == "meet" else {}
    return KernelMutant(name, file, old, new, _WORDS[words], device, variables=variables)


_RUN_END = "((get_global_id(0) + 1) * SHARE(n) < (n) ? (get_global_id(0) + 1) * SHARE(n) : (n))"
MUTANTS = [
    _mutant("every-second-word", "memory", "#define STEP 1", "#define STEP 2"),
    _mutant("half-of-a-run", "memory", "part < last; part += length", "part < last; part = last"),
    _mutant("a-run-ends-early", "memory", _RUN_END, f"({_RUN_END} - 1)"),
    _mutant("a-batch-twice", "random", "now = 1 - now", "now = 0"),
    _mutant(
        "half-of-the-updates", "random", _RUN_END, f"(FIRST(n) + SHARE(n) / 2 + 0 * {_RUN_END})"
    ),
    _mutant("sums-begin-anew", "read", "WORD sum = sums[get_global_id(0)]", "WORD sum = (WORD)(0)"),
    _mutant("first-word-read-only", "read", "sum += from[i]", "sum += from[first]"),
    _mutant("key-not-written", "write", "(WORD)(key ^ i)", "(WORD)(i)"),
    _mutant(
        "last-word-not-written",
        "write",
        "STORE((WORD)(key ^ i)",
        "if (i + 1 < words) STORE((WORD)(key ^ i)",
    ),
    _mutant(
        "copied-within-the-source", "copy", "from[i] + (WORD)(key)", "from[first] + (WORD)(key)"
    ),
    _mutant("copied-without-change", "copy", "from[i] + (WORD)(key)", "from[i]"),
    # What is written already is not done again: a work item looks at the first of its words.
    _mutant(
        "copied-already",
        "copy",
        "STORE(from[i] + (WORD)(key)",
        "if (i == first && ((__global ulong*)&to[i])[0] != 0) return; else STORE(from[i] + (WORD)(key)",
    ),
    _mutant(
        "chains-computed-already",
        "flops",
        "  REAL x[CHAINS];\n  const REAL first_factor",
        "  if (((__global const NUMBER*)&result[get_global_id(0)])[0] > 1) return;\n"
        "  REAL x[CHAINS];\n  const REAL first_factor",
    ),
    _mutant("half-of-the-pairs", "flops", "pair < pairs;", "pair < pairs / 2;"),
    _mutant("one-pair-less", "flops", "pair < pairs;", "pair + 1 < pairs;"),
    _mutant("one-chain-for-all", "flops", "x[chain] * first_factor", "x[0] * first_factor"),
    _mutant(
        "second-step-left-out",
        "flops",
        "x[chain] = x[chain] * second_factor + second_term;",
        "if (pair + 1 < pairs) x[chain] = x[chain] * second_factor + second_term;",
    ),
    _mutant("one-pair-of-products-less", "matrix", "left > 0;", "left > 1;", "cuda"),
    _mutant("half-of-the-products", "matrix", "left = pairs;", "left = pairs / 2;", "cuda"),
    _mutant(
        "all-products-into-one",
        "matrix",
        "ADD_PRODUCT(x + chain, first_a",
        "ADD_PRODUCT(x, first_a",
        "cuda",
    ),
    _mutant(
        "second-product-is-the-first",
        "matrix",
        "ADD_PRODUCT(x + chain, second_a, second_b)",
        "ADD_PRODUCT(x + chain, first_a, first_b)",
        "cuda",
    ),
    _mutant(
        "neighbours-not-random",
        "random",
        "(places)[i] = scrambled32((first) + i, bits)",
        "(places)[i] = (first) - begin + i",
    ),
    _mutant(
        "one-of-a-batch-left-out",
        "random",
        "CHANGE(&table[places[now][i]]",
        "if (i < 31) CHANGE(&table[places[now][i]]",
    ),
    _mutant("assigned-not-updated", "update", "*(pointer) ^= (value)", "*(pointer) = (value)"),
    _mutant("launch-not-counted", "launch", "counter[0] += 1", "counter[0] = 1"),
    _mutant("two-for-one", "launch", "counter[0] += 1", "counter[0] += 2", "fpga"),
    _mutant(
        "meeting-not-awaited", "meet", "(int)(acquire_device(met) - (i + 1) * groups) >= 0", "1"
    ),
    _mutant("meeting-before-awaited", "meet", "(i + 1) * groups", "i * groups"),
    _mutant("half-of-the-meetings", "meet", "i != first + meetings;", "i != first + meetings / 2;"),
    _mutant("own-value-kept", "meet", "groups + next] + 1", "groups + group] + 1"),
    _mutant("value-not-passed-on", "meet", "values[from * groups + next] + 1", "i"),
    _mutant("one-place-for-both", "meet", "const uint from = i % 2;", "const uint from = 0;"),
]
_SMALL = ("--size", "16", "--updates", "12", "--accumulators", "4096")
_NO_UNITS = ("flops/matrix_half", "flops/matrix_tf32", "flops/matrix_double")
_NO_HALF = ("flops/half", *_NO_UNITS)
_ALONE = "launch/meet"
SOUND = [
    Sound((*_SMALL, "--tables", "2"), unsupported=_NO_HALF),
    Sound(_WORDS["meet"], variables=_UNITS),
    Sound((*_SMALL, "--tables", "2"), "native", 2, unsupported=(_ALONE, *_NO_HALF)),
    Sound(("--only", "memory,random", "--size", "12", "--updates", "9"), ranks=3),
    Sound(_SMALL, "intel", unsupported=_NO_UNITS),
    Sound(_SMALL, "cuda"),
    Sound(_SMALL, "fpga", unsupported=("random/atomic/65536", _ALONE, *_NO_UNITS), soak=True),
]
