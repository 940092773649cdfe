"""A receiver on FastAPI: `uvicorn fastapi_receiver:app`. FLOCK_SECRETS: all secrets in use, apart by blanks; DATABASE_URL has
the table of `table.sql`."""

import os

import anyio
import psycopg2.pool
from fastapi import FastAPI, Request, Response
from flock_client.webhooks import credit_key, verify_webhook

CONNECTIONS = 8
SECRETS = os.environ["FLOCK_SECRETS"].split(" ")
POOL = psycopg2.pool.ThreadedConnectionPool(1, CONNECTIONS, os.environ["DATABASE_URL"])

#: The newest word about a deposit stands, however often and in whatever order its events come.
STORE = """
    insert into deposits (credit_key, incarnation, is_reversed, chain, token_contract, user_ref, address, amount)
    values (%s, %s, %s, %s, %s, %s, %s, %s)
    on conflict (credit_key) do update set incarnation = excluded.incarnation, is_reversed = excluded.is_reversed
    where (deposits.incarnation, deposits.is_reversed) < (excluded.incarnation, excluded.is_reversed)"""

app = FastAPI()
limiter = None


def store(event):
    """Returns once the event is on disk."""
    data = event["data"]
    row = [data[name] for name in ("chain", "tokenContract", "userRef", "address", "amount")]
    connection = POOL.getconn()
    try:
        with connection, connection.cursor() as cursor:
            is_reversed = event["event"] == "deposit_reversed"
            cursor.execute(STORE, [credit_key(event), data["incarnation"], is_reversed, *row])
    finally:
        POOL.putconn(connection, close=bool(connection.closed))


@app.on_event("startup")
async def start():
    global limiter
    limiter = anyio.CapacityLimiter(CONNECTIONS)  # the pool refuses whoever finds it empty


@app.post("/hooks")
async def hooks(request: Request):
    # The raw body: a parameter that FastAPI parses could not be verified any more.
    verdict = verify_webhook(await request.body(), request.headers, SECRETS)
    if not verdict.ok:
        return Response(verdict.message, 401)
    if verdict.event["event"] in ("deposit_confirmed", "deposit_reversed"):
        # What it raises was not stored: FastAPI answers 500, and the delivery is sent again.
        await anyio.to_thread.run_sync(store, verdict.event, limiter=limiter)
    return Response(status_code=204)
