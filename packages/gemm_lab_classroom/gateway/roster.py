"""The people who may use a server: the names of a class, with a token for each.

The roster is a text or CSV file with one name per line, in the first column. Each name gets a token when the server
first reads it. The token is shown once; only its SHA-256 hash is kept, in a file next to the roster that only its owner
can read. If a name is removed from the roster, its token becomes invalid. If its line is removed from the file of
hashes, it gets a new token at the next start.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from gpu_runner.transport.server_link import readable
from gpu_simulator.errors import ConfigError

HEADINGS = {"name", "names", "student", "students"}
MOST_NAME, MOST_NAMES = 60, 5000


class Roster:
    """Names with the hashes of their tokens. `new` has the tokens that were just created, by name, to be shown once."""

    def __init__(self, hashes: dict[str, str], new: dict[str, str] | None = None) -> None:
        self._hashes, self.new = hashes, new or {}

    @property
    def names(self) -> list[str]:
        """The names of all people with a token."""
        return list(self._hashes)

    def name_of(self, token: str) -> str | None:
        """The name of the person with this token, or None. A wrong token takes as long as a right one."""
        given, found = _hash(token), None
        for name, kept in self._hashes.items():
            if hmac.compare_digest(kept, given):
                found = name
        return found

    @classmethod
    def of_one(cls, name: str) -> Roster:
        """A roster of one person, whose token is valid until the server ends."""
        token = _new_token()
        return cls({name: _hash(token)}, {name: token})

    @classmethod
    def read(cls, path: Path) -> Roster:
        """Read a roster and the hashes next to it, and create tokens for new names.

        Raises `ConfigError` if a file cannot be read or written.
        """
        names = names_of(path)
        kept_at = path.with_name(path.name + ".tokens")
        kept = _kept(kept_at)
        new = {name: _new_token() for name in names if name not in kept}
        hashes = {name: _hash(new[name]) if name in new else kept[name] for name in names}
        if hashes != kept:
            _write(kept_at, hashes)
        return cls(hashes, new)


def names_of(path: Path) -> list[str]:
    """The names in a roster file, without its heading and blank lines.

    Raises `ConfigError` if the file cannot be read, has no names or too many, or has a name twice.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"The roster {path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    names = [readable(row[0], MOST_NAME) for row in rows if row and row[0].strip()]
    names = names[1:] if names and names[0].casefold() in HEADINGS else names
    twice = sorted({name for name in names if names.count(name) > 1}) if len(names) <= MOST_NAMES else []
    if not names or len(names) > MOST_NAMES:
        raise ConfigError(
            f"The roster {path} has {len(names):,} names; it should have one a line, {MOST_NAMES:,} at most."
        )
    if twice:
        raise ConfigError(f"The roster {path} has {twice[0]} twice; give each student a name of their own.")
    return names


def _kept(path: Path) -> dict[str, str]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The tokens in {path} cannot be read ({error}); without the file, everybody gets new ones."
        ) from None
    if not isinstance(facts, dict) or not all(isinstance(item, str) for item in facts.values()):
        raise ConfigError(f"{path} is no file of tokens; without it, everybody gets a new one.")
    return facts


def _write(path: Path, hashes: dict[str, str]) -> None:
    """Replace the file atomically. Other users can never read it."""
    made = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        made.unlink(missing_ok=True)
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(hashes, file, indent=1, ensure_ascii=False)
            file.write("\n")
        os.replace(made, path)
    except OSError as error:
        raise ConfigError(f"The tokens cannot be kept in {path}: {error.strerror}.") from None


def tokens_in_words(roster: Roster) -> Iterable[str]:
    """A line of text for each new token."""
    return (f"{name}: GEMM_LAB_TOKEN={token}" for name, token in roster.new.items())


def _new_token() -> str:
    return secrets.token_urlsafe(24)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
