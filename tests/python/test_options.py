"""Command-line words against declared options."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from conftest import Plumb
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import UsageError, shortened
from plumbline.cli.app import sentence
from plumbline.cli.options import command_of
from plumbline.engine.options import Given, OptionGroup, check_pairs, value_text, whole_number
from plumbline.engine.program import OptionSpec


def option(name: str, kind: str, **more: object) -> OptionSpec:
    return OptionSpec.model_validate({"name": name, "type": kind, **more})


GROUPS = [
    OptionGroup(
        "own",
        [
            option("ranks", "integer", aliases=["-n"], minimum=1, default=2),
            option("launcher-args", "text"),
        ],
    ),
    OptionGroup(
        "benchmark",
        [
            option("min-size", "integer", minimum=0, maximum=30, unit="log2 bytes", default=0),
            option("max-size", "integer", minimum=0, maximum=30, unit="log2 bytes", aliases=["-m"]),
            option("time-limit", "number", minimum=0, unit="s"),
            option(
                "ring", "choice", choices=["natural", "random"], default="natural", help="order"
            ),
            option("skip-validation", "flag", default=False),
            option("repetitions", "integer", minimum=1, default=0),
        ],
    ),
]


def parsed(*tokens: str, groups: list[OptionGroup] = GROUPS) -> Given:
    """The request of ``plumb run`` with these arguments, or its error message."""

    def act(values: dict[str, str]) -> Given:
        check_pairs(values, groups)
        return Given(values)

    try:
        return command_of("run", groups, act)(list(tokens), "plumb run", standalone_mode=False)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(sentence(error)) from error


@pytest.mark.parametrize(
    ("unit", "text", "number"),
    [
        ("", "2048", 2048),
        ("", "2^11", 2048),
        ("", "2Ki", 2048),
        ("elements", "3Mi", 3 * 2**20),
        ("B", "2KiB", 2048),
        ("MiB", "2GiB", 2048),
        ("log2 B", "11", 11),  # in range: the exponent
        ("log2 B", "30", 30),
        ("log2 B", "31", None),  # neither
        ("log2 B", "2048", 11),  # out of range: the size
        ("log2 B", "2^11", 11),
        ("log2 B", "2^4", 4),
        ("log2 B", "2Ki", 11),
        ("log2 B", "2KiB", 11),
        ("log2", "1", 1),
        ("log2 B", "3Ki", None),
        ("log2 B", "2^31", None),
        ("elements", "2KiB", None),
        ("MiB", "2KiB", None),
        ("", "2^x", None),
        ("", "Ki", None),
        ("", "2k", None),
        ("", "2^-1", None),
    ],
)
def test_sizes_are_written_as_people_do(unit: str, text: str, number: int | None) -> None:
    """The same table is the engine's, in tests/engine/core_test.cpp."""
    high = 30 if unit.startswith("log2") else None
    size = option("size", "integer", minimum=0, maximum=high, unit=unit)
    groups = [OptionGroup("benchmark", [size])]
    if number is None:
        with pytest.raises(UsageError, match="--size"):
            parsed("--size", text, groups=groups)
    else:
        assert parsed("--size", text, groups=groups).values == {"size": text}
        assert whole_number(size, text) == number


def test_sizes_in_other_forms_are_compared() -> None:
    with pytest.raises(UsageError, match="--min-size must not exceed --max-size, but 11 > 10"):
        parsed("--min-size", "2Ki", "--max-size", "10")
    assert parsed("--min-size", "2Ki", "--max-size", "2048").values["min-size"] == "2Ki"
    assert parsed("-n", "2^2").count("ranks", 1) == 4
    assert parsed().count("ranks", 7) == 7


def test_long_values_are_not_echoed_whole(plumb: Plumb, stand_in: Path) -> None:
    for words in (
        ("run", "b_eff", "--max-size", "9" * 5000),
        ("run", "b_eff", "--ring", "x" * 5000),
        ("run", "b_eff", f"--{'x' * 5000}"),
        ("run", "x" * 5000),
        ("show", "x" * 5000),
        ("model", "x" * 5000),
    ):
        status, _, err = plumb(*words)
        assert status == 2
        assert "characters)" in err
        assert len(err) < 1000
    assert shortened("a word, " * 100) == "a word, " * 100
    assert len(shortened("a word, " * 1000)) < 2100


def test_all_ways_to_write_an_option() -> None:
    given_options = parsed(
        "-n", "4", "--min-size=3", "-m5", "--ring", "random", "--skip-validation"
    )
    assert given_options.values == {
        "ranks": "4",
        "min-size": "3",
        "max-size": "5",
        "ring": "random",
        "skip-validation": "true",
    }
    assert given_options.flag("skip-validation")
    assert not given_options.flag("ranks-x")


def test_a_text_may_look_like_an_option() -> None:
    assert parsed("--launcher-args", "--mca btl tcp").values == {"launcher-args": "--mca btl tcp"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "--max-sise 3",
            "unknown option --max-sise; did you mean --max-size? (plumb run --help shows all)",
        ),
        ("--max-size 31", "--max-size must lie between 0 and 30 (log2 bytes), not 31"),
        ("--max-size -1", "--max-size must lie between 0 and 30 (log2 bytes), not -1"),
        ("-m 2.5", "--max-size must be an integer (log2 bytes), not '2.5'"),
        ("--max-size twelve", "--max-size must be an integer (log2 bytes), not 'twelve'"),
        ("--max-size=", "--max-size must be an integer (log2 bytes), not ''"),
        ("--max-size", "option '--max-size' requires an argument"),
        ("--max-size --ring", "--max-size must be an integer (log2 bytes), not '--ring'"),
        ("-n 0", "--ranks must be at least 1, not 0"),
        ("-n 2 --ranks 3", "--ranks must be given once, not 2 times"),
        ("--time-limit inf", "--time-limit must be a number (s), not 'inf'"),
        ("--time-limit nan", "--time-limit must be a number (s), not 'nan'"),
        ("--time-limit -1", "--time-limit must be at least 0 (s), not -1"),
        (
            "--ring randm",
            "invalid value 'randm' for --ring (choose from natural, random); did you mean random?",
        ),
        ("--skip-validation=no", "option '--skip-validation' does not take a value"),
        ("--min-size 5 --max-size 4", "--min-size must not exceed --max-size, but 5 > 4"),
    ],
)
def test_bad_input_is_one_sentence(words: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        parsed(*words.split())
    assert str(refused.value).startswith(sentence)


def test_help_tells_default_unit_and_range() -> None:
    texts = {option.name: value_text(option) for group in GROUPS for option in group.options}
    assert texts["ranks"] == " [at least 1, default 2]"
    assert texts["min-size"] == " [log2 bytes, 0..30, default 0]"
    assert texts["ring"] == "order [default natural]"
    assert "default" not in texts["repetitions"]


@given(st.integers())
def test_integers_are_taken_within_their_range_only(number: int) -> None:
    if 0 <= number <= 30 or number in [2**exponent for exponent in range(31)]:
        assert parsed("--max-size", str(number)).values == {"max-size": str(number)}
    else:
        with pytest.raises(UsageError, match="must lie between 0 and 30"):
            parsed("--max-size", str(number))
    if number >= 1:
        assert parsed("-n", str(number)).count("ranks", 0) == number
    else:
        with pytest.raises(UsageError, match="must be at least 1"):
            parsed(f"--ranks={number}")


@given(st.lists(st.text(max_size=12) | st.sampled_from(["-n", "--ring", "--min-size=", "-m"])))
def test_any_words_are_parsed_or_refused_in_a_sentence(tokens: list[str]) -> None:
    with contextlib.suppress(UsageError):
        parsed(*tokens)
