"""A first integration in Python: an endpoint, an address, a deposit. Writes what the receiver needs to know."""

import json
import os

from flock_client import Flock

flock = Flock(os.environ["EDGE"], os.environ["KEY"], expect="sandbox")
webhook = flock.create_webhook(url=os.environ["HOOK"], events=["deposit_confirmed"])
address = flock.create_address(chain="eth", user_ref="customer-é 42")
rows = [row["id"] for row in flock.list_addresses_all(user_ref="customer-é 42", size=1)]
flock.simulate_deposit(chain="eth", address=address["address"], amount="0.5", auto_confirm=True)
print(json.dumps({"secret": webhook["secret"], "address": address, "rows": rows}))
