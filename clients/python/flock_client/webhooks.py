"""Verifies deliveries. Standard Webhooks: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Union

_SIGNATURES_MAX = 8

_MEANS = {
    "headers": "a webhook- header is missing or malformed",
    "too_old": "too old, or this clock is ahead",
    "too_new": "too new, or this clock is behind",
    "signature": "of another secret, or altered",
    "body": "not an event",
    "parsed_body": "give the raw body. FastAPI: await request.body(); Flask: request.get_data(); Django: request.body",
}


class Verdict(NamedTuple):
    ok: bool
    #: The event; None where it is none. A newer service may send others than this version knows: let them pass.
    event: Optional[Dict[str, Any]]
    #: headers, too_old, too_new, signature, body or parsed_body; None for an event.
    reason: Optional[str]
    message: Optional[str]


def _no(reason: str) -> Verdict:
    return Verdict(False, None, reason, _MEANS[reason])


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, Any],
    secrets: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
    now: Optional[float] = None,
    ignore_timestamp: bool = False,
) -> Verdict:
    """The event of a delivery, or why it is none. `body` as it came; `secrets`: one, or all that are in use while one is
    rotated; `now`: seconds since 1970; `ignore_timestamp`: for recordings."""
    if not isinstance(body, (bytes, bytearray, str)):
        return _no("parsed_body")
    raw = body.encode() if isinstance(body, str) else bytes(body)
    lower = {str(name).lower(): value for name, value in headers.items()}
    webhook_id, moment, signatures = (lower.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not (isinstance(webhook_id, str) and isinstance(moment, str) and isinstance(signatures, str)):
        return _no("headers")
    given = signatures.split(" ")
    # A dot in the id would let a part of one field be read as another.
    if not webhook_id or "." in webhook_id or not re.fullmatch(r"[0-9]{1,12}", moment) or len(given) > _SIGNATURES_MAX:
        return _no("headers")
    age = 0.0 if ignore_timestamp else (time.time() if now is None else now) - int(moment)
    # So that a tolerance that is no number lets nothing pass.
    if not age <= tolerance_seconds:
        return _no("too_old")
    if -age > tolerance_seconds:
        return _no("too_new")
    signed = f"{webhook_id}.{moment}.".encode() + raw
    if not _is_signed(signed, given, [secrets] if isinstance(secrets, str) else secrets):
        return _no("signature")
    event = _event_of(raw)
    return Verdict(True, event, None, None) if event is not None and event.get("id") == webhook_id else _no("body")


def _is_signed(signed: bytes, given: Sequence[str], secrets: Sequence[str]) -> bool:
    for secret in secrets:
        key = _from_base64(re.sub(r"^whsec_", "", secret))
        if not key:
            continue
        wanted = hmac.new(key, signed, hashlib.sha256).digest()
        for one in given:
            claimed = _from_base64(one[3:]) if one.startswith("v1,") else None
            if claimed is not None and hmac.compare_digest(claimed, wanted):
                return True
    return False


def _from_base64(text: str) -> Optional[bytes]:
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _event_of(raw: bytes) -> Optional[Dict[str, Any]]:
    try:
        event = json.loads(raw.decode("utf-8"))
    except ValueError:
        return None
    is_event = isinstance(event, dict) and isinstance(event.get("event"), str) and isinstance(event.get("data"), dict)
    return event if is_event else None


def credit_key(event: Mapping[str, Any]) -> str:
    """What a deposit is credited by: unique in your table. A later `deposit_confirmed` of the same key, with a higher
    `incarnation`, is the same money again and credits nothing."""
    data = event["data"]
    return f"{data['chain']}:{data['txid']}:{data['outputIndex']}"
