"""Verifies a delivery of standard input, as a receiver in Python does."""

import json
import sys

from flock_client.webhooks import credit_key, verify_webhook

given = json.load(sys.stdin)
verdict = verify_webhook(given["body"].encode(), given["headers"], given["secret"])
print(json.dumps({"ok": verdict.ok, "reason": verdict.reason, "key": credit_key(verdict.event) if verdict.event else None}))
