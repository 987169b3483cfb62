"""The fields of a config.json, each refused with its name where it is missing or of the wrong kind."""

from collections.abc import Mapping
from typing import Any


class Fields:
    """A parsed config's fields, by name."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    def refuse(self, key: str, why: str) -> ValueError:
        """The error that names a field, its value and why it will not do."""
        return ValueError(f"{key} = {self.config.get(key)!r}: {why}")

    def has(self, key: str) -> bool:
        """Whether a field is there and not null."""
        return self.config.get(key) is not None

    def whole(self, key: str, default: int | None = None) -> int:
        """A positive whole number."""
        value = self.config.get(key)
        if value is None:
            if default is None:
                raise ValueError(f"{key}: missing from the config")
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.refuse(key, "must be a positive whole number")
        return value

    def none_or_whole(self, key: str) -> int | None:
        """A positive whole number, or null (or 0) for none; the field must be there."""
        if key not in self.config:
            raise ValueError(f"{key}: missing from the config")
        return None if self.config[key] in (None, 0) else self.whole(key)

    def share(self, key: str, default: float) -> float:
        """A number above 0 and at most 1."""
        value = self.config.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise self.refuse(key, "must be a number above 0 and at most 1")
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self.config.get(key, default)
        if value is None:
            raise ValueError(f"{key}: missing from the config")
        if not isinstance(value, bool):
            raise self.refuse(key, "must be true or false")
        return value

    def one_of(self, key: str, allowed: tuple[Any, ...], default: Any) -> None:
        """Refuse a variant of the architecture whose parameters would not be accounted for."""
        value = self.config.get(key, default)
        if value not in allowed:
            raise self.refuse(key, f"only {' or '.join(map(repr, allowed))} is supported for this architecture")

    def layers_in(self, key: str, layers: int) -> set[int]:
        """Layer numbers listed in a field, all of which must exist."""
        value = self.config.get(key) or []
        if not isinstance(value, list) or not all(type(i) is int and 0 <= i < layers for i in value):
            raise self.refuse(key, f"must list layers from 0 to {layers - 1}")
        return set(value)
