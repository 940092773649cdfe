"""Runs cases of the behaviour suite with `flock_client` as it is installed: a JSON line in, a JSON line out."""

import asyncio
import inspect
import os
import json
import re
import sys
import traceback

from flock_client import Clock, Flock, FlockError
from flock_client.units import from_units, to_units
from flock_client.webhooks import credit_key, verify_webhook

#: The asynchronous client, by the same cases.
IS_ASYNC = os.environ.get("FLOCK_ASYNC") == "1"
if IS_ASYNC:
    from flock_client.aio import AsyncFlock

NOW = 1_700_000_000.0
NAMES = {"basePath": None, "baseUrl": "base_url", "apiKey": "api_key", "pagesMax": "pages_max"}
#: What no JSON has.
STAND_FOR = {"$lone": "a\ud800b", "$nan": float("nan")}
SECONDS = {"timeoutMs": "timeout", "deadlineMs": "deadline"}


def snake(name):
    words = re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)
    return f"{words}_" if words == "from" else words


class CaseClock(Clock):
    def __init__(self, chance):
        self.passed = 0.0
        self.chance = chance
        self.waits = []

    def now(self):
        return NOW + self.passed

    def random(self):
        return self.chance

    def sleep(self, seconds):
        self.waits.append(round(seconds * 1_000))
        self.passed += seconds

    async def sleep_async(self, seconds):
        self.sleep(seconds)


def meant(value):
    if isinstance(value, dict):
        return {name: meant(one) for name, one in value.items()}
    if isinstance(value, list):
        return [meant(one) for one in value]
    return STAND_FOR.get(value, value) if isinstance(value, str) else value


def verified(verify):
    body = verify["body"]
    given = json.loads(body) if verify.get("as") == "parsed" else body.encode() if verify.get("as") == "bytes" else body
    options = verify["options"]
    how = {"now": options["now"] / 1_000}
    for name in ("toleranceSeconds", "ignoreTimestamp"):
        if name in options:
            how[snake(name)] = options[name]
    verdict = verify_webhook(given, verify["headers"], verify["secrets"], **how)
    if not verdict.ok:
        return {"reason": verdict.reason}
    key = {"creditKey": credit_key(verdict.event)} if "txid" in verdict.event["data"] else {}
    return {"event": verdict.event, **key}


def converted(units):
    try:
        return {"value": str(to_units(*units["to"])) if "to" in units else from_units(*units["from"])}
    except ValueError:
        return {"refused": True}


async def asked(flock, name, how, case, result):
    async with flock:
        if case["call"].get("all"):
            result["items"] = []
            rows = getattr(flock, f"{name}_all")(**how)
            try:
                async for row in rows:
                    result["items"].append(row)
                    if len(result["items"]) == case["call"].get("take"):
                        break
            finally:
                await rows.aclose()
        else:
            for _ in range(case.get("calls", 1)):
                result["value"] = await getattr(flock, name)(**how)


def called(run, case):
    call = case["call"]
    clock = CaseClock(case.get("random", 0))
    settings = {"base_url": run["base"], "api_key": "loc_test_" + "a" * 39, "clock": clock}
    for name, value in case.get("options", {}).items():
        if name == "basePath":
            settings["base_url"] += value
        elif name in SECONDS:
            settings[SECONDS[name]] = value / 1_000
        else:
            settings[NAMES.get(name, name)] = value
    result = {}
    try:
        flock = (AsyncFlock if IS_ASYNC else Flock)(**settings)
        how = {snake(name): value for name, value in call["args"].items()}
        if "idempotencyKey" in call:
            how["idempotency_key"] = call["idempotencyKey"]
        if "timeoutMs" in call:
            how["timeout"] = call["timeoutMs"] / 1_000
        name = snake(call["operation"])
        if IS_ASYNC:
            result["shown"] = repr(flock) + str(flock)
            asyncio.run(asked(flock, name, how, case, result))
        elif call.get("all"):
            result["items"] = []
            for row in getattr(flock, f"{name}_all")(**how):
                result["items"].append(row)
                if len(result["items"]) == call.get("take"):
                    break
        else:
            for _ in range(case.get("calls", 1)):
                result["value"] = getattr(flock, name)(**how)
        result["shown"] = repr(flock) + str(flock)
    except FlockError as error:
        result["error"] = {
            "code": error.code,
            "message": str(error),
            "status": error.status,
            "details": error.details,
            "requestId": error.request_id,
            "retryAfter": error.retry_after,
            "attempts": error.attempts,
            "idempotencyKey": error.idempotency_key,
            "docUrl": error.doc_url,
        }
        result["shown"] = repr(error) + str(error) + repr(vars(error)) + traceback.format_exc()
    return {**result, "waits": clock.waits}


for line in sys.stdin:
    run = json.loads(line)
    case = meant(run["case"])
    try:
        if "verify" in case:
            result = verified(case["verify"])
        elif "units" in case:
            result = converted(case["units"])
        else:
            result = called(run, case)
    except Exception:
        result = {"crashed": traceback.format_exc()}
    print(json.dumps({"n": run["n"], **result}), flush=True)
