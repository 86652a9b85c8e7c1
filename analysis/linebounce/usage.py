"""Messages for a wrong command line, in the words of the C++ commands (commands/command_line.cpp). argparse's own name
neither legal values nor similar options."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from linebounce.errors import alternatives, nearest, not_known


class Once(argparse.Action):
    """Stores a value, as argparse does by default, but refuses a second one for the same option."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        given: set[str] = parser.__dict__.setdefault("given", set())
        if option_string and self.dest in given:
            parser.error(f"{self.option_strings[-1]} is given more than once; give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def path(text: str) -> Path:
    """The type of an option that names a file or folder. An empty name would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the value is empty")
    return Path(text)


def output_file(what: str, *endings: str) -> Callable[[str], Path]:
    """The type of an option that names a file to write. Refuses a folder, and a name that ends otherwise than its content:
    names without an ending, devices and "-" pass. `what`: the content, "a page". As Option::output_file() in
    commands/common/command.cpp."""

    def read(text: str) -> Path:
        file = path(text)
        if file.is_dir():
            raise argparse.ArgumentTypeError(f"{file}: this is a folder; give a file")
        is_device = file.exists() and not file.is_file()
        if file.suffix and not is_device and file.suffix not in endings:
            raise argparse.ArgumentTypeError(f"{file}: the name of {what} ends in {alternatives(endings)}")
        return file

    return read


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """The type of an option whose value is a whole number of this range."""
    legal = f"{least} or more" if most is None else f"{least} to {most}"

    def read(text: str) -> int:
        if not re.fullmatch("-?[0-9]+", text):
            raise argparse.ArgumentTypeError(f'"{text}" is not a whole number; legal: {legal}')
        if int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"{text} is out of range; legal: {legal}")
        return int(text)

    return read


def reworded(parser: argparse.ArgumentParser, message: str) -> str:
    """The message of argparse in our words; as it is if none of the rules fits."""
    for pattern, words in _RULES.items():
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return words(parser, *found.groups())
    return message


def require_owners(parser: argparse.ArgumentParser, parsed: argparse.Namespace, owners: Mapping[str, Sequence[str]]) -> None:
    """Refuses an option that has no effect because none of the options to which it belongs is given. `owners`: by the
    option's name in `parsed`."""
    for name, needed in owners.items():
        if _is_given(parsed, name) and not any(_is_given(parsed, one) for one in needed):
            parser.error(f"{_option(parser, name)} needs {' or '.join(_option(parser, one) for one in needed)}")


def _is_given(parsed: argparse.Namespace, name: str) -> bool:
    value = getattr(parsed, name)
    return value is not None and value is not False and value not in ([], "")  # 0 is given


def _option(parser: argparse.ArgumentParser, name: str) -> str:
    """The option as it is typed, in its long form."""
    return next(action.option_strings[-1] for action in parser._actions if action.dest == name)


def _action(parser: argparse.ArgumentParser, name: str) -> argparse.Action | None:
    return next((action for action in parser._actions if name in ("/".join(action.option_strings), action.metavar)), None)


def _typed(name: str) -> str:
    """ "-o/--output" as "--output"."""
    return name.rpartition("/")[2] if name.startswith("-") else name


def _unexpected(parser: argparse.ArgumentParser, arguments: str) -> str:
    argument = arguments.split(" ", maxsplit=1)[0]
    if not argument.startswith("-"):
        expected = _EXPECTED.get(parser.prog.split(" ")[-1], "")
        return f'unexpected argument "{argument}"' + (f"; {expected}" if expected else "")
    name = argument.partition("=")[0]
    if instead := _instead(parser, name):
        return f"there is no option {name}: {instead}"
    near = nearest(name, [option for action in parser._actions for option in action.option_strings])
    return f"there is no option {name}" + (f"; did you mean {near}?" if near else "")


def _several(_parser: argparse.ArgumentParser, name: str, options: str) -> str:
    return f"there is no option {name}; did you mean {alternatives(options.split(', '))}?"


def _no_value(parser: argparse.ArgumentParser, name: str) -> str:
    action = _action(parser, name)
    value = (action.metavar or "|".join(action.choices or ())) if action else ""
    return f"{_typed(name)} needs a value: {_typed(name)} {value}".rstrip()


def _wrong_choice(parser: argparse.ArgumentParser, name: str, value: str) -> str:
    action = _action(parser, name)
    return f"{_typed(name)}: {not_known(value, list((action and action.choices) or ()))}"


def _required(_parser: argparse.ArgumentParser, names: str) -> str:
    missing = [_typed(name) for name in names.split(", ")]
    return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} required"


def _exclusive(_parser: argparse.ArgumentParser, one: str, other: str) -> str:
    return f"{_typed(other)} and {_typed(one)} exclude each other; give one of them"


def _takes_none(_parser: argparse.ArgumentParser, name: str) -> str:
    return f"{_typed(name)} takes no value"


def _own(_parser: argparse.ArgumentParser, name: str, text: str) -> str:
    return f"{_typed(name)}: {text}"


# Other tools' options, and options that users try first, with the one to type instead; by the command's last word.
_FOREIGN: dict[str, dict[str, str]] = {
    "report": {
        "--format": "a report is one HTML file; --figures DIR also writes every chart as SVG and PNG",
        "--point": "give the point's directory: linebounce report DIR/points/N",
    },
    "sweep": {"-j": "--workers N says how many run at the same time", "--jobs": "--workers N"},
    "export": {"-o": "--perfetto FILE names the file", "--output": "--perfetto FILE names the file"},
    "teach": {"--list": "--json lists the lessons"},
}
_EXPECTED: dict[str, str] = {
    "gate": "the versions are --base OLD --head NEW",
    "teach": "a lesson is --lesson N, in the terminal; --serve shows all",
}


def _instead(parser: argparse.ArgumentParser, name: str) -> str:
    return _FOREIGN.get(parser.prog.split(" ")[-1], {}).get(name, "")


# From argparse's messages to ours; the first that fits is taken.
_RULES: dict[str, Callable[..., str]] = {
    r"unrecognized arguments: (.*)": _unexpected,
    r"ambiguous option: (\S+) could match (.*)": _several,
    r"argument (\S+): expected .*argument.*": _no_value,
    r"argument (\S+): invalid choice: '(.*)' \(choose from .*\)": _wrong_choice,
    r"argument (\S+): not allowed with argument (\S+)": _exclusive,
    r"argument (\S+): ignored explicit argument .*": _takes_none,
    r"argument (\S+): (.*)": _own,
    r"the following arguments are required: (.*)": _required,
}
