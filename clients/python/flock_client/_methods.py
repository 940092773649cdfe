# Made by `npm run -s clients`: changes are lost.
from __future__ import annotations

from typing import Any, Dict, Generator, List, Literal, Optional, Union, cast

from . import types
from ._core import UNSET, Core, Operation


class Flock(Core):
    """A method for each operation. Those with `idempotency_key` are safe to repeat: without one of yours a UUID is made
    for all attempts of the call. Arguments that are not given are not sent; None is sent as null. `timeout` and
    `deadline` are seconds of one attempt and of the whole call."""

    def create_address(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        user_ref: str,
        tag: Union[str, None] = UNSET,
        label: Union[str, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Address:
        """Issue a deposit address."""
        _operation = Operation("createAddress", "POST", "/v1/addresses", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "userRef": user_ref,
            "tag": tag,
            "label": label,
        }
        return cast(types.Address, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_addresses(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        user_ref: str = UNSET,
        tag: str = UNSET,
        status: Literal["active", "archived"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.AddressPage:
        """List addresses, newest first."""
        _operation = Operation("listAddresses", "GET", "/v1/addresses", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "chain": chain,
            "userRef": user_ref,
            "tag": tag,
            "status": status,
        }
        return cast(types.AddressPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_addresses_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        user_ref: str = UNSET,
        tag: str = UNSET,
        status: Literal["active", "archived"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Address, None, None]:
        """Rows of all pages, the next page when it is needed: List addresses, newest first."""
        _operation = Operation("listAddresses", "GET", "/v1/addresses", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "chain": chain,
            "userRef": user_ref,
            "tag": tag,
            "status": status,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_address(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Address:
        """Read one address."""
        _operation = Operation("getAddress", "GET", "/v1/addresses/{id}", "")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Address, self._call(_operation, _arguments, None, timeout, deadline))

    def archive_address(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Address:
        """Archive an address: its deposits are recorded and announce nothing."""
        _operation = Operation("archiveAddress", "POST", "/v1/addresses/{id}/archive", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Address, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def unarchive_address(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Address:
        """Make an archived address active again."""
        _operation = Operation("unarchiveAddress", "POST", "/v1/addresses/{id}/unarchive", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Address, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def create_trustline(
        self,
        *,
        address: str,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        asset: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Built:
        """Build the opt-in of an address to an issued asset."""
        _operation = Operation("createTrustline", "POST", "/v1/addresses/{address}/trustlines", "kb")
        _arguments: Dict[str, Any] = {
            "address": address,
            "chain": chain,
            "asset": asset,
        }
        return cast(types.Built, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_balances(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        user_ref: str = UNSET,
        tag: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BalancePage:
        """Native balances of issued addresses."""
        _operation = Operation("listBalances", "GET", "/v1/balances", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "chain": chain,
            "userRef": user_ref,
            "tag": tag,
        }
        return cast(types.BalancePage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_balances_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        user_ref: str = UNSET,
        tag: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Balance, None, None]:
        """Rows of all pages, the next page when it is needed: Native balances of issued addresses."""
        _operation = Operation("listBalances", "GET", "/v1/balances", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "chain": chain,
            "userRef": user_ref,
            "tag": tag,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_balance(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        address: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Balance:
        """Native balance of one address."""
        _operation = Operation("getBalance", "GET", "/v1/balances/{chain}/{address}", "")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "address": address,
        }
        return cast(types.Balance, self._call(_operation, _arguments, None, timeout, deadline))

    def get_token_balance(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        address: str,
        token: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Balance:
        """Token balance of one address."""
        _operation = Operation("getTokenBalance", "GET", "/v1/balances/{chain}/{address}/tokens/{token}", "")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "address": address,
            "token": token,
        }
        return cast(types.Balance, self._call(_operation, _arguments, None, timeout, deadline))

    def get_fees(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        from_: str = UNSET,
        to: str = UNSET,
        amount: str = UNSET,
        token_contract: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Fee:
        """What a transfer would cost now."""
        _operation = Operation("getFees", "GET", "/v1/fees/{chain}", "")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "from": from_,
            "to": to,
            "amount": amount,
            "tokenContract": token_contract,
        }
        return cast(types.Fee, self._call(_operation, _arguments, None, timeout, deadline))

    def list_transactions(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        user_ref: str = UNSET,
        tag: str = UNSET,
        status: Literal["detected", "confirmed", "reversed", "built", "signing", "broadcast", "confirming", "failed", "replaced", "expired"] = UNSET,
        direction: Literal["in", "out"] = UNSET,
        kind: Literal["withdrawal", "sweep"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TransactionPage:
        """List deposits and withdrawals, newest first."""
        _operation = Operation("listTransactions", "GET", "/v1/transactions", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "chain": chain,
            "userRef": user_ref,
            "tag": tag,
            "status": status,
            "direction": direction,
            "kind": kind,
        }
        return cast(types.TransactionPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_transactions_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        user_ref: str = UNSET,
        tag: str = UNSET,
        status: Literal["detected", "confirmed", "reversed", "built", "signing", "broadcast", "confirming", "failed", "replaced", "expired"] = UNSET,
        direction: Literal["in", "out"] = UNSET,
        kind: Literal["withdrawal", "sweep"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Transaction, None, None]:
        """Rows of all pages, the next page when it is needed: List deposits and withdrawals, newest first."""
        _operation = Operation("listTransactions", "GET", "/v1/transactions", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "chain": chain,
            "userRef": user_ref,
            "tag": tag,
            "status": status,
            "direction": direction,
            "kind": kind,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_transaction(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Transaction:
        """Read one deposit or withdrawal."""
        _operation = Operation("getTransaction", "GET", "/v1/transactions/{id}", "")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Transaction, self._call(_operation, _arguments, None, timeout, deadline))

    def get_timeline(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Timeline:
        """What happened to one deposit or withdrawal, step by step, and what was published of it."""
        _operation = Operation("getTimeline", "GET", "/v1/transactions/{id}/timeline", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Timeline, self._call(_operation, _arguments, None, timeout, deadline))

    def build_transaction(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        from_: str,
        to: str,
        amount: str,
        token_contract: Union[str, None] = UNSET,
        chain_tag: Union[str, None] = UNSET,
        payment_ref: Union[str, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Built:
        """Build an unsigned transaction; nothing is signed, and nothing is held but coins: its counter is bound at the broadcast."""
        _operation = Operation("buildTransaction", "POST", "/v1/transactions/unsigned", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "from": from_,
            "to": to,
            "amount": amount,
            "tokenContract": token_contract,
            "chainTag": chain_tag,
            "paymentRef": payment_ref,
        }
        return cast(types.Built, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def reprice_transaction(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Built:
        """Price a built transaction anew."""
        _operation = Operation("repriceTransaction", "PATCH", "/v1/transactions/unsigned/{id}", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Built, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def broadcast_transaction(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Transaction:
        """Sign at the edge and broadcast."""
        _operation = Operation("broadcastTransaction", "POST", "/v1/transactions/{id}/broadcast", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Transaction, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def search(
        self,
        *,
        q: str = UNSET,
        txid: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SearchResult:
        """Find an address, transaction, event or delivery by its id, its text, a userRef or how a label begins."""
        _operation = Operation("search", "GET", "/v1/search", "c")
        _arguments: Dict[str, Any] = {
            "q": q,
            "txid": txid,
        }
        return cast(types.SearchResult, self._call(_operation, _arguments, None, timeout, deadline))

    def list_events(
        self,
        *,
        size: int = UNSET,
        since: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EventsList:
        """Events as they were published, in that order and without a gap, whatever endpoints there are."""
        _operation = Operation("listEvents", "GET", "/v1/events", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "since": since,
        }
        return cast(types.EventsList, self._call(_operation, _arguments, None, timeout, deadline))

    def get_event(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EventRecord:
        """One event with its body as it was signed, and its deliveries."""
        _operation = Operation("getEvent", "GET", "/v1/events/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.EventRecord, self._call(_operation, _arguments, None, timeout, deadline))

    def create_webhook(
        self,
        *,
        url: str,
        events: List[Literal["deposit_detected", "deposit_confirmed", "deposit_reversed", "address_activated", "withdrawal_broadcast", "withdrawal_confirmed", "withdrawal_failed", "edge_offline", "edge_online", "identity_rotation_detected", "pool_low", "funding_wallet_low", "payment_detected", "payment_confirmed", "payment_underpaid", "payment_late", "payment_reversed", "payment_unmatched", "payment_link_created", "payment_link_closed", "sweep_completed", "sweep_paused", "bridge_completed", "bridge_stalled"]],
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WebhookCreated:
        """Register an endpoint; its secret is shown once."""
        _operation = Operation("createWebhook", "POST", "/v1/webhooks", "kb")
        _arguments: Dict[str, Any] = {
            "url": url,
            "events": events,
        }
        return cast(types.WebhookCreated, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_webhooks(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WebhookPage:
        """List endpoints."""
        _operation = Operation("listWebhooks", "GET", "/v1/webhooks", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.WebhookPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_webhooks_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Webhook, None, None]:
        """Rows of all pages, the next page when it is needed: List endpoints."""
        _operation = Operation("listWebhooks", "GET", "/v1/webhooks", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def list_deliveries(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["pending", "delivered", "failed", "dead_lettered", "held"] = UNSET,
        event: Literal["deposit_detected", "deposit_confirmed", "deposit_reversed", "address_activated", "withdrawal_broadcast", "withdrawal_confirmed", "withdrawal_failed", "edge_offline", "edge_online", "identity_rotation_detected", "pool_low", "funding_wallet_low", "payment_detected", "payment_confirmed", "payment_underpaid", "payment_late", "payment_reversed", "payment_unmatched", "payment_link_created", "payment_link_closed", "sweep_completed", "sweep_paused", "bridge_completed", "bridge_stalled"] = UNSET,
        webhook_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.DeliveryPage:
        """List deliveries with every attempt, newest first."""
        _operation = Operation("listDeliveries", "GET", "/v1/webhooks/deliveries", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "status": status,
            "event": event,
            "webhookId": webhook_id,
        }
        return cast(types.DeliveryPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_deliveries_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["pending", "delivered", "failed", "dead_lettered", "held"] = UNSET,
        event: Literal["deposit_detected", "deposit_confirmed", "deposit_reversed", "address_activated", "withdrawal_broadcast", "withdrawal_confirmed", "withdrawal_failed", "edge_offline", "edge_online", "identity_rotation_detected", "pool_low", "funding_wallet_low", "payment_detected", "payment_confirmed", "payment_underpaid", "payment_late", "payment_reversed", "payment_unmatched", "payment_link_created", "payment_link_closed", "sweep_completed", "sweep_paused", "bridge_completed", "bridge_stalled"] = UNSET,
        webhook_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Delivery, None, None]:
        """Rows of all pages, the next page when it is needed: List deliveries with every attempt, newest first."""
        _operation = Operation("listDeliveries", "GET", "/v1/webhooks/deliveries", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "status": status,
            "event": event,
            "webhookId": webhook_id,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def list_dead_letters(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.DeliveryPage:
        """List deliveries that used up their ladder."""
        _operation = Operation("listDeadLetters", "GET", "/v1/webhooks/deliveries/dead-letters", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.DeliveryPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_dead_letters_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Delivery, None, None]:
        """Rows of all pages, the next page when it is needed: List deliveries that used up their ladder."""
        _operation = Operation("listDeadLetters", "GET", "/v1/webhooks/deliveries/dead-letters", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def replay_deliveries(
        self,
        *,
        from_: str,
        to: str,
        webhook_id: str = UNSET,
        event: Literal["deposit_detected", "deposit_confirmed", "deposit_reversed", "address_activated", "withdrawal_broadcast", "withdrawal_confirmed", "withdrawal_failed", "edge_offline", "edge_online", "identity_rotation_detected", "pool_low", "funding_wallet_low", "payment_detected", "payment_confirmed", "payment_underpaid", "payment_late", "payment_reversed", "payment_unmatched", "payment_link_created", "payment_link_closed", "sweep_completed", "sweep_paused", "bridge_completed", "bridge_stalled"] = UNSET,
        dry_run: bool = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ReplayRange:
        """Count, then replay, the deliveries of a time range."""
        _operation = Operation("replayDeliveries", "POST", "/v1/webhooks/deliveries/replay", "kb")
        _arguments: Dict[str, Any] = {
            "from": from_,
            "to": to,
            "webhookId": webhook_id,
            "event": event,
            "dryRun": dry_run,
        }
        return cast(types.ReplayRange, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def replay_delivery(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Replayed:
        """Deliver an event once more."""
        _operation = Operation("replayDelivery", "POST", "/v1/webhooks/deliveries/{id}/replay", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Replayed, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def get_webhook(
        self,
        *,
        webhook_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Webhook:
        """Read one endpoint."""
        _operation = Operation("getWebhook", "GET", "/v1/webhooks/{webhookId}", "")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
        }
        return cast(types.Webhook, self._call(_operation, _arguments, None, timeout, deadline))

    def replace_webhook(
        self,
        *,
        webhook_id: str,
        url: str,
        events: List[Literal["deposit_detected", "deposit_confirmed", "deposit_reversed", "address_activated", "withdrawal_broadcast", "withdrawal_confirmed", "withdrawal_failed", "edge_offline", "edge_online", "identity_rotation_detected", "pool_low", "funding_wallet_low", "payment_detected", "payment_confirmed", "payment_underpaid", "payment_late", "payment_reversed", "payment_unmatched", "payment_link_created", "payment_link_closed", "sweep_completed", "sweep_paused", "bridge_completed", "bridge_stalled"]],
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Webhook:
        """Replace an endpoint; a disabled one is enabled again."""
        _operation = Operation("replaceWebhook", "PUT", "/v1/webhooks/{webhookId}", "kb")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
            "url": url,
            "events": events,
        }
        return cast(types.Webhook, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def delete_webhook(
        self,
        *,
        webhook_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Webhook:
        """Stop an endpoint at once; its history is kept."""
        _operation = Operation("deleteWebhook", "DELETE", "/v1/webhooks/{webhookId}", "k")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
        }
        return cast(types.Webhook, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def rotate_webhook_secret(
        self,
        *,
        webhook_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WebhookCreated:
        """Make a new secret; deliveries carry both signatures until the previous one is dropped."""
        _operation = Operation("rotateWebhookSecret", "POST", "/v1/webhooks/{webhookId}/secret", "k")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
        }
        return cast(types.WebhookCreated, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def drop_previous_webhook_secret(
        self,
        *,
        webhook_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Webhook:
        """End the rotation of a secret."""
        _operation = Operation("dropPreviousWebhookSecret", "DELETE", "/v1/webhooks/{webhookId}/secret/previous", "k")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
        }
        return cast(types.Webhook, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def test_webhook(
        self,
        *,
        webhook_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WebhookTest:
        """Post a signed test event to an endpoint, then one with a broken signature, which it must refuse."""
        _operation = Operation("testWebhook", "POST", "/v1/webhooks/{webhookId}/test", "k")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
        }
        return cast(types.WebhookTest, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_webhook_deliveries(
        self,
        *,
        webhook_id: str,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["pending", "delivered", "failed", "dead_lettered", "held"] = UNSET,
        event: Literal["deposit_detected", "deposit_confirmed", "deposit_reversed", "address_activated", "withdrawal_broadcast", "withdrawal_confirmed", "withdrawal_failed", "edge_offline", "edge_online", "identity_rotation_detected", "pool_low", "funding_wallet_low", "payment_detected", "payment_confirmed", "payment_underpaid", "payment_late", "payment_reversed", "payment_unmatched", "payment_link_created", "payment_link_closed", "sweep_completed", "sweep_paused", "bridge_completed", "bridge_stalled"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.DeliveryPage:
        """Attempt history of one endpoint."""
        _operation = Operation("listWebhookDeliveries", "GET", "/v1/webhooks/{webhookId}/deliveries", "")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
            "page": page,
            "size": size,
            "after": after,
            "status": status,
            "event": event,
        }
        return cast(types.DeliveryPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_webhook_deliveries_all(
        self,
        *,
        webhook_id: str,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["pending", "delivered", "failed", "dead_lettered", "held"] = UNSET,
        event: Literal["deposit_detected", "deposit_confirmed", "deposit_reversed", "address_activated", "withdrawal_broadcast", "withdrawal_confirmed", "withdrawal_failed", "edge_offline", "edge_online", "identity_rotation_detected", "pool_low", "funding_wallet_low", "payment_detected", "payment_confirmed", "payment_underpaid", "payment_late", "payment_reversed", "payment_unmatched", "payment_link_created", "payment_link_closed", "sweep_completed", "sweep_paused", "bridge_completed", "bridge_stalled"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Delivery, None, None]:
        """Rows of all pages, the next page when it is needed: Attempt history of one endpoint."""
        _operation = Operation("listWebhookDeliveries", "GET", "/v1/webhooks/{webhookId}/deliveries", "")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
            "size": size,
            "after": after,
            "status": status,
            "event": event,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_edge_health(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EdgeHealth:
        """Liveness probe."""
        _operation = Operation("getEdgeHealth", "GET", "/v1/edge/health", "")
        _arguments: Dict[str, Any] = {}
        return cast(types.EdgeHealth, self._call(_operation, _arguments, None, timeout, deadline))

    def get_edge_lease(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Lease:
        """Lease state and epoch."""
        _operation = Operation("getEdgeLease", "GET", "/v1/edge/lease", "")
        _arguments: Dict[str, Any] = {}
        return cast(types.Lease, self._call(_operation, _arguments, None, timeout, deadline))

    def get_edge_outbox(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Outbox:
        """Depth of the leader's outbox."""
        _operation = Operation("getEdgeOutbox", "GET", "/v1/edge/outbox", "")
        _arguments: Dict[str, Any] = {}
        return cast(types.Outbox, self._call(_operation, _arguments, None, timeout, deadline))

    def get_edge_readiness(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ReadinessPage:
        """Readiness of each chain."""
        _operation = Operation("getEdgeReadiness", "GET", "/v1/edge/readiness", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.ReadinessPage, self._call(_operation, _arguments, None, timeout, deadline))

    def get_edge_readiness_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Readiness, None, None]:
        """Rows of all pages, the next page when it is needed: Readiness of each chain."""
        _operation = Operation("getEdgeReadiness", "GET", "/v1/edge/readiness", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def list_edge_sessions(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SessionPage:
        """Sessions with role, liveness and epoch."""
        _operation = Operation("listEdgeSessions", "GET", "/v1/edge/sessions", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.SessionPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_edge_sessions_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Session, None, None]:
        """Rows of all pages, the next page when it is needed: Sessions with role, liveness and epoch."""
        _operation = Operation("listEdgeSessions", "GET", "/v1/edge/sessions", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def list_gas_tanks(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.GasTankPage:
        """Gas tank address of each chain."""
        _operation = Operation("listGasTanks", "GET", "/v1/edge/gas-tanks", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.GasTankPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_gas_tanks_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[Any, None, None]:
        """Rows of all pages, the next page when it is needed: Gas tank address of each chain."""
        _operation = Operation("listGasTanks", "GET", "/v1/edge/gas-tanks", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def mint_local_key(
        self,
        *,
        label: str,
        expires_at: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.LocalKeyCreated:
        """Mint a local key, shown once; asked again it mints another."""
        _operation = Operation("mintLocalKey", "POST", "/v1/edge/keys", "be")
        _arguments: Dict[str, Any] = {
            "label": label,
            "expiresAt": expires_at,
        }
        return cast(types.LocalKeyCreated, self._call(_operation, _arguments, None, timeout, deadline))

    def list_local_keys(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.LocalKeyPage:
        """List local keys, newest first."""
        _operation = Operation("listLocalKeys", "GET", "/v1/edge/keys", "e")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.LocalKeyPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_local_keys_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.LocalKey, None, None]:
        """Rows of all pages, the next page when it is needed: List local keys, newest first."""
        _operation = Operation("listLocalKeys", "GET", "/v1/edge/keys", "e")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def revoke_local_key(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.LocalKeyRevoked:
        """Revoke a local key, and every key that it minted, on every replica."""
        _operation = Operation("revokeLocalKey", "DELETE", "/v1/edge/keys/{id}", "e")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.LocalKeyRevoked, self._call(_operation, _arguments, None, timeout, deadline))

    def list_chains(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ChainPage:
        """All chains, with what is enabled and ready."""
        _operation = Operation("listChains", "GET", "/v1/chains", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.ChainPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_chains_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.ChainView, None, None]:
        """Rows of all pages, the next page when it is needed: All chains, with what is enabled and ready."""
        _operation = Operation("listChains", "GET", "/v1/chains", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_coverage(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Coverage:
        """Heights that are done, unresolved heights, lag."""
        _operation = Operation("getCoverage", "GET", "/v1/chains/{chain}/coverage", "")
        _arguments: Dict[str, Any] = {
            "chain": chain,
        }
        return cast(types.Coverage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_tokens(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        version: int = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenPage:
        """Token catalogue: of the version in force, or of another that was published."""
        _operation = Operation("listTokens", "GET", "/v1/treasury/tokens", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "version": version,
        }
        return cast(types.TokenPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_tokens_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        version: int = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.TokenEntry, None, None]:
        """Rows of all pages, the next page when it is needed: Token catalogue: of the version in force, or of another that was published."""
        _operation = Operation("listTokens", "GET", "/v1/treasury/tokens", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "version": version,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def create_payment_link(
        self,
        *,
        mode: Literal["fixed", "donation"],
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        asset: str,
        amount: Union[str, None] = UNSET,
        threshold_amount: Union[str, None] = UNSET,
        min_amount: Union[str, None] = UNSET,
        max_amount: Union[str, None] = UNSET,
        address_mode: Union[Literal["per_payer", "shared"], None] = UNSET,
        closes_at: Union[str, None] = UNSET,
        max_uses: Union[int, None] = UNSET,
        slug: Union[str, None] = UNSET,
        title: Union[str, None] = UNSET,
        description: Union[str, None] = UNSET,
        collect_email: Union[bool, None] = UNSET,
        success_url: Union[str, None] = UNSET,
        metadata: Union[Dict[str, Any], None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Link:
        """Create a payment link."""
        _operation = Operation("createPaymentLink", "POST", "/v1/payments/links", "kb")
        _arguments: Dict[str, Any] = {
            "mode": mode,
            "chain": chain,
            "asset": asset,
            "amount": amount,
            "thresholdAmount": threshold_amount,
            "minAmount": min_amount,
            "maxAmount": max_amount,
            "addressMode": address_mode,
            "closesAt": closes_at,
            "maxUses": max_uses,
            "slug": slug,
            "title": title,
            "description": description,
            "collectEmail": collect_email,
            "successUrl": success_url,
            "metadata": metadata,
        }
        return cast(types.Link, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_payment_links(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["active", "paused", "closed"] = UNSET,
        mode: Literal["fixed", "donation"] = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        slug: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.LinkPage:
        """List payment links, newest first."""
        _operation = Operation("listPaymentLinks", "GET", "/v1/payments/links", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "status": status,
            "mode": mode,
            "chain": chain,
            "slug": slug,
        }
        return cast(types.LinkPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_payment_links_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["active", "paused", "closed"] = UNSET,
        mode: Literal["fixed", "donation"] = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        slug: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Link, None, None]:
        """Rows of all pages, the next page when it is needed: List payment links, newest first."""
        _operation = Operation("listPaymentLinks", "GET", "/v1/payments/links", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "status": status,
            "mode": mode,
            "chain": chain,
            "slug": slug,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_payment_link(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Link:
        """Read one payment link."""
        _operation = Operation("getPaymentLink", "GET", "/v1/payments/links/{id}", "")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Link, self._call(_operation, _arguments, None, timeout, deadline))

    def change_payment_link(
        self,
        *,
        id: str,
        title: Union[str, None] = UNSET,
        description: Union[str, None] = UNSET,
        success_url: Union[str, None] = UNSET,
        collect_email: Union[bool, None] = UNSET,
        min_amount: Union[str, None] = UNSET,
        max_amount: Union[str, None] = UNSET,
        threshold_amount: Union[str, None] = UNSET,
        closes_at: Union[str, None] = UNSET,
        max_uses: Union[int, None] = UNSET,
        metadata: Union[Dict[str, Any], None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Link:
        """Change a payment link; what it asks for, and where, stays."""
        _operation = Operation("changePaymentLink", "PATCH", "/v1/payments/links/{id}", "kb")
        _arguments: Dict[str, Any] = {
            "id": id,
            "title": title,
            "description": description,
            "successUrl": success_url,
            "collectEmail": collect_email,
            "minAmount": min_amount,
            "maxAmount": max_amount,
            "thresholdAmount": threshold_amount,
            "closesAt": closes_at,
            "maxUses": max_uses,
            "metadata": metadata,
        }
        return cast(types.Link, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def pause_payment_link(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Link:
        """Take no new payments; those that are open go on."""
        _operation = Operation("pausePaymentLink", "POST", "/v1/payments/links/{id}/pause", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Link, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def resume_payment_link(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Link:
        """Take new payments again."""
        _operation = Operation("resumePaymentLink", "POST", "/v1/payments/links/{id}/resume", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Link, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def close_payment_link(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Link:
        """Close a payment link for ever; what comes late is still credited."""
        _operation = Operation("closePaymentLink", "POST", "/v1/payments/links/{id}/close", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Link, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_link_payments(
        self,
        *,
        id: str,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["awaiting_payment", "detected", "underpaid", "confirmed", "late", "expired"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentPage:
        """Payments towards a link, newest first."""
        _operation = Operation("listLinkPayments", "GET", "/v1/payments/links/{id}/payments", "")
        _arguments: Dict[str, Any] = {
            "id": id,
            "page": page,
            "size": size,
            "after": after,
            "status": status,
        }
        return cast(types.PaymentPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_link_payments_all(
        self,
        *,
        id: str,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["awaiting_payment", "detected", "underpaid", "confirmed", "late", "expired"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Payment, None, None]:
        """Rows of all pages, the next page when it is needed: Payments towards a link, newest first."""
        _operation = Operation("listLinkPayments", "GET", "/v1/payments/links/{id}/payments", "")
        _arguments: Dict[str, Any] = {
            "id": id,
            "size": size,
            "after": after,
            "status": status,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def list_link_invoices(
        self,
        *,
        id: str,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.InvoicePage:
        """Invoices of a link, newest first."""
        _operation = Operation("listLinkInvoices", "GET", "/v1/payments/links/{id}/invoices", "")
        _arguments: Dict[str, Any] = {
            "id": id,
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.InvoicePage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_link_invoices_all(
        self,
        *,
        id: str,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Invoice, None, None]:
        """Rows of all pages, the next page when it is needed: Invoices of a link, newest first."""
        _operation = Operation("listLinkInvoices", "GET", "/v1/payments/links/{id}/invoices", "")
        _arguments: Dict[str, Any] = {
            "id": id,
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def list_invoices(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.InvoicePage:
        """Invoices of the account, newest first."""
        _operation = Operation("listInvoices", "GET", "/v1/payments/invoices", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.InvoicePage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_invoices_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Invoice, None, None]:
        """Rows of all pages, the next page when it is needed: Invoices of the account, newest first."""
        _operation = Operation("listInvoices", "GET", "/v1/payments/invoices", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_invoice(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Invoice:
        """Read one invoice."""
        _operation = Operation("getInvoice", "GET", "/v1/payments/invoices/{id}", "")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Invoice, self._call(_operation, _arguments, None, timeout, deadline))

    def resend_invoice(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ResentInvoice:
        """Make another link of an invoice and mail it; the one before stops working. Five times an hour."""
        _operation = Operation("resendInvoice", "POST", "/v1/payments/invoices/{id}/resend", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.ResentInvoice, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_payments(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["awaiting_payment", "detected", "underpaid", "confirmed", "late", "expired"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentPage:
        """Payments of the account towards all of its links, newest first."""
        _operation = Operation("listPayments", "GET", "/v1/payments", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "status": status,
        }
        return cast(types.PaymentPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_payments_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        status: Literal["awaiting_payment", "detected", "underpaid", "confirmed", "late", "expired"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Payment, None, None]:
        """Rows of all pages, the next page when it is needed: Payments of the account towards all of its links, newest first."""
        _operation = Operation("listPayments", "GET", "/v1/payments", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "status": status,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_payment(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Payment:
        """Read one payment with its transfers."""
        _operation = Operation("getPayment", "GET", "/v1/payments/{id}", "")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Payment, self._call(_operation, _arguments, None, timeout, deadline))

    def get_payment_readiness(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentsReadinessPage:
        """Each checkout chain: whether it is ready, from which amount on it is worth it, and what is open."""
        _operation = Operation("getPaymentReadiness", "GET", "/v1/payments/readiness", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.PaymentsReadinessPage, self._call(_operation, _arguments, None, timeout, deadline))

    def get_payment_readiness_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[Any, None, None]:
        """Rows of all pages, the next page when it is needed: Each checkout chain: whether it is ready, from which amount on it is worth it, and what is open."""
        _operation = Operation("getPaymentReadiness", "GET", "/v1/payments/readiness", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_payment_settings(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentSettings:
        """Whether payments are taken, and what payers see."""
        _operation = Operation("getPaymentSettings", "GET", "/v1/settings/payments", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.PaymentSettings, self._call(_operation, _arguments, None, timeout, deadline))

    def put_payment_settings(
        self,
        *,
        active: bool,
        display_name: Union[str, None] = UNSET,
        support_email: Union[str, None] = UNSET,
        support_url: Union[str, None] = UNSET,
        origins: Union[List[str], None] = UNSET,
        tolerance_bps: Union[int, None] = UNSET,
        time_zone: Union[str, None] = UNSET,
        language: Union[str, None] = UNSET,
        invoice: Union[Dict[str, Any], None] = UNSET,
        totp: str = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentSettings:
        """Replace them; other origins of a live account need a fresh second factor."""
        _operation = Operation("putPaymentSettings", "PUT", "/v1/settings/payments", "kbc")
        _arguments: Dict[str, Any] = {
            "active": active,
            "displayName": display_name,
            "supportEmail": support_email,
            "supportUrl": support_url,
            "origins": origins,
            "toleranceBps": tolerance_bps,
            "timeZone": time_zone,
            "language": language,
            "invoice": invoice,
            "totp": totp,
        }
        return cast(types.PaymentSettings, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def get_checkout_link(
        self,
        *,
        slug: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.CheckoutLink:
        """What a payer sees of a link; opens nothing."""
        _operation = Operation("getCheckoutLink", "GET", "/v1/checkout/links/{slug}", "c")
        _arguments: Dict[str, Any] = {
            "slug": slug,
        }
        return cast(types.CheckoutLink, self._call(_operation, _arguments, None, timeout, deadline))

    def open_checkout_session(
        self,
        *,
        slug: str,
        email: Union[str, None] = UNSET,
        name: Union[str, None] = UNSET,
        lang: Union[str, None] = UNSET,
        identity_fingerprint: Union[str, None] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentsSession:
        """Open a payment towards a fixed link; the open one of the same payer is answered with 200."""
        _operation = Operation("openCheckoutSession", "POST", "/v1/checkout/links/{slug}/sessions", "bc")
        _arguments: Dict[str, Any] = {
            "slug": slug,
            "email": email,
            "name": name,
            "lang": lang,
            "identityFingerprint": identity_fingerprint,
        }
        return cast(types.PaymentsSession, self._call(_operation, _arguments, None, timeout, deadline))

    def donate(
        self,
        *,
        slug: str,
        email: Union[str, None] = UNSET,
        name: Union[str, None] = UNSET,
        lang: Union[str, None] = UNSET,
        identity_fingerprint: Union[str, None] = UNSET,
        amount: Union[str, None] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentsSession:
        """Open a donation: an address for this donor, or the one of a shared link."""
        _operation = Operation("donate", "POST", "/v1/checkout/links/{slug}/donate", "bc")
        _arguments: Dict[str, Any] = {
            "slug": slug,
            "email": email,
            "name": name,
            "lang": lang,
            "identityFingerprint": identity_fingerprint,
            "amount": amount,
        }
        return cast(types.PaymentsSession, self._call(_operation, _arguments, None, timeout, deadline))

    def get_checkout_session(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PaymentsSession:
        """What a payer sees of a payment."""
        _operation = Operation("getCheckoutSession", "GET", "/v1/checkout/sessions/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.PaymentsSession, self._call(_operation, _arguments, None, timeout, deadline))

    def create_treasury_wallet(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        source: Literal["derived", "external"],
        address: Union[str, None] = UNSET,
        label: Union[str, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Wallet:
        """Register where sweeps go: a derived wallet at M/1/1, or an address of your own."""
        _operation = Operation("createTreasuryWallet", "POST", "/v1/treasury/wallets", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "source": source,
            "address": address,
            "label": label,
        }
        return cast(types.Wallet, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_treasury_wallets(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WalletPage:
        """Treasury wallets."""
        _operation = Operation("listTreasuryWallets", "GET", "/v1/treasury/wallets", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.WalletPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_treasury_wallets_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Wallet, None, None]:
        """Rows of all pages, the next page when it is needed: Treasury wallets."""
        _operation = Operation("listTreasuryWallets", "GET", "/v1/treasury/wallets", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_treasury_wallet_balances(
        self,
        *,
        id: str,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WalletBalancePage:
        """Native coin and every catalogued token of a treasury wallet; all of them are read, or none is reported."""
        _operation = Operation("getTreasuryWalletBalances", "GET", "/v1/treasury/wallets/{id}/balances", "")
        _arguments: Dict[str, Any] = {
            "id": id,
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.WalletBalancePage, self._call(_operation, _arguments, None, timeout, deadline))

    def get_treasury_wallet_balances_all(
        self,
        *,
        id: str,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Balance, None, None]:
        """Rows of all pages, the next page when it is needed: Native coin and every catalogued token of a treasury wallet; all of them are read, or none is reported."""
        _operation = Operation("getTreasuryWalletBalances", "GET", "/v1/treasury/wallets/{id}/balances", "")
        _arguments: Dict[str, Any] = {
            "id": id,
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def create_funding_wallet(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        label: Union[str, None] = UNSET,
        low_balance: Union[str, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.FundingWallet:
        """Look after the gas tank of a chain: its balance, and how many sweeps it still pays for."""
        _operation = Operation("createFundingWallet", "POST", "/v1/treasury/funding-wallets", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "label": label,
            "lowBalance": low_balance,
        }
        return cast(types.FundingWallet, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_funding_wallets(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.FundingWalletPage:
        """Gas tanks that are looked after."""
        _operation = Operation("listFundingWallets", "GET", "/v1/treasury/funding-wallets", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.FundingWalletPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_funding_wallets_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.FundingWallet, None, None]:
        """Rows of all pages, the next page when it is needed: Gas tanks that are looked after."""
        _operation = Operation("listFundingWallets", "GET", "/v1/treasury/funding-wallets", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def create_sweep_policy(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        treasury_wallet_id: str,
        token: Union[str, None] = UNSET,
        enabled: bool = UNSET,
        trigger_mode: Literal["THRESHOLD", "SCHEDULE", "THRESHOLD_AND_SCHEDULE", "MANUAL"] = UNSET,
        min_amount: Union[str, None] = UNSET,
        schedule_cron: Union[str, None] = UNSET,
        schedule_time_zone: str = UNSET,
        gas_funding_mode: Union[Literal["FUNDING_WALLET", "SELF", "FEE_PAYER"], None] = UNSET,
        funding_wallet_id: Union[str, None] = UNSET,
        dust_floor: str = UNSET,
        max_fee_ratio_bps: Union[int, None] = UNSET,
        abort_if_gas_exceeds: Union[str, None] = UNSET,
        pause_on_consecutive_failures: int = UNSET,
        retain_gas_float: int = UNSET,
        close_token_accounts: bool = UNSET,
        energy: Union[Literal["BURN", "DELEGATE"], None] = UNSET,
        preview_hash: Union[str, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Policy:
        """Say what of a chain and token is swept, when, and to which treasury wallet."""
        _operation = Operation("createSweepPolicy", "POST", "/v1/treasury/sweeps/policies", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "token": token,
            "enabled": enabled,
            "triggerMode": trigger_mode,
            "minAmount": min_amount,
            "scheduleCron": schedule_cron,
            "scheduleTimeZone": schedule_time_zone,
            "treasuryWalletId": treasury_wallet_id,
            "gasFundingMode": gas_funding_mode,
            "fundingWalletId": funding_wallet_id,
            "dustFloor": dust_floor,
            "maxFeeRatioBps": max_fee_ratio_bps,
            "abortIfGasExceeds": abort_if_gas_exceeds,
            "pauseOnConsecutiveFailures": pause_on_consecutive_failures,
            "retainGasFloat": retain_gas_float,
            "closeTokenAccounts": close_token_accounts,
            "energy": energy,
            "previewHash": preview_hash,
        }
        return cast(types.Policy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_sweep_policies(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PolicyPage:
        """Sweep policies, one for a chain and token."""
        _operation = Operation("listSweepPolicies", "GET", "/v1/treasury/sweeps/policies", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.PolicyPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_sweep_policies_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Policy, None, None]:
        """Rows of all pages, the next page when it is needed: Sweep policies, one for a chain and token."""
        _operation = Operation("listSweepPolicies", "GET", "/v1/treasury/sweeps/policies", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_sweep_policy(
        self,
        *,
        policy_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Policy:
        """Read one policy."""
        _operation = Operation("getSweepPolicy", "GET", "/v1/treasury/sweeps/policies/{policyId}", "")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
        }
        return cast(types.Policy, self._call(_operation, _arguments, None, timeout, deadline))

    def replace_sweep_policy(
        self,
        *,
        policy_id: str,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        treasury_wallet_id: str,
        token: Union[str, None] = UNSET,
        enabled: bool = UNSET,
        trigger_mode: Literal["THRESHOLD", "SCHEDULE", "THRESHOLD_AND_SCHEDULE", "MANUAL"] = UNSET,
        min_amount: Union[str, None] = UNSET,
        schedule_cron: Union[str, None] = UNSET,
        schedule_time_zone: str = UNSET,
        gas_funding_mode: Union[Literal["FUNDING_WALLET", "SELF", "FEE_PAYER"], None] = UNSET,
        funding_wallet_id: Union[str, None] = UNSET,
        dust_floor: str = UNSET,
        max_fee_ratio_bps: Union[int, None] = UNSET,
        abort_if_gas_exceeds: Union[str, None] = UNSET,
        pause_on_consecutive_failures: int = UNSET,
        retain_gas_float: int = UNSET,
        close_token_accounts: bool = UNSET,
        energy: Union[Literal["BURN", "DELEGATE"], None] = UNSET,
        preview_hash: Union[str, None] = UNSET,
        version: Union[int, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Policy:
        """Replace the settings of a policy; its chain and token stay."""
        _operation = Operation("replaceSweepPolicy", "PUT", "/v1/treasury/sweeps/policies/{policyId}", "kb")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
            "chain": chain,
            "token": token,
            "enabled": enabled,
            "triggerMode": trigger_mode,
            "minAmount": min_amount,
            "scheduleCron": schedule_cron,
            "scheduleTimeZone": schedule_time_zone,
            "treasuryWalletId": treasury_wallet_id,
            "gasFundingMode": gas_funding_mode,
            "fundingWalletId": funding_wallet_id,
            "dustFloor": dust_floor,
            "maxFeeRatioBps": max_fee_ratio_bps,
            "abortIfGasExceeds": abort_if_gas_exceeds,
            "pauseOnConsecutiveFailures": pause_on_consecutive_failures,
            "retainGasFloat": retain_gas_float,
            "closeTokenAccounts": close_token_accounts,
            "energy": energy,
            "previewHash": preview_hash,
            "version": version,
        }
        return cast(types.Policy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def delete_sweep_policy(
        self,
        *,
        policy_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Policy:
        """End a policy."""
        _operation = Operation("deleteSweepPolicy", "DELETE", "/v1/treasury/sweeps/policies/{policyId}", "k")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
        }
        return cast(types.Policy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def pause_sweep_policy(
        self,
        *,
        policy_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Policy:
        """Begin no cycle of a policy until it is resumed."""
        _operation = Operation("pauseSweepPolicy", "POST", "/v1/treasury/sweeps/policies/{policyId}/pause", "k")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
        }
        return cast(types.Policy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def resume_sweep_policy(
        self,
        *,
        policy_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Policy:
        """Resume a paused policy; failed cycles count from zero."""
        _operation = Operation("resumeSweepPolicy", "POST", "/v1/treasury/sweeps/policies/{policyId}/resume", "k")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
        }
        return cast(types.Policy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def preview_sweep(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        token: Union[str, None] = UNSET,
        enabled: bool = UNSET,
        trigger_mode: Literal["THRESHOLD", "SCHEDULE", "THRESHOLD_AND_SCHEDULE", "MANUAL"] = UNSET,
        min_amount: Union[str, None] = UNSET,
        schedule_cron: Union[str, None] = UNSET,
        schedule_time_zone: str = UNSET,
        treasury_wallet_id: Union[str, None] = UNSET,
        gas_funding_mode: Union[Literal["FUNDING_WALLET", "SELF", "FEE_PAYER"], None] = UNSET,
        funding_wallet_id: Union[str, None] = UNSET,
        dust_floor: str = UNSET,
        max_fee_ratio_bps: Union[int, None] = UNSET,
        abort_if_gas_exceeds: Union[str, None] = UNSET,
        pause_on_consecutive_failures: int = UNSET,
        retain_gas_float: int = UNSET,
        close_token_accounts: bool = UNSET,
        energy: Union[Literal["BURN", "DELEGATE"], None] = UNSET,
        page: int = UNSET,
        size: int = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SweepsPreview:
        """What a policy of these settings would take now and what it would skip, and the hash that enables it."""
        _operation = Operation("previewSweep", "POST", "/v1/treasury/sweeps/preview", "b")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "token": token,
            "enabled": enabled,
            "triggerMode": trigger_mode,
            "minAmount": min_amount,
            "scheduleCron": schedule_cron,
            "scheduleTimeZone": schedule_time_zone,
            "treasuryWalletId": treasury_wallet_id,
            "gasFundingMode": gas_funding_mode,
            "fundingWalletId": funding_wallet_id,
            "dustFloor": dust_floor,
            "maxFeeRatioBps": max_fee_ratio_bps,
            "abortIfGasExceeds": abort_if_gas_exceeds,
            "pauseOnConsecutiveFailures": pause_on_consecutive_failures,
            "retainGasFloat": retain_gas_float,
            "closeTokenAccounts": close_token_accounts,
            "energy": energy,
            "page": page,
            "size": size,
        }
        return cast(types.SweepsPreview, self._call(_operation, _arguments, None, timeout, deadline))

    def run_sweep_policy(
        self,
        *,
        policy_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PolicyRun:
        """Sweep now, in whatever mode the policy is, disabled too."""
        _operation = Operation("runSweepPolicy", "POST", "/v1/treasury/sweeps/policies/{policyId}/run", "k")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
        }
        return cast(types.PolicyRun, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_sweep_jobs(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        policy_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.JobPage:
        """Sweep jobs, newest first."""
        _operation = Operation("listSweepJobs", "GET", "/v1/treasury/sweeps/jobs", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "policyId": policy_id,
        }
        return cast(types.JobPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_sweep_jobs_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        policy_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Job, None, None]:
        """Rows of all pages, the next page when it is needed: Sweep jobs, newest first."""
        _operation = Operation("listSweepJobs", "GET", "/v1/treasury/sweeps/jobs", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "policyId": policy_id,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_sweep_job(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.JobWhole:
        """One job with its operations."""
        _operation = Operation("getSweepJob", "GET", "/v1/treasury/sweeps/jobs/{id}", "")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.JobWhole, self._call(_operation, _arguments, None, timeout, deadline))

    def retry_sweep_job(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Job:
        """Run failed operations again, never skipped ones."""
        _operation = Operation("retrySweepJob", "POST", "/v1/treasury/sweeps/jobs/{id}/retry", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Job, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def create_bridge_policy(
        self,
        *,
        from_chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        to_chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        source_wallet_id: str,
        destination_wallet_id: str,
        max_single_transfer: str,
        max_in_flight_value: str,
        max_in_flight_count: int,
        token: str = UNSET,
        enabled: bool = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgePolicy:
        """Say between which treasury wallets a token may be bridged, and how much at once."""
        _operation = Operation("createBridgePolicy", "POST", "/v1/treasury/bridges/policies", "kb")
        _arguments: Dict[str, Any] = {
            "fromChain": from_chain,
            "toChain": to_chain,
            "token": token,
            "sourceWalletId": source_wallet_id,
            "destinationWalletId": destination_wallet_id,
            "maxSingleTransfer": max_single_transfer,
            "maxInFlightValue": max_in_flight_value,
            "maxInFlightCount": max_in_flight_count,
            "enabled": enabled,
        }
        return cast(types.BridgePolicy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_bridge_policies(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgePolicyPage:
        """Bridge policies, one for a way of a token."""
        _operation = Operation("listBridgePolicies", "GET", "/v1/treasury/bridges/policies", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.BridgePolicyPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_bridge_policies_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.BridgePolicy, None, None]:
        """Rows of all pages, the next page when it is needed: Bridge policies, one for a way of a token."""
        _operation = Operation("listBridgePolicies", "GET", "/v1/treasury/bridges/policies", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_bridge_policy(
        self,
        *,
        policy_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgePolicy:
        """Read one bridge policy."""
        _operation = Operation("getBridgePolicy", "GET", "/v1/treasury/bridges/policies/{policyId}", "")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
        }
        return cast(types.BridgePolicy, self._call(_operation, _arguments, None, timeout, deadline))

    def replace_bridge_policy(
        self,
        *,
        policy_id: str,
        from_chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        to_chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        source_wallet_id: str,
        destination_wallet_id: str,
        max_single_transfer: str,
        max_in_flight_value: str,
        max_in_flight_count: int,
        token: str = UNSET,
        enabled: bool = UNSET,
        version: Union[int, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgePolicy:
        """Replace the settings of a bridge policy; its chains and token stay."""
        _operation = Operation("replaceBridgePolicy", "PUT", "/v1/treasury/bridges/policies/{policyId}", "kb")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
            "fromChain": from_chain,
            "toChain": to_chain,
            "token": token,
            "sourceWalletId": source_wallet_id,
            "destinationWalletId": destination_wallet_id,
            "maxSingleTransfer": max_single_transfer,
            "maxInFlightValue": max_in_flight_value,
            "maxInFlightCount": max_in_flight_count,
            "enabled": enabled,
            "version": version,
        }
        return cast(types.BridgePolicy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def delete_bridge_policy(
        self,
        *,
        policy_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgePolicy:
        """End a bridge policy of which nothing is on its way."""
        _operation = Operation("deleteBridgePolicy", "DELETE", "/v1/treasury/bridges/policies/{policyId}", "k")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
        }
        return cast(types.BridgePolicy, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def create_bridge_transfer(
        self,
        *,
        policy_id: str,
        amount: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgeTransfer:
        """Move an amount to the other chain, within the limits of a policy."""
        _operation = Operation("createBridgeTransfer", "POST", "/v1/treasury/bridges/transfers", "kb")
        _arguments: Dict[str, Any] = {
            "policyId": policy_id,
            "amount": amount,
        }
        return cast(types.BridgeTransfer, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_bridge_transfers(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        policy_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgeTransferPage:
        """Bridge transfers, newest first."""
        _operation = Operation("listBridgeTransfers", "GET", "/v1/treasury/bridges/transfers", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "policyId": policy_id,
        }
        return cast(types.BridgeTransferPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_bridge_transfers_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        policy_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.BridgeTransfer, None, None]:
        """Rows of all pages, the next page when it is needed: Bridge transfers, newest first."""
        _operation = Operation("listBridgeTransfers", "GET", "/v1/treasury/bridges/transfers", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "policyId": policy_id,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_bridge_transfer(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgeTransfer:
        """Read one bridge transfer."""
        _operation = Operation("getBridgeTransfer", "GET", "/v1/treasury/bridges/transfers/{id}", "")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.BridgeTransfer, self._call(_operation, _arguments, None, timeout, deadline))

    def retry_bridge_transfer(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BridgeTransfer:
        """Look at a transfer now that waits; nothing is ever burnt again."""
        _operation = Operation("retryBridgeTransfer", "POST", "/v1/treasury/bridges/transfers/{id}/retry", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.BridgeTransfer, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def request_token(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        contract_address: str,
        symbol: str,
        decimals: int,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenRequest:
        """Ask for a token that the catalogue lacks; a contract that was asked for before is answered as it is."""
        _operation = Operation("requestToken", "POST", "/v1/treasury/token-requests", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "contractAddress": contract_address,
            "symbol": symbol,
            "decimals": decimals,
        }
        return cast(types.TokenRequest, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_token_requests(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenRequestPage:
        """Tokens that the account asked for, newest first."""
        _operation = Operation("listTokenRequests", "GET", "/v1/treasury/token-requests", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.TokenRequestPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_token_requests_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.TokenRequest, None, None]:
        """Rows of all pages, the next page when it is needed: Tokens that the account asked for, newest first."""
        _operation = Operation("listTokenRequests", "GET", "/v1/treasury/token-requests", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def list_token_routes(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.RouteMatrix:
        """Between which chains a token can be bridged, and why not where it cannot."""
        _operation = Operation("listTokenRoutes", "GET", "/v1/treasury/routes", "")
        _arguments: Dict[str, Any] = {}
        return cast(types.RouteMatrix, self._call(_operation, _arguments, None, timeout, deadline))

    def simulate_token(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        contract_address: str,
        symbol: str,
        decimals: int,
        hazards: List[Literal["upgradeable", "fee_on_transfer", "rebasing", "blocklist", "pausable", "seizable", "hook", "non_transferable", "default_frozen", "confidential_only", "auth_required"]] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedToken:
        """Put a token contract on a simulated ledger, so that it can be asked for."""
        _operation = Operation("simulateToken", "POST", "/v1/sandbox/simulate-token", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "contractAddress": contract_address,
            "symbol": symbol,
            "decimals": decimals,
            "hazards": hazards,
        }
        return cast(types.SimulatedToken, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def detect_case(
        self,
        *,
        mnemonics: int,
        has_raw_keys: bool,
        provider_holds_keys: bool,
        address_count: int,
        chains: List[Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"]],
        standard_wallet: Union[bool, None] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.AssessedCase:
        """Which case a company is in, what will sign, and the steps; creates nothing."""
        _operation = Operation("detectCase", "POST", "/v1/migration/detect-case", "b")
        _arguments: Dict[str, Any] = {
            "mnemonics": mnemonics,
            "hasRawKeys": has_raw_keys,
            "providerHoldsKeys": provider_holds_keys,
            "addressCount": address_count,
            "chains": chains,
            "standardWallet": standard_wallet,
        }
        return cast(types.AssessedCase, self._call(_operation, _arguments, None, timeout, deadline))

    def detect_path(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        xpub: str,
        known_address: str,
        second_address: Union[str, None] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.DetectedPath:
        """Path from an extended public key to a known address."""
        _operation = Operation("detectPath", "POST", "/v1/migration/detect-path", "b")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "xpub": xpub,
            "knownAddress": known_address,
            "secondAddress": second_address,
        }
        return cast(types.DetectedPath, self._call(_operation, _arguments, None, timeout, deadline))

    def list_key_sources(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.KeySourcePage:
        """Key sources of the edge, and what can be signed."""
        _operation = Operation("listKeySources", "GET", "/v1/migration/key-sources", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.KeySourcePage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_key_sources_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.KeySource, None, None]:
        """Rows of all pages, the next page when it is needed: Key sources of the edge, and what can be signed."""
        _operation = Operation("listKeySources", "GET", "/v1/migration/key-sources", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def resolve_key_source(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.KeySourceResolved:
        """Adopted addresses that a key source leads to become spendable."""
        _operation = Operation("resolveKeySource", "POST", "/v1/migration/key-sources/{id}/resolve", "k")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.KeySourceResolved, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def create_migration_project(
        self,
        *,
        name: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Project:
        """One old wallet system, whose addresses are adopted, watched and cut over together."""
        _operation = Operation("createMigrationProject", "POST", "/v1/migration/projects", "kb")
        _arguments: Dict[str, Any] = {
            "name": name,
        }
        return cast(types.Project, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_migration_projects(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ProjectPage:
        """Projects, newest first."""
        _operation = Operation("listMigrationProjects", "GET", "/v1/migration/projects", "")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.ProjectPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_migration_projects_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Project, None, None]:
        """Rows of all pages, the next page when it is needed: Projects, newest first."""
        _operation = Operation("listMigrationProjects", "GET", "/v1/migration/projects", "")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_migration_capacity(
        self,
        *,
        project_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ProjectCapacity:
        """What the project would adopt, against the purchased band."""
        _operation = Operation("getMigrationCapacity", "GET", "/v1/migration/projects/{projectId}/capacity", "")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
        }
        return cast(types.ProjectCapacity, self._call(_operation, _arguments, None, timeout, deadline))

    def create_upload(
        self,
        *,
        filename: str,
        bytes: int = UNSET,
        sha256: str = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.OpenedUpload:
        """A URL that takes one file, and until when."""
        _operation = Operation("createUpload", "POST", "/v1/migration/uploads", "kb")
        _arguments: Dict[str, Any] = {
            "filename": filename,
            "bytes": bytes,
            "sha256": sha256,
        }
        return cast(types.OpenedUpload, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def complete_upload(
        self,
        *,
        upload_id: str,
        sha256: str = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.CompletedUpload:
        """The file is whole: its bytes as they were measured, its digest, its format."""
        _operation = Operation("completeUpload", "POST", "/v1/migration/uploads/{uploadId}/complete", "kb")
        _arguments: Dict[str, Any] = {
            "uploadId": upload_id,
            "sha256": sha256,
        }
        return cast(types.CompletedUpload, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def create_import(
        self,
        *,
        project_id: str,
        upload_id: str = UNSET,
        scan_id: str = UNSET,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"] = UNSET,
        include_change: bool = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ImportBatch:
        """A batch of the project, from a file that is complete."""
        _operation = Operation("createImport", "POST", "/v1/migration/projects/{projectId}/imports", "kb")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "uploadId": upload_id,
            "scanId": scan_id,
            "chain": chain,
            "includeChange": include_change,
        }
        return cast(types.ImportBatch, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_imports(
        self,
        *,
        project_id: str,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ImportPage:
        """Batches of the project, newest first."""
        _operation = Operation("listImports", "GET", "/v1/migration/projects/{projectId}/imports", "")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.ImportPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_imports_all(
        self,
        *,
        project_id: str,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.ImportBatch, None, None]:
        """Rows of all pages, the next page when it is needed: Batches of the project, newest first."""
        _operation = Operation("listImports", "GET", "/v1/migration/projects/{projectId}/imports", "")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_import(
        self,
        *,
        batch_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ImportBatch:
        """A batch and its state."""
        _operation = Operation("getImport", "GET", "/v1/migration/imports/{batchId}", "")
        _arguments: Dict[str, Any] = {
            "batchId": batch_id,
        }
        return cast(types.ImportBatch, self._call(_operation, _arguments, None, timeout, deadline))

    def validate_import(
        self,
        *,
        batch_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.DryRun:
        """A new dry run in seven phases; its report, or `validating` after ten seconds."""
        _operation = Operation("validateImport", "POST", "/v1/migration/imports/{batchId}/validate", "k")
        _arguments: Dict[str, Any] = {
            "batchId": batch_id,
        }
        return cast(types.DryRun, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def get_dry_run(
        self,
        *,
        batch_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.DryRun:
        """Report of the newest dry run."""
        _operation = Operation("getDryRun", "GET", "/v1/migration/imports/{batchId}/dry-run", "")
        _arguments: Dict[str, Any] = {
            "batchId": batch_id,
        }
        return cast(types.DryRun, self._call(_operation, _arguments, None, timeout, deadline))

    def list_import_issues(
        self,
        *,
        batch_id: str,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.IssuePage:
        """What is wrong, warned of or passed over, in the order in which it was found."""
        _operation = Operation("listImportIssues", "GET", "/v1/migration/imports/{batchId}/issues", "")
        _arguments: Dict[str, Any] = {
            "batchId": batch_id,
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.IssuePage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_import_issues_all(
        self,
        *,
        batch_id: str,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.ImportIssue, None, None]:
        """Rows of all pages, the next page when it is needed: What is wrong, warned of or passed over, in the order in which it was found."""
        _operation = Operation("listImportIssues", "GET", "/v1/migration/imports/{batchId}/issues", "")
        _arguments: Dict[str, Any] = {
            "batchId": batch_id,
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def commit_import(
        self,
        *,
        batch_id: str,
        dry_run_id: str,
        accept_billing_change: bool = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ImportBatch:
        """Adopts the addresses of a valid batch: heights first, nothing visible before the last row."""
        _operation = Operation("commitImport", "POST", "/v1/migration/imports/{batchId}/commit", "kb")
        _arguments: Dict[str, Any] = {
            "batchId": batch_id,
            "dryRunId": dry_run_id,
            "acceptBillingChange": accept_billing_change,
        }
        return cast(types.ImportBatch, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def rollback_import(
        self,
        *,
        batch_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ImportBatch:
        """Gives the addresses back, within 72 hours and before any transaction."""
        _operation = Operation("rollbackImport", "POST", "/v1/migration/imports/{batchId}/rollback", "k")
        _arguments: Dict[str, Any] = {
            "batchId": batch_id,
        }
        return cast(types.ImportBatch, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def discover(
        self,
        *,
        project_id: str,
        key_source_id: str,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        gap_limit: int = UNSET,
        max_scan: int = UNSET,
        probe_tokens: List[str] = UNSET,
        user_ref_mapping_csv: str = UNSET,
        branches: List[int] = UNSET,
        template: Literal["account", "each"] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Scan:
        """Begins a scan for used addresses below the keys of a source; ask for it again to see how far it is."""
        _operation = Operation("discover", "POST", "/v1/migration/{projectId}/discover", "kb")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "keySourceId": key_source_id,
            "chain": chain,
            "gapLimit": gap_limit,
            "maxScan": max_scan,
            "probeTokens": probe_tokens,
            "userRefMappingCsv": user_ref_mapping_csv,
            "branches": branches,
            "template": template,
        }
        return cast(types.Scan, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def get_scan(
        self,
        *,
        scan_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Scan:
        """How far a scan is, what it found and what it cannot see."""
        _operation = Operation("getScan", "GET", "/v1/migration/scans/{scanId}", "")
        _arguments: Dict[str, Any] = {
            "scanId": scan_id,
        }
        return cast(types.Scan, self._call(_operation, _arguments, None, timeout, deadline))

    def cancel_scan(
        self,
        *,
        scan_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Scan:
        """Ends a scan that is under way; one that has ended stays as it is."""
        _operation = Operation("cancelScan", "DELETE", "/v1/migration/scans/{scanId}", "k")
        _arguments: Dict[str, Any] = {
            "scanId": scan_id,
        }
        return cast(types.Scan, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_scan_addresses(
        self,
        *,
        scan_id: str,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ScanAddressPage:
        """Every index up to the last that is used or has a reference, unused ones too."""
        _operation = Operation("listScanAddresses", "GET", "/v1/migration/scans/{scanId}/addresses", "")
        _arguments: Dict[str, Any] = {
            "scanId": scan_id,
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.ScanAddressPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_scan_addresses_all(
        self,
        *,
        scan_id: str,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.ScanAddress, None, None]:
        """Rows of all pages, the next page when it is needed: Every index up to the last that is used or has a reference, unused ones too."""
        _operation = Operation("listScanAddresses", "GET", "/v1/migration/scans/{scanId}/addresses", "")
        _arguments: Dict[str, Any] = {
            "scanId": scan_id,
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_observe(
        self,
        *,
        project_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Observed:
        """Deposits that were recorded and not announced."""
        _operation = Operation("getObserve", "GET", "/v1/migration/projects/{projectId}/observe", "")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
        }
        return cast(types.Observed, self._call(_operation, _arguments, None, timeout, deadline))

    def activate_project(
        self,
        *,
        project_id: str,
        totp: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Project:
        """The cutover: webhooks and withdrawals begin; nothing from before is announced."""
        _operation = Operation("activateProject", "POST", "/v1/migration/projects/{projectId}/activate", "bc")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "totp": totp,
        }
        return cast(types.Project, self._call(_operation, _arguments, None, timeout, deadline))

    def deactivate_project(
        self,
        *,
        project_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Project:
        """Back to observe, at once."""
        _operation = Operation("deactivateProject", "POST", "/v1/migration/projects/{projectId}/deactivate", "c")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
        }
        return cast(types.Project, self._call(_operation, _arguments, None, timeout, deadline))

    def get_reconciliation(
        self,
        *,
        project_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> str:
        """Every address with its path, reference, spendability and counts, as CSV."""
        _operation = Operation("getReconciliation", "GET", "/v1/migration/projects/{projectId}/reconciliation", "d")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
        }
        return cast(str, self._call(_operation, _arguments, None, timeout, deadline))

    def export_project(
        self,
        *,
        project_id: str,
        format: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> str:
        """The addresses of the project as a file that an import reads again."""
        _operation = Operation("exportProject", "GET", "/v1/migration/projects/{projectId}/export", "d")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "format": format,
        }
        return cast(str, self._call(_operation, _arguments, None, timeout, deadline))

    def get_export_plan(
        self,
        *,
        project_id: str,
        format: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ExportPlan:
        """How many rows an export has, and whether the format can say all of them."""
        _operation = Operation("getExportPlan", "GET", "/v1/migration/projects/{projectId}/export/plan", "")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "format": format,
        }
        return cast(types.ExportPlan, self._call(_operation, _arguments, None, timeout, deadline))

    def simulate_deposit(
        self,
        *,
        address: str,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        amount: str,
        token_contract: Union[str, None] = UNSET,
        auto_confirm: bool = UNSET,
        confirm_after_seconds: Union[int, None] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedDeposit:
        """Pay an address on the simulated chain."""
        _operation = Operation("simulateDeposit", "POST", "/v1/sandbox/simulate-deposit", "kb")
        _arguments: Dict[str, Any] = {
            "address": address,
            "chain": chain,
            "amount": amount,
            "tokenContract": token_contract,
            "autoConfirm": auto_confirm,
            "confirmAfterSeconds": confirm_after_seconds,
        }
        return cast(types.SimulatedDeposit, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_confirmation(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        txid: str,
        confirmations: int,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedConfirmation:
        """Mine until a transaction has so many confirmations; a version that waits in the pool wins over the others."""
        _operation = Operation("simulateConfirmation", "POST", "/v1/sandbox/simulate-confirmation", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "txid": txid,
            "confirmations": confirmations,
        }
        return cast(types.SimulatedConfirmation, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_stuck(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        stuck: bool,
        blocks: int = UNSET,
        until_repriced: bool = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedStuck:
        """Keep what is broadcast in the pool, so that it can be repriced; or let it go."""
        _operation = Operation("simulateStuck", "POST", "/v1/sandbox/simulate-stuck", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "stuck": stuck,
            "blocks": blocks,
            "untilRepriced": until_repriced,
        }
        return cast(types.SimulatedStuck, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_replaced(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        txid: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedReplaced:
        """A transaction of the same sender that was made elsewhere takes the place of one that waits in the pool."""
        _operation = Operation("simulateReplaced", "POST", "/v1/sandbox/simulate-replaced", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "txid": txid,
        }
        return cast(types.SimulatedReplaced, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_edge_offline(
        self,
        *,
        seconds: int,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedEdgeOffline:
        """Cut the streams of its edges and let none in for a while."""
        _operation = Operation("simulateEdgeOffline", "POST", "/v1/sandbox/simulate-edge-offline", "kb")
        _arguments: Dict[str, Any] = {
            "seconds": seconds,
        }
        return cast(types.SimulatedEdgeOffline, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_endpoint_failure(
        self,
        *,
        webhook_id: str,
        attempts: int,
        status: int = UNSET,
        delay_seconds: int = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedEndpointFailure:
        """Make an endpoint of its own fail or dawdle for some attempts."""
        _operation = Operation("simulateEndpointFailure", "POST", "/v1/sandbox/simulate-endpoint-failure", "kb")
        _arguments: Dict[str, Any] = {
            "webhookId": webhook_id,
            "attempts": attempts,
            "status": status,
            "delaySeconds": delay_seconds,
        }
        return cast(types.SimulatedEndpointFailure, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def get_sandbox_clock(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SandboxClock:
        """The time of a sandbox."""
        _operation = Operation("getSandboxClock", "GET", "/v1/sandbox/clock", "")
        _arguments: Dict[str, Any] = {}
        return cast(types.SandboxClock, self._call(_operation, _arguments, None, timeout, deadline))

    def advance_sandbox_clock(
        self,
        *,
        advance_seconds: int = UNSET,
        to: str = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.AdvancedClock:
        """Move the time of a sandbox forward, and have happen what falls due on the way."""
        _operation = Operation("advanceSandboxClock", "POST", "/v1/sandbox/clock", "kb")
        _arguments: Dict[str, Any] = {
            "advanceSeconds": advance_seconds,
            "to": to,
        }
        return cast(types.AdvancedClock, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_reorg(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        depth: int,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedReorg:
        """Replace the newest blocks."""
        _operation = Operation("simulateReorg", "POST", "/v1/sandbox/simulate-reorg", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "depth": depth,
        }
        return cast(types.SimulatedReorg, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_chain_down(
        self,
        *,
        chain: Literal["btc", "eth", "bsc", "polygon", "avax", "base", "tron", "sol", "xrp", "xlm"],
        seconds: int,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedChainDown:
        """Make a chain unreachable for a while."""
        _operation = Operation("simulateChainDown", "POST", "/v1/sandbox/simulate-chain-down", "kb")
        _arguments: Dict[str, Any] = {
            "chain": chain,
            "seconds": seconds,
        }
        return cast(types.SimulatedChainDown, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_activity(
        self,
        *,
        project_id: str,
        addresses: Union[int, List[str]],
        historical_per_address: int = UNSET,
        live_per_address: int = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedActivity:
        """Payments to adopted addresses, from before the recorded height and from now."""
        _operation = Operation("simulateActivity", "POST", "/v1/sandbox/migration/projects/{projectId}/simulate-activity", "kb")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "addresses": addresses,
            "historicalPerAddress": historical_per_address,
            "livePerAddress": live_per_address,
        }
        return cast(types.SimulatedActivity, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_conflict(
        self,
        *,
        project_id: str,
        address: str = UNSET,
        clear: bool = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedConflict:
        """An address of a batch is claimed by an organization that nobody sees, until it is cleared."""
        _operation = Operation("simulateConflict", "POST", "/v1/sandbox/migration/projects/{projectId}/simulate-conflict", "kb")
        _arguments: Dict[str, Any] = {
            "projectId": project_id,
            "address": address,
            "clear": clear,
        }
        return cast(types.SimulatedConflict, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def simulate_duplicate_delivery(
        self,
        *,
        event_id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SimulatedDuplicate:
        """Deliver an event a second time with the same id."""
        _operation = Operation("simulateDuplicateDelivery", "POST", "/v1/sandbox/simulate-duplicate-delivery", "kb")
        _arguments: Dict[str, Any] = {
            "eventId": event_id,
        }
        return cast(types.SimulatedDuplicate, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def reset_sandbox(
        self,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SandboxReset:
        """Forget its addresses, transactions and deliveries."""
        _operation = Operation("resetSandbox", "DELETE", "/v1/sandbox/reset", "k")
        _arguments: Dict[str, Any] = {}
        return cast(types.SandboxReset, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def login(
        self,
        *,
        email: str,
        password: str,
        totp: str = UNSET,
        recovery_code: str = UNSET,
        organization_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Sign in with email, password and code; FORBIDDEN `sso_required` where the organization lets in by its provider alone."""
        _operation = Operation("login", "POST", "/v1/auth/login", "bc")
        _arguments: Dict[str, Any] = {
            "email": email,
            "password": password,
            "totp": totp,
            "recoveryCode": recovery_code,
            "organizationId": organization_id,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def refresh(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """New access token for the refresh cookie."""
        _operation = Operation("refresh", "POST", "/v1/auth/refresh", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def logout(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SignedOut:
        """End the login of the refresh cookie."""
        _operation = Operation("logout", "POST", "/v1/auth/logout", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.SignedOut, self._call(_operation, _arguments, None, timeout, deadline))

    def get_me(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Me:
        """Who is signed in."""
        _operation = Operation("getMe", "GET", "/v1/auth/me", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.Me, self._call(_operation, _arguments, None, timeout, deadline))

    def register(
        self,
        *,
        email: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Accepted:
        """Sign up: a letter with a link comes to the email, where SIGN_UP is open."""
        _operation = Operation("register", "POST", "/v1/auth/register", "bc")
        _arguments: Dict[str, Any] = {
            "email": email,
        }
        return cast(types.Accepted, self._call(_operation, _arguments, None, timeout, deadline))

    def verify_email(
        self,
        *,
        token: str,
        password: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Become a user by the link of a letter, with a password, and sign in."""
        _operation = Operation("verifyEmail", "POST", "/v1/auth/verify", "bc")
        _arguments: Dict[str, Any] = {
            "token": token,
            "password": password,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def forgot_password(
        self,
        *,
        email: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Accepted:
        """Have a link sent with which a new password is set."""
        _operation = Operation("forgotPassword", "POST", "/v1/auth/password/forgot", "bc")
        _arguments: Dict[str, Any] = {
            "email": email,
        }
        return cast(types.Accepted, self._call(_operation, _arguments, None, timeout, deadline))

    def reset_password(
        self,
        *,
        token: str,
        password: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EmailDone:
        """Set a new password by the link of a letter; ends all logins and signs nobody in."""
        _operation = Operation("resetPassword", "POST", "/v1/auth/password/reset", "bc")
        _arguments: Dict[str, Any] = {
            "token": token,
            "password": password,
        }
        return cast(types.EmailDone, self._call(_operation, _arguments, None, timeout, deadline))

    def change_password(
        self,
        *,
        password: str,
        current: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PasswordChanged:
        """Change your password; ends all your other logins."""
        _operation = Operation("changePassword", "POST", "/v1/auth/password", "bc")
        _arguments: Dict[str, Any] = {
            "password": password,
            "current": current,
        }
        return cast(types.PasswordChanged, self._call(_operation, _arguments, None, timeout, deadline))

    def change_email(
        self,
        *,
        email: str,
        totp: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Accepted:
        """Ask for another email; the link that comes to it makes the change. Takes a code made for this."""
        _operation = Operation("changeEmail", "POST", "/v1/auth/email", "bc")
        _arguments: Dict[str, Any] = {
            "email": email,
            "totp": totp,
            "passkey": passkey,
        }
        return cast(types.Accepted, self._call(_operation, _arguments, None, timeout, deadline))

    def confirm_email(
        self,
        *,
        token: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EmailDone:
        """Take the new email by the link of a letter, or, for 7 days, the one before back."""
        _operation = Operation("confirmEmail", "POST", "/v1/auth/email/confirm", "bc")
        _arguments: Dict[str, Any] = {
            "token": token,
        }
        return cast(types.EmailDone, self._call(_operation, _arguments, None, timeout, deadline))

    def look_at_invitation(
        self,
        *,
        token: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.InvitationLook:
        """What an invitation is to, by the link of its letter; spends nothing."""
        _operation = Operation("lookAtInvitation", "POST", "/v1/auth/invitations/look", "bc")
        _arguments: Dict[str, Any] = {
            "token": token,
        }
        return cast(types.InvitationLook, self._call(_operation, _arguments, None, timeout, deadline))

    def accept_invitation(
        self,
        *,
        token: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.InvitationAccepted:
        """Become a member by the link of a letter that came to your email."""
        _operation = Operation("acceptInvitation", "POST", "/v1/auth/invitations/accept", "bc")
        _arguments: Dict[str, Any] = {
            "token": token,
        }
        return cast(types.InvitationAccepted, self._call(_operation, _arguments, None, timeout, deadline))

    def join_by_invitation(
        self,
        *,
        token: str,
        password: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Become a user and a member by the link of a letter, with a password, and sign in."""
        _operation = Operation("joinByInvitation", "POST", "/v1/auth/invitations/join", "bc")
        _arguments: Dict[str, Any] = {
            "token": token,
            "password": password,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def list_logins(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.LoginPage:
        """Your signed-in browsers, the asking one marked."""
        _operation = Operation("listLogins", "GET", "/v1/auth/logins", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.LoginPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_logins_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Login, None, None]:
        """Rows of all pages, the next page when it is needed: Your signed-in browsers, the asking one marked."""
        _operation = Operation("listLogins", "GET", "/v1/auth/logins", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def end_other_logins(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.LoginsEnded:
        """Sign all your other browsers out."""
        _operation = Operation("endOtherLogins", "DELETE", "/v1/auth/logins", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.LoginsEnded, self._call(_operation, _arguments, None, timeout, deadline))

    def end_login(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.LoginsEnded:
        """Sign one of your browsers out."""
        _operation = Operation("endLogin", "DELETE", "/v1/auth/logins/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.LoginsEnded, self._call(_operation, _arguments, None, timeout, deadline))

    def switch_organization(
        self,
        *,
        organization_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Access token for another of your organizations."""
        _operation = Operation("switchOrganization", "POST", "/v1/auth/switch", "bc")
        _arguments: Dict[str, Any] = {
            "organizationId": organization_id,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def step_up(
        self,
        *,
        totp: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Prove the second factor again."""
        _operation = Operation("stepUp", "POST", "/v1/auth/step-up", "bc")
        _arguments: Dict[str, Any] = {
            "totp": totp,
            "passkey": passkey,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def enrol_totp(
        self,
        *,
        totp: str = UNSET,
        recovery_code: str = UNSET,
        password: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TotpEnrolled:
        """Begin to enrol a second factor."""
        _operation = Operation("enrolTotp", "POST", "/v1/auth/totp/enroll", "bc")
        _arguments: Dict[str, Any] = {
            "totp": totp,
            "recoveryCode": recovery_code,
            "password": password,
        }
        return cast(types.TotpEnrolled, self._call(_operation, _arguments, None, timeout, deadline))

    def confirm_totp(
        self,
        *,
        totp: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Confirm the second factor with a first code."""
        _operation = Operation("confirmTotp", "POST", "/v1/auth/totp/confirm", "bc")
        _arguments: Dict[str, Any] = {
            "totp": totp,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def disable_totp(
        self,
        *,
        totp: str = UNSET,
        recovery_code: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.FactorRemoved:
        """Take the codes of the app and the recovery codes away, by one of them."""
        _operation = Operation("disableTotp", "POST", "/v1/auth/totp/disable", "bc")
        _arguments: Dict[str, Any] = {
            "totp": totp,
            "recoveryCode": recovery_code,
            "passkey": passkey,
        }
        return cast(types.FactorRemoved, self._call(_operation, _arguments, None, timeout, deadline))

    def make_recovery_codes(
        self,
        *,
        totp: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.RecoveryCodesMade:
        """Ten recovery codes in place of those of before; takes a fresh second factor."""
        _operation = Operation("makeRecoveryCodes", "POST", "/v1/auth/recovery-codes", "bc")
        _arguments: Dict[str, Any] = {
            "totp": totp,
        }
        return cast(types.RecoveryCodesMade, self._call(_operation, _arguments, None, timeout, deadline))

    def get_jwks(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """Public keys of the built-in issuer."""
        _operation = Operation("getJwks", "GET", "/.well-known/jwks.json", "dc")
        _arguments: Dict[str, Any] = {}
        return self._call(_operation, _arguments, None, timeout, deadline)

    def create_organization(
        self,
        *,
        name: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Organization:
        """Create a tenant; the caller becomes its owner."""
        _operation = Operation("createOrganization", "POST", "/v1/organizations", "kbc")
        _arguments: Dict[str, Any] = {
            "name": name,
        }
        return cast(types.Organization, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_organizations(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.OrganizationPage:
        """Your organizations."""
        _operation = Operation("listOrganizations", "GET", "/v1/organizations", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.OrganizationPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_organizations_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Organization, None, None]:
        """Rows of all pages, the next page when it is needed: Your organizations."""
        _operation = Operation("listOrganizations", "GET", "/v1/organizations", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def begin_passkey_sign_in(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PasskeyQuestion:
        """What a browser asks an authenticator to sign in with a passkey."""
        _operation = Operation("beginPasskeySignIn", "POST", "/v1/auth/passkeys/login/options", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.PasskeyQuestion, self._call(_operation, _arguments, None, timeout, deadline))

    def sign_in_by_passkey(
        self,
        *,
        passkey: types.PasskeyAnswer,
        organization_id: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Sign in with a passkey; it counts as a fresh second factor."""
        _operation = Operation("signInByPasskey", "POST", "/v1/auth/passkeys/login", "bc")
        _arguments: Dict[str, Any] = {
            "passkey": passkey,
            "organizationId": organization_id,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def begin_passkey(
        self,
        *,
        password: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PasskeyCreation:
        """What a browser asks an authenticator to make a passkey; takes a fresh second factor where there is one."""
        _operation = Operation("beginPasskey", "POST", "/v1/auth/passkeys/options", "bc")
        _arguments: Dict[str, Any] = {
            "password": password,
        }
        return cast(types.PasskeyCreation, self._call(_operation, _arguments, None, timeout, deadline))

    def add_passkey(
        self,
        *,
        name: str,
        passkey: types.PasskeyMade,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Passkey:
        """Add the passkey that an authenticator made, under a name."""
        _operation = Operation("addPasskey", "POST", "/v1/auth/passkeys", "bc")
        _arguments: Dict[str, Any] = {
            "name": name,
            "passkey": passkey,
        }
        return cast(types.Passkey, self._call(_operation, _arguments, None, timeout, deadline))

    def list_passkeys(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PasskeyPage:
        """Your passkeys."""
        _operation = Operation("listPasskeys", "GET", "/v1/auth/passkeys", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.PasskeyPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_passkeys_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Passkey, None, None]:
        """Rows of all pages, the next page when it is needed: Your passkeys."""
        _operation = Operation("listPasskeys", "GET", "/v1/auth/passkeys", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def remove_passkey(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PasskeyRemoved:
        """Remove one of your passkeys; takes a fresh second factor."""
        _operation = Operation("removePasskey", "DELETE", "/v1/auth/passkeys/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.PasskeyRemoved, self._call(_operation, _arguments, None, timeout, deadline))

    def ask_passkey(
        self,
        *,
        operation: str = UNSET,
        params: Dict[str, str] = UNSET,
        body: Dict[str, Any] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.PasskeyQuestion:
        """A question for your passkey: for a step-up, or as the proof of one request."""
        _operation = Operation("askPasskey", "POST", "/v1/auth/passkeys/ask", "bc")
        _arguments: Dict[str, Any] = {
            "operation": operation,
            "params": params,
            "body": body,
        }
        return cast(types.PasskeyQuestion, self._call(_operation, _arguments, None, timeout, deadline))

    def keep_factors(
        self,
        *,
        token: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """Keep the factors, by the link of a letter about their reset."""
        _operation = Operation("keepFactors", "POST", "/v1/auth/factor-reset/cancel", "bc")
        _arguments: Dict[str, Any] = {
            "token": token,
        }
        return self._call(_operation, _arguments, None, timeout, deadline)

    def ask_device(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """Begin the login of a command line: a code that a person types into the console."""
        _operation = Operation("askDevice", "POST", "/v1/auth/device", "bc")
        _arguments: Dict[str, Any] = {}
        return self._call(_operation, _arguments, None, timeout, deadline)

    def take_device_key(
        self,
        *,
        device_code: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """Ask, every five seconds, whether the code was approved; its API key is shown once."""
        _operation = Operation("takeDeviceKey", "POST", "/v1/auth/device/token", "bc")
        _arguments: Dict[str, Any] = {
            "deviceCode": device_code,
        }
        return self._call(_operation, _arguments, None, timeout, deadline)

    def approve_device(
        self,
        *,
        user_code: str,
        environment: Literal["live", "sandbox"] = UNSET,
        role: Literal["editor", "viewer"] = UNSET,
        totp: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """Approve the code of a command line of yours; live needs a fresh second factor."""
        _operation = Operation("approveDevice", "POST", "/v1/auth/device/approve", "bc")
        _arguments: Dict[str, Any] = {
            "userCode": user_code,
            "environment": environment,
            "role": role,
            "totp": totp,
        }
        return self._call(_operation, _arguments, None, timeout, deadline)

    def list_sso_connections(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SsoPage:
        """The identity provider of the organization, if there is one."""
        _operation = Operation("listSsoConnections", "GET", "/v1/settings/sso", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.SsoPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_sso_connections_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.SsoConnection, None, None]:
        """Rows of all pages, the next page when it is needed: The identity provider of the organization, if there is one."""
        _operation = Operation("listSsoConnections", "GET", "/v1/settings/sso", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def set_sso_connection(
        self,
        *,
        issuer: str,
        client_id: str,
        client_secret: str = UNSET,
        jit_role: Literal["viewer", "editor"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SsoConnection:
        """Name the OpenID Connect provider of the organization, in place of the one before; it is asked at once."""
        _operation = Operation("setSsoConnection", "PUT", "/v1/settings/sso", "bc")
        _arguments: Dict[str, Any] = {
            "issuer": issuer,
            "clientId": client_id,
            "clientSecret": client_secret,
            "jitRole": jit_role,
        }
        return cast(types.SsoConnection, self._call(_operation, _arguments, None, timeout, deadline))

    def remove_sso_connection(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Removed:
        """End sign-in by the provider; who came by it sets a password by a letter."""
        _operation = Operation("removeSsoConnection", "DELETE", "/v1/settings/sso/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Removed, self._call(_operation, _arguments, None, timeout, deadline))

    def set_saml_connection(
        self,
        *,
        metadata: str,
        jit_role: Literal["viewer", "editor"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SsoConnection:
        """Name the SAML provider of the organization by its metadata, in place of the one before."""
        _operation = Operation("setSamlConnection", "PUT", "/v1/settings/sso/saml", "bc")
        _arguments: Dict[str, Any] = {
            "metadata": metadata,
            "jitRole": jit_role,
        }
        return cast(types.SsoConnection, self._call(_operation, _arguments, None, timeout, deadline))

    def enforce_sso(
        self,
        *,
        id: str,
        enforced: bool,
        break_glass: List[str] = UNSET,
        totp: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SsoConnection:
        """Let members of the domains in by the provider alone, or no longer; takes a code made for this, of an owner who signed in by it within 24 hours."""
        _operation = Operation("enforceSso", "PUT", "/v1/settings/sso/{id}/enforcement", "bc")
        _arguments: Dict[str, Any] = {
            "id": id,
            "enforced": enforced,
            "breakGlass": break_glass,
            "totp": totp,
            "passkey": passkey,
        }
        return cast(types.SsoConnection, self._call(_operation, _arguments, None, timeout, deadline))

    def list_domains(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.DomainPage:
        """Domains of emails, verified or not."""
        _operation = Operation("listDomains", "GET", "/v1/settings/domains", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.DomainPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_domains_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Domain, None, None]:
        """Rows of all pages, the next page when it is needed: Domains of emails, verified or not."""
        _operation = Operation("listDomains", "GET", "/v1/settings/domains", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def add_domain(
        self,
        *,
        domain: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Domain:
        """Add a domain; the answer names the TXT record that proves it."""
        _operation = Operation("addDomain", "POST", "/v1/settings/domains", "bc")
        _arguments: Dict[str, Any] = {
            "domain": domain,
        }
        return cast(types.Domain, self._call(_operation, _arguments, None, timeout, deadline))

    def check_domain(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Domain:
        """Look for the TXT record of a domain, ten times an hour."""
        _operation = Operation("checkDomain", "POST", "/v1/settings/domains/{id}/check", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Domain, self._call(_operation, _arguments, None, timeout, deadline))

    def remove_domain(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Removed:
        """Give a domain up."""
        _operation = Operation("removeDomain", "DELETE", "/v1/settings/domains/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Removed, self._call(_operation, _arguments, None, timeout, deadline))

    def discover_sso(
        self,
        *,
        email: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Discovered:
        """The provider of the domain of an email."""
        _operation = Operation("discoverSso", "POST", "/v1/auth/sso/discover", "bc")
        _arguments: Dict[str, Any] = {
            "email": email,
        }
        return cast(types.Discovered, self._call(_operation, _arguments, None, timeout, deadline))

    def start_sso(
        self,
        *,
        connection_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SsoStarted:
        """Begin to sign in by a provider, in this browser, within ten minutes."""
        _operation = Operation("startSso", "POST", "/v1/auth/sso/start", "bc")
        _arguments: Dict[str, Any] = {
            "connectionId": connection_id,
        }
        return cast(types.SsoStarted, self._call(_operation, _arguments, None, timeout, deadline))

    def finish_sso(
        self,
        *,
        state: str,
        code: str = UNSET,
        iss: str = UNSET,
        error: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Sign in with what the provider gave; `prove_account` where the email has a user who never came by it."""
        _operation = Operation("finishSso", "POST", "/v1/auth/sso/finish", "bc")
        _arguments: Dict[str, Any] = {
            "state": state,
            "code": code,
            "iss": iss,
            "error": error,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def link_sso(
        self,
        *,
        password: str,
        totp: str = UNSET,
        recovery_code: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.TokenReply:
        """Prove, once, the account that a first arrival is linked with, by password and factor, and sign in."""
        _operation = Operation("linkSso", "POST", "/v1/auth/sso/link", "bc")
        _arguments: Dict[str, Any] = {
            "password": password,
            "totp": totp,
            "recoveryCode": recovery_code,
        }
        return cast(types.TokenReply, self._call(_operation, _arguments, None, timeout, deadline))

    def list_api_keys(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ApiKeyPage:
        """List API keys."""
        _operation = Operation("listApiKeys", "GET", "/v1/settings/api-keys", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.ApiKeyPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_api_keys_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.ApiKey, None, None]:
        """Rows of all pages, the next page when it is needed: List API keys."""
        _operation = Operation("listApiKeys", "GET", "/v1/settings/api-keys", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def mint_api_key(
        self,
        *,
        label: str,
        environment: Literal["live", "sandbox"],
        role: Literal["editor", "viewer"] = UNSET,
        expires_at: str = UNSET,
        totp: str = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ApiKeyCreated:
        """Mint an API key, shown once; needs a fresh second factor."""
        _operation = Operation("mintApiKey", "POST", "/v1/settings/api-keys", "kbc")
        _arguments: Dict[str, Any] = {
            "label": label,
            "environment": environment,
            "role": role,
            "expiresAt": expires_at,
            "totp": totp,
        }
        return cast(types.ApiKeyCreated, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def revoke_api_key(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.ApiKey:
        """Revoke an API key."""
        _operation = Operation("revokeApiKey", "DELETE", "/v1/settings/api-keys/{id}", "kc")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.ApiKey, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_edge_keys(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EdgeKeyPage:
        """Local keys that the edge of this account reported, the newest first."""
        _operation = Operation("listEdgeKeys", "GET", "/v1/settings/edge-keys", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return cast(types.EdgeKeyPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_edge_keys_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.EdgeKey, None, None]:
        """Rows of all pages, the next page when it is needed: Local keys that the edge of this account reported, the newest first."""
        _operation = Operation("listEdgeKeys", "GET", "/v1/settings/edge-keys", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def revoke_edge_key(
        self,
        *,
        id: str,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EdgeKey:
        """Have a local key revoked by the edge, with what it minted; it waits while no edge is there."""
        _operation = Operation("revokeEdgeKey", "DELETE", "/v1/settings/edge-keys/{id}", "kc")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.EdgeKey, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def get_edge_setup(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.EdgeSetup:
        """Command that starts an edge for this account."""
        _operation = Operation("getEdgeSetup", "GET", "/v1/settings/edge-setup", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.EdgeSetup, self._call(_operation, _arguments, None, timeout, deadline))

    def list_rotations(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.RotationPage:
        """Identity rotations that wait for the owner."""
        _operation = Operation("listRotations", "GET", "/v1/settings/rotations", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.RotationPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_rotations_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Rotation, None, None]:
        """Rows of all pages, the next page when it is needed: Identity rotations that wait for the owner."""
        _operation = Operation("listRotations", "GET", "/v1/settings/rotations", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def approve_rotation(
        self,
        *,
        id: str,
        totp: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.RotationDecided:
        """Pin the new identity and register its keys."""
        _operation = Operation("approveRotation", "POST", "/v1/settings/rotations/{id}/approve", "kbc")
        _arguments: Dict[str, Any] = {
            "id": id,
            "totp": totp,
            "passkey": passkey,
        }
        return cast(types.RotationDecided, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def reject_rotation(
        self,
        *,
        id: str,
        totp: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.RotationDecided:
        """Keep the pinned identity and discard the held keys."""
        _operation = Operation("rejectRotation", "POST", "/v1/settings/rotations/{id}/reject", "kbc")
        _arguments: Dict[str, Any] = {
            "id": id,
            "totp": totp,
            "passkey": passkey,
        }
        return cast(types.RotationDecided, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_members(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        email: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.MemberPage:
        """Members and their roles."""
        _operation = Operation("listMembers", "GET", "/v1/settings/members", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "email": email,
        }
        return cast(types.MemberPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_members_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        email: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Member, None, None]:
        """Rows of all pages, the next page when it is needed: Members and their roles."""
        _operation = Operation("listMembers", "GET", "/v1/settings/members", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "email": email,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def invite_member(
        self,
        *,
        email: str,
        role: Literal["owner", "editor", "viewer"],
        totp: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Invitation:
        """Invite somebody: the same as POST /v1/settings/invitations."""
        _operation = Operation("inviteMember", "POST", "/v1/settings/members", "bc")
        _arguments: Dict[str, Any] = {
            "email": email,
            "role": role,
            "totp": totp,
        }
        return cast(types.Invitation, self._call(_operation, _arguments, None, timeout, deadline))

    def list_invitations(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.InvitationPage:
        """Invitations, newest first."""
        _operation = Operation("listInvitations", "GET", "/v1/settings/invitations", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.InvitationPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_invitations_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Invitation, None, None]:
        """Rows of all pages, the next page when it is needed: Invitations, newest first."""
        _operation = Operation("listInvitations", "GET", "/v1/settings/invitations", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def create_invitation(
        self,
        *,
        email: str,
        role: Literal["owner", "editor", "viewer"],
        totp: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Invitation:
        """Invite an email; takes the place of an open invitation. To invite an owner needs a fresh second factor."""
        _operation = Operation("createInvitation", "POST", "/v1/settings/invitations", "bc")
        _arguments: Dict[str, Any] = {
            "email": email,
            "role": role,
            "totp": totp,
        }
        return cast(types.Invitation, self._call(_operation, _arguments, None, timeout, deadline))

    def revoke_invitation(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Invitation:
        """Take an invitation back."""
        _operation = Operation("revokeInvitation", "DELETE", "/v1/settings/invitations/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Invitation, self._call(_operation, _arguments, None, timeout, deadline))

    def resend_invitation(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Invitation:
        """Send the letter of an open invitation again, with another link."""
        _operation = Operation("resendInvitation", "POST", "/v1/settings/invitations/{id}/resend", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Invitation, self._call(_operation, _arguments, None, timeout, deadline))

    def change_member(
        self,
        *,
        user_id: str,
        role: Literal["owner", "editor", "viewer"],
        totp: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.MemberChanged:
        """Give a member another role; to make an owner needs a fresh second factor."""
        _operation = Operation("changeMember", "PATCH", "/v1/settings/members/{userId}", "bc")
        _arguments: Dict[str, Any] = {
            "userId": user_id,
            "role": role,
            "totp": totp,
        }
        return cast(types.MemberChanged, self._call(_operation, _arguments, None, timeout, deadline))

    def remove_member(
        self,
        *,
        user_id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.MemberRemoved:
        """Remove a member (owners), or leave (anyone)."""
        _operation = Operation("removeMember", "DELETE", "/v1/settings/members/{userId}", "c")
        _arguments: Dict[str, Any] = {
            "userId": user_id,
        }
        return cast(types.MemberRemoved, self._call(_operation, _arguments, None, timeout, deadline))

    def rename_organization(
        self,
        *,
        id: str,
        name: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Renamed:
        """Give the organization another name."""
        _operation = Operation("renameOrganization", "PATCH", "/v1/organizations/{id}", "bc")
        _arguments: Dict[str, Any] = {
            "id": id,
            "name": name,
        }
        return cast(types.Renamed, self._call(_operation, _arguments, None, timeout, deadline))

    def transfer_organization(
        self,
        *,
        id: str,
        user_id: str,
        then: Literal["editor", "viewer", "leave"],
        totp: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Transferred:
        """Hand the organization over to a member and step down or leave; takes a code made for this."""
        _operation = Operation("transferOrganization", "POST", "/v1/organizations/{id}/transfer", "bc")
        _arguments: Dict[str, Any] = {
            "id": id,
            "userId": user_id,
            "then": then,
            "totp": totp,
            "passkey": passkey,
        }
        return cast(types.Transferred, self._call(_operation, _arguments, None, timeout, deadline))

    def get_support_access(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SupportAccess:
        """Until when staff may read, and their newest 50 sessions."""
        _operation = Operation("getSupportAccess", "GET", "/v1/settings/support-access", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.SupportAccess, self._call(_operation, _arguments, None, timeout, deadline))

    def set_support_access(
        self,
        *,
        until: Union[str, None],
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SupportAccess:
        """Let staff read until an instant, at most 7 days ahead; null ends it, and their open sessions."""
        _operation = Operation("setSupportAccess", "PUT", "/v1/settings/support-access", "bc")
        _arguments: Dict[str, Any] = {
            "until": until,
        }
        return cast(types.SupportAccess, self._call(_operation, _arguments, None, timeout, deadline))

    def end_support_session(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.SupportEnded:
        """End a session of staff at once."""
        _operation = Operation("endSupportSession", "DELETE", "/v1/settings/support-sessions/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.SupportEnded, self._call(_operation, _arguments, None, timeout, deadline))

    def get_wipe(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WipeState:
        """The newest wipe of the environment, how far it is, and what lay on the addresses."""
        _operation = Operation("getWipe", "GET", "/v1/settings/wipe", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.WipeState, self._call(_operation, _arguments, None, timeout, deadline))

    def schedule_wipe(
        self,
        *,
        environment: Literal["live", "sandbox"],
        confirm: str,
        totp: str = UNSET,
        passkey: types.PasskeyAnswer = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WipeScheduled:
        """Wipe the environment in 72 hours; takes a code made for this, and any owner can take it back."""
        _operation = Operation("scheduleWipe", "POST", "/v1/settings/wipe", "kbc")
        _arguments: Dict[str, Any] = {
            "environment": environment,
            "confirm": confirm,
            "totp": totp,
            "passkey": passkey,
        }
        return cast(types.WipeScheduled, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def cancel_wipe(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.WipeCancelled:
        """Take the scheduled wipe back, as long as nothing is deleted."""
        _operation = Operation("cancelWipe", "DELETE", "/v1/settings/wipe", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.WipeCancelled, self._call(_operation, _arguments, None, timeout, deadline))

    def get_usage(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Usage:
        """Usage of the current period."""
        _operation = Operation("getUsage", "GET", "/v1/billing/usage", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.Usage, self._call(_operation, _arguments, None, timeout, deadline))

    def get_plans(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Plans:
        """Tiers and bands, what they hold and cost."""
        _operation = Operation("getPlans", "GET", "/v1/billing/plans", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.Plans, self._call(_operation, _arguments, None, timeout, deadline))

    def preview_plan(
        self,
        *,
        tier: Literal["free", "premium", "ultimate"] = UNSET,
        band: Literal["launch", "growth", "scale", "enterprise", "custom"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Preview:
        """What a change of plan would cost, now and by the month."""
        _operation = Operation("previewPlan", "GET", "/v1/billing/preview", "c")
        _arguments: Dict[str, Any] = {
            "tier": tier,
            "band": band,
        }
        return cast(types.Preview, self._call(_operation, _arguments, None, timeout, deadline))

    def change_band(
        self,
        *,
        band: Literal["launch", "growth", "scale", "enterprise", "custom"],
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Plan:
        """Change the band."""
        _operation = Operation("changeBand", "POST", "/v1/billing/band", "kbc")
        _arguments: Dict[str, Any] = {
            "band": band,
        }
        return cast(types.Plan, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def change_plan(
        self,
        *,
        tier: Literal["free", "premium", "ultimate"],
        band: Literal["launch", "growth", "scale", "enterprise", "custom"] = UNSET,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Plan:
        """Change the tier: a higher one at once, a lower one at the end of the period."""
        _operation = Operation("changePlan", "POST", "/v1/billing/plan", "kbc")
        _arguments: Dict[str, Any] = {
            "tier": tier,
            "band": band,
        }
        return cast(types.Plan, self._call(_operation, _arguments, idempotency_key, timeout, deadline))

    def list_statements(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.StatementPage:
        """Statements, newest first."""
        _operation = Operation("listStatements", "GET", "/v1/billing/statements", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
        }
        return cast(types.StatementPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_statements_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.Statement, None, None]:
        """Rows of all pages, the next page when it is needed: Statements, newest first."""
        _operation = Operation("listStatements", "GET", "/v1/billing/statements", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_statement(
        self,
        *,
        id: str,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Statement:
        """One statement."""
        _operation = Operation("getStatement", "GET", "/v1/billing/statements/{id}", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
        }
        return cast(types.Statement, self._call(_operation, _arguments, None, timeout, deadline))

    def list_billed(
        self,
        *,
        id: str,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.BilledPage:
        """What a statement counts: each settled withdrawal of its month."""
        _operation = Operation("listBilled", "GET", "/v1/billing/statements/{id}/transactions", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
            "size": size,
            "after": after,
        }
        return cast(types.BilledPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_billed_all(
        self,
        *,
        id: str,
        size: int = UNSET,
        after: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[Any, None, None]:
        """Rows of all pages, the next page when it is needed: What a statement counts: each settled withdrawal of its month."""
        _operation = Operation("listBilled", "GET", "/v1/billing/statements/{id}/transactions", "c")
        _arguments: Dict[str, Any] = {
            "id": id,
            "size": size,
            "after": after,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def export_statement(
        self,
        *,
        id: str,
        format: Literal["csv", "html"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> str:
        """One statement as CSV, or as a page to print whose overage leads to the withdrawals."""
        _operation = Operation("exportStatement", "GET", "/v1/billing/statements/{id}/document", "dc")
        _arguments: Dict[str, Any] = {
            "id": id,
            "format": format,
        }
        return cast(str, self._call(_operation, _arguments, None, timeout, deadline))

    def list_audit_log(
        self,
        *,
        page: int = UNSET,
        size: int = UNSET,
        after: str = UNSET,
        actor: str = UNSET,
        action: str = UNSET,
        target: str = UNSET,
        outcome: Literal["done", "refused", "failed"] = UNSET,
        from_: str = UNSET,
        to: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.AuditPage:
        """Who did what, newest first."""
        _operation = Operation("listAuditLog", "GET", "/v1/settings/audit-log", "c")
        _arguments: Dict[str, Any] = {
            "page": page,
            "size": size,
            "after": after,
            "actor": actor,
            "action": action,
            "target": target,
            "outcome": outcome,
            "from": from_,
            "to": to,
        }
        return cast(types.AuditPage, self._call(_operation, _arguments, None, timeout, deadline))

    def list_audit_log_all(
        self,
        *,
        size: int = UNSET,
        after: str = UNSET,
        actor: str = UNSET,
        action: str = UNSET,
        target: str = UNSET,
        outcome: Literal["done", "refused", "failed"] = UNSET,
        from_: str = UNSET,
        to: str = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Generator[types.AuditEntry, None, None]:
        """Rows of all pages, the next page when it is needed: Who did what, newest first."""
        _operation = Operation("listAuditLog", "GET", "/v1/settings/audit-log", "c")
        _arguments: Dict[str, Any] = {
            "size": size,
            "after": after,
            "actor": actor,
            "action": action,
            "target": target,
            "outcome": outcome,
            "from": from_,
            "to": to,
        }
        return self._walk(_operation, _arguments, timeout, deadline)

    def get_audit_checkpoint(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Checkpoint:
        """Number and hash of the newest entry, signed: keep it, and a rewritten log is found out."""
        _operation = Operation("getAuditCheckpoint", "GET", "/v1/settings/audit-log/checkpoint", "c")
        _arguments: Dict[str, Any] = {}
        return cast(types.Checkpoint, self._call(_operation, _arguments, None, timeout, deadline))

    def verify_audit_log(
        self,
        *,
        checkpoint: Dict[str, Any] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Verified:
        """Compute the chain of the log again, and compare it with a checkpoint from earlier."""
        _operation = Operation("verifyAuditLog", "POST", "/v1/settings/audit-log/verify", "bc")
        _arguments: Dict[str, Any] = {
            "checkpoint": checkpoint,
        }
        return cast(types.Verified, self._call(_operation, _arguments, None, timeout, deadline))

    def export_audit_log(
        self,
        *,
        format: Literal["jsonl", "csv"] = UNSET,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> str:
        """The whole log as JSON Lines, which `flock audit verify` checks, or CSV; needs a fresh second factor."""
        _operation = Operation("exportAuditLog", "GET", "/v1/settings/audit-log/export", "dc")
        _arguments: Dict[str, Any] = {
            "format": format,
        }
        return cast(str, self._call(_operation, _arguments, None, timeout, deadline))

    def get_live(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Live:
        """The process runs."""
        _operation = Operation("getLive", "GET", "/health/live", "")
        _arguments: Dict[str, Any] = {}
        return cast(types.Live, self._call(_operation, _arguments, None, timeout, deadline))

    def get_ready(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> types.Ready:
        """The process can serve."""
        _operation = Operation("getReady", "GET", "/health/ready", "")
        _arguments: Dict[str, Any] = {}
        return cast(types.Ready, self._call(_operation, _arguments, None, timeout, deadline))

    def get_metrics(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> str:
        """Prometheus metrics, for peers in METRICS_ALLOW or with the token of METRICS_TOKEN_FILE."""
        _operation = Operation("getMetrics", "GET", "/metrics", "d")
        _arguments: Dict[str, Any] = {}
        return cast(str, self._call(_operation, _arguments, None, timeout, deadline))

    def get_description(
        self,
        *,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """This description as OpenAPI 3.1."""
        _operation = Operation("getDescription", "GET", "/v1/openapi.json", "dc")
        _arguments: Dict[str, Any] = {}
        return self._call(_operation, _arguments, None, timeout, deadline)
