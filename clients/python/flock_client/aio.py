"""The asynchronous client; it needs `httpx`: `pip install flock-client[async]`."""

from ._async_methods import AsyncFlock

__all__ = ["AsyncFlock"]
