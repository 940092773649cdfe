"""Between decimal text and whole numbers of the smallest unit. Exact; refuses, never rounds."""

from __future__ import annotations

import re
from typing import Union

_DIGITS_MAX = 78  # of any 256-bit amount


def _is_places(decimals: object) -> bool:
    return isinstance(decimals, int) and not isinstance(decimals, bool) and 0 <= decimals <= _DIGITS_MAX


def to_units(decimal: str, decimals: int) -> int:
    """`to_units("1.5", 6)` is 1500000. Raises ValueError for anything but a decimal with at most `decimals` places."""
    is_text = isinstance(decimal, str) and len(decimal) <= _DIGITS_MAX + 1
    match = re.fullmatch(r"([0-9]+)(?:\.([0-9]+))?", decimal) if is_text else None
    places = (match[2] or "") if match else ""
    if match is None or not _is_places(decimals) or len(places) > decimals:
        raise ValueError(f"expected decimal text with at most {decimals} places")
    return int(match[1] + places.ljust(decimals, "0"))


def from_units(units: Union[int, str], decimals: int) -> str:
    """`from_units(1500000, 6)` is "1.5". Raises ValueError for anything but a whole number that is exact."""
    is_number = isinstance(units, int) and not isinstance(units, bool)
    is_text = isinstance(units, str) and re.fullmatch(r"-?[0-9]{1,78}", units) is not None
    if not (is_number or is_text) or not _is_places(decimals):
        raise ValueError("expected an int, or its text")
    amount = int(units)
    digits = str(abs(amount)).rjust(decimals + 1, "0")
    at = len(digits) - decimals
    places = digits[at:].rstrip("0")
    return f"{'-' if amount < 0 else ''}{digits[:at]}{'.' if places else ''}{places}"
