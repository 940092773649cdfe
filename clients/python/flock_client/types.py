# Made by `npm run -s clients`: changes are lost.
"""What travels. Enumerations are text: a newer service may send others. What may be absent is marked by
`total=False`."""

from typing import Any, Dict, List, TypedDict, Union

Accepted = TypedDict("Accepted", {
    "accepted": "bool",
})

_Address = TypedDict("_Address", {
    "id": "str",
    "chain": "str",
    "address": "str",
    "derivationPath": "Union[str, None]",
    "environment": "str",
    "userRef": "Union[str, None]",
    "tag": "Union[str, None]",
    "label": "Union[str, None]",
    "status": "str",
    "createdAt": "str",
})
_AddressMore = TypedDict("_AddressMore", {
    "reserveDrops": "str",
    "projectId": "str",
    "batchId": "str",
    "mode": "str",
    "spendable": "bool",
}, total=False)


class Address(_Address, _AddressMore):
    pass


_AddressPage = TypedDict("_AddressPage", {
    "content": "List[Address]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_AddressPageMore = TypedDict("_AddressPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class AddressPage(_AddressPage, _AddressPageMore):
    pass


AdvancedClock = TypedDict("AdvancedClock", {
    "now": "str",
    "ran": "List[AdvancedClockRanItem]",
})

AdvancedClockRanItem = TypedDict("AdvancedClockRanItem", {
    "at": "str",
    "what": "str",
    "id": "str",
})

ApiKey = TypedDict("ApiKey", {
    "id": "str",
    "label": "str",
    "environment": "str",
    "prefix": "str",
    "role": "str",
    "status": "str",
    "createdAt": "str",
    "createdBy": "Union[str, None]",
    "lastUsedAt": "Union[str, None]",
    "expiresAt": "Union[str, None]",
    "revokedAt": "Union[str, None]",
})

ApiKeyCreated = TypedDict("ApiKeyCreated", {
    "id": "str",
    "label": "str",
    "environment": "str",
    "prefix": "str",
    "role": "str",
    "status": "str",
    "createdAt": "str",
    "createdBy": "Union[str, None]",
    "lastUsedAt": "Union[str, None]",
    "expiresAt": "Union[str, None]",
    "revokedAt": "Union[str, None]",
    "key": "str",
})

_ApiKeyPage = TypedDict("_ApiKeyPage", {
    "content": "List[ApiKey]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_ApiKeyPageMore = TypedDict("_ApiKeyPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class ApiKeyPage(_ApiKeyPage, _ApiKeyPageMore):
    pass


AssessedCase = TypedDict("AssessedCase", {
    "case": "str",
    "title": "str",
    "assumed": "List[str]",
    "chains": "List[AssessedCaseChainsItem]",
    "steps": "List[AssessedCaseStepsItem]",
    "warnings": "List[AssessedCaseWarningsItem]",
    "capacity": "ProjectCapacity",
})

AssessedCaseChainsItem = TypedDict("AssessedCaseChainsItem", {
    "chain": "str",
    "route": "str",
    "signs": "bool",
    "reason": "Union[str, None]",
    "discovery": "bool",
    "listRequired": "bool",
})

AssessedCaseStepsItem = TypedDict("AssessedCaseStepsItem", {
    "order": "int",
    "action": "str",
    "where": "str",
    "how": "str",
    "optional": "bool",
    "perPart": "bool",
})

AssessedCaseWarningsItem = TypedDict("AssessedCaseWarningsItem", {
    "code": "str",
    "message": "str",
    "chains": "List[str]",
})

AuditEntry = TypedDict("AuditEntry", {
    "seq": "int",
    "at": "str",
    "actor": "AuditEntryActor",
    "via": "str",
    "action": "str",
    "target": "Union[str, None]",
    "environment": "Union[str, None]",
    "outcome": "str",
    "reason": "Union[str, None]",
    "changes": "Union[Dict[str, List[Union[str, int, bool, None, List[str]]]], None]",
    "ip": "Union[str, None]",
    "client": "Union[str, None]",
    "requestId": "Union[str, None]",
    "hash": "str",
})

AuditEntryActor = TypedDict("AuditEntryActor", {
    "kind": "str",
    "id": "Union[str, None]",
    "name": "Union[str, None]",
})

AuditPage = TypedDict("AuditPage", {
    "content": "List[AuditEntry]",
    "next": "Union[str, None]",
})

Balance = TypedDict("Balance", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "chain": "str",
    "address": "str",
    "tokenContract": "Union[str, None]",
    "tokenSymbol": "str",
    "reserved": "str",
    "available": "str",
    "accountExists": "bool",
})

_BalancePage = TypedDict("_BalancePage", {
    "content": "List[Balance]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_BalancePageMore = TypedDict("_BalancePageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class BalancePage(_BalancePage, _BalancePageMore):
    pass


BilledPage = TypedDict("BilledPage", {
    "content": "List[BilledPageContentItem]",
    "next": "Union[str, None]",
})

BilledPageContentItem = TypedDict("BilledPageContentItem", {
    "transactionId": "str",
    "counted": "int",
    "chain": "str",
    "createdAt": "str",
})

BridgeData = TypedDict("BridgeData", {
    "transferId": "str",
    "policyId": "str",
    "fromChain": "str",
    "toChain": "str",
    "asset": "str",
    "tokenContract": "str",
    "state": "str",
    "amount": "str",
    "received": "Union[str, None]",
    "recipient": "str",
    "burnTransactionId": "str",
    "mintTransactionId": "Union[str, None]",
    "reason": "Union[str, None]",
})

BridgePolicy = TypedDict("BridgePolicy", {
    "id": "str",
    "version": "int",
    "fromChain": "str",
    "toChain": "str",
    "token": "str",
    "sourceWalletId": "str",
    "destinationWalletId": "str",
    "maxSingleTransfer": "str",
    "maxInFlightValue": "str",
    "maxInFlightCount": "int",
    "enabled": "bool",
    "inFlightCount": "int",
    "inFlightValue": "str",
    "createdAt": "str",
    "updatedAt": "str",
})

_BridgePolicyPage = TypedDict("_BridgePolicyPage", {
    "content": "List[BridgePolicy]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_BridgePolicyPageMore = TypedDict("_BridgePolicyPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class BridgePolicyPage(_BridgePolicyPage, _BridgePolicyPageMore):
    pass


BridgeTransfer = TypedDict("BridgeTransfer", {
    "id": "str",
    "policyId": "str",
    "fromChain": "str",
    "toChain": "str",
    "token": "str",
    "source": "str",
    "recipient": "str",
    "amount": "str",
    "maxFee": "Union[str, None]",
    "received": "Union[str, None]",
    "state": "str",
    "reason": "Union[str, None]",
    "stalled": "Union[BridgeTransferStalled, None]",
    "blocked": "Union[BridgeTransferBlocked, None]",
    "approveTransactionId": "Union[str, None]",
    "burnTransactionId": "Union[str, None]",
    "mintTransactionId": "Union[str, None]",
    "createdAt": "str",
    "updatedAt": "str",
    "endedAt": "Union[str, None]",
})

BridgeTransferStalled = TypedDict("BridgeTransferStalled", {
    "since": "str",
    "reason": "str",
})

BridgeTransferBlocked = TypedDict("BridgeTransferBlocked", {
    "reason": "str",
    "setting": "Union[str, None]",
    "cap": "Union[str, None]",
    "spent": "Union[str, None]",
    "required": "Union[str, None]",
})

_BridgeTransferPage = TypedDict("_BridgeTransferPage", {
    "content": "List[BridgeTransfer]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_BridgeTransferPageMore = TypedDict("_BridgeTransferPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class BridgeTransferPage(_BridgeTransferPage, _BridgeTransferPageMore):
    pass


Built = TypedDict("Built", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "id": "str",
    "chain": "str",
    "status": "str",
    "from": "str",
    "to": "str",
    "tokenContract": "Union[str, None]",
    "tokenSymbol": "str",
    "chainTag": "Union[str, None]",
    "feeEstimate": "BuiltFeeEstimate",
    "unsigned": "Unsigned",
    "createdAt": "str",
    "updatedAt": "str",
})

BuiltFeeEstimate = TypedDict("BuiltFeeEstimate", {
    "fee": "str",
    "feeMax": "str",
    "parts": "Dict[str, Union[str, float]]",
})

_ChainPage = TypedDict("_ChainPage", {
    "content": "List[ChainView]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_ChainPageMore = TypedDict("_ChainPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class ChainPage(_ChainPage, _ChainPageMore):
    pass


ChainView = TypedDict("ChainView", {
    "chain": "str",
    "enabled": "bool",
    "symbol": "Union[str, None]",
    "decimals": "Union[int, None]",
    "threshold": "Union[int, None]",
    "readiness": "str",
    "explorerUrl": "Union[str, None]",
    "status": "str",
    "reason": "Union[str, None]",
    "next": "Union[str, None]",
})

CheckoutLink = TypedDict("CheckoutLink", {
    "link": "CheckoutLinkLink",
    "merchant": "CheckoutLinkMerchant",
    "chain": "str",
    "network": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "decimals": "int",
    "addressMode": "str",
    "status": "str",
    "closedReason": "Union[str, None]",
    "open": "bool",
    "amount": "Union[str, None]",
    "minAmount": "Union[str, None]",
    "maxAmount": "Union[str, None]",
    "emailRequired": "bool",
    "address": "Union[str, None]",
    "serverTime": "str",
})

CheckoutLinkLink = TypedDict("CheckoutLinkLink", {
    "slug": "str",
    "mode": "str",
    "title": "Union[str, None]",
    "description": "Union[str, None]",
})

CheckoutLinkMerchant = TypedDict("CheckoutLinkMerchant", {
    "name": "Union[str, None]",
    "supportEmail": "Union[str, None]",
    "supportUrl": "Union[str, None]",
})

Checkpoint = TypedDict("Checkpoint", {
    "organization": "str",
    "seq": "int",
    "hash": "str",
    "at": "str",
    "kid": "str",
    "signature": "str",
})

CompletedUpload = TypedDict("CompletedUpload", {
    "uploadId": "str",
    "bytes": "int",
    "sha256": "str",
    "format": "Union[str, None]",
})

Coverage = TypedDict("Coverage", {
    "chain": "str",
    "completeHeight": "Union[int, None]",
    "headHeight": "Union[int, None]",
    "headAt": "Union[str, None]",
    "heardAt": "Union[str, None]",
    "ageSeconds": "Union[int, None]",
    "lag": "Union[int, None]",
    "unresolved": "List[CoverageUnresolvedItem]",
    "endpoints": "List[CoverageEndpointsItem]",
})

CoverageUnresolvedItem = TypedDict("CoverageUnresolvedItem", {
    "height": "int",
    "reason": "str",
    "tries": "int",
    "since": "str",
})

CoverageEndpointsItem = TypedDict("CoverageEndpointsItem", {
    "endpoint": "str",
    "state": "str",
    "reason": "Union[str, None]",
    "next": "Union[str, None]",
    "since": "Union[str, None]",
    "nextLookAt": "Union[str, None]",
})

Delivery = TypedDict("Delivery", {
    "id": "str",
    "eventId": "str",
    "event": "str",
    "webhookId": "str",
    "url": "str",
    "replay": "int",
    "status": "str",
    "heldReason": "Union[str, None]",
    "nextAttemptAt": "Union[str, None]",
    "createdAt": "str",
    "attempts": "List[DeliveryAttemptsItem]",
})

DeliveryAttemptsItem = TypedDict("DeliveryAttemptsItem", {
    "attempt": "int",
    "statusCode": "Union[int, None]",
    "durationMs": "float",
    "error": "Union[str, None]",
    "at": "str",
})

_DeliveryPage = TypedDict("_DeliveryPage", {
    "content": "List[Delivery]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_DeliveryPageMore = TypedDict("_DeliveryPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class DeliveryPage(_DeliveryPage, _DeliveryPageMore):
    pass


DepositData = TypedDict("DepositData", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "depositId": "str",
    "chain": "str",
    "txid": "str",
    "outputIndex": "int",
    "address": "str",
    "tokenContract": "Union[str, None]",
    "tokenSymbol": "str",
    "userRef": "Union[str, None]",
    "tag": "Union[str, None]",
    "chainTag": "Union[str, None]",
    "height": "int",
    "blockHash": "str",
    "incarnation": "int",
    "paymentId": "Union[str, None]",
    "linkId": "Union[str, None]",
})

DepositReversedData = TypedDict("DepositReversedData", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "depositId": "str",
    "chain": "str",
    "txid": "str",
    "outputIndex": "int",
    "address": "str",
    "tokenContract": "Union[str, None]",
    "tokenSymbol": "str",
    "userRef": "Union[str, None]",
    "tag": "Union[str, None]",
    "chainTag": "Union[str, None]",
    "height": "int",
    "blockHash": "str",
    "incarnation": "int",
    "paymentId": "Union[str, None]",
    "linkId": "Union[str, None]",
    "reversedFrom": "str",
    "depth": "int",
})

DetectedPath = TypedDict("DetectedPath", {
    "candidates": "List[DetectedPathCandidatesItem]",
    "indexesTried": "int",
    "shapesTried": "List[str]",
    "hints": "List[str]",
})

DetectedPathCandidatesItem = TypedDict("DetectedPathCandidatesItem", {
    "belowKey": "str",
    "template": "str",
    "path": "str",
    "guessed": "List[str]",
    "script": "Union[str, None]",
    "standard": "bool",
    "wallets": "List[str]",
    "confirmed": "bool",
})

Discovered = TypedDict("Discovered", {
    "connectionId": "Union[str, None]",
})

Domain = TypedDict("Domain", {
    "id": "str",
    "domain": "str",
    "status": "str",
    "record": "DomainRecord",
    "verifiedAt": "Union[str, None]",
    "createdAt": "str",
})

DomainRecord = TypedDict("DomainRecord", {
    "name": "str",
    "type": "str",
    "value": "str",
})

_DomainPage = TypedDict("_DomainPage", {
    "content": "List[Domain]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_DomainPageMore = TypedDict("_DomainPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class DomainPage(_DomainPage, _DomainPageMore):
    pass


DryRun = TypedDict("DryRun", {
    "batchId": "str",
    "dryRunId": "Union[str, None]",
    "state": "str",
    "byPhase": "DryRunByPhase",
    "rows": "int",
    "adoptable": "int",
    "skipped": "int",
    "spendable": "int",
    "watchOnly": "int",
    "conflicts": "int",
    "projection": "ProjectCapacity",
    "issues": "List[ImportIssue]",
})

DryRunByPhase = TypedDict("DryRunByPhase", {
    "parse": "DryRunByPhaseParse",
    "schema": "DryRunByPhaseSchema",
    "chain_format": "DryRunByPhaseChain_format",
    "derivation": "DryRunByPhaseDerivation",
    "uniqueness": "DryRunByPhaseUniqueness",
    "spendability": "DryRunByPhaseSpendability",
    "projection": "DryRunByPhaseProjection",
})

DryRunByPhaseParse = TypedDict("DryRunByPhaseParse", {
    "state": "str",
    "rows": "int",
    "passed": "int",
    "skipped": "int",
    "warnings": "int",
    "errors": "int",
    "codes": "Dict[str, int]",
})

DryRunByPhaseSchema = TypedDict("DryRunByPhaseSchema", {
    "state": "str",
    "rows": "int",
    "passed": "int",
    "skipped": "int",
    "warnings": "int",
    "errors": "int",
    "codes": "Dict[str, int]",
})

DryRunByPhaseChain_format = TypedDict("DryRunByPhaseChain_format", {
    "state": "str",
    "rows": "int",
    "passed": "int",
    "skipped": "int",
    "warnings": "int",
    "errors": "int",
    "codes": "Dict[str, int]",
})

DryRunByPhaseDerivation = TypedDict("DryRunByPhaseDerivation", {
    "state": "str",
    "rows": "int",
    "passed": "int",
    "skipped": "int",
    "warnings": "int",
    "errors": "int",
    "codes": "Dict[str, int]",
})

DryRunByPhaseUniqueness = TypedDict("DryRunByPhaseUniqueness", {
    "state": "str",
    "rows": "int",
    "passed": "int",
    "skipped": "int",
    "warnings": "int",
    "errors": "int",
    "codes": "Dict[str, int]",
})

DryRunByPhaseSpendability = TypedDict("DryRunByPhaseSpendability", {
    "state": "str",
    "rows": "int",
    "passed": "int",
    "skipped": "int",
    "warnings": "int",
    "errors": "int",
    "codes": "Dict[str, int]",
})

DryRunByPhaseProjection = TypedDict("DryRunByPhaseProjection", {
    "state": "str",
    "rows": "int",
    "passed": "int",
    "skipped": "int",
    "warnings": "int",
    "errors": "int",
    "codes": "Dict[str, int]",
})

EdgeData = TypedDict("EdgeData", {
    "liveness": "str",
})

_EdgeHealth = TypedDict("_EdgeHealth", {
    "status": "str",
})
_EdgeHealthMore = TypedDict("_EdgeHealthMore", {
    "webhooksBlocked": "List[EdgeHealthWebhooksBlockedItem]",
}, total=False)


class EdgeHealth(_EdgeHealth, _EdgeHealthMore):
    pass


EdgeHealthWebhooksBlockedItem = TypedDict("EdgeHealthWebhooksBlockedItem", {
    "target": "str",
    "reason": "str",
    "setting": "Union[str, None]",
    "next": "str",
    "count": "int",
    "since": "str",
})

EdgeKey = TypedDict("EdgeKey", {
    "id": "str",
    "label": "str",
    "prefix": "str",
    "status": "str",
    "createdAt": "str",
    "revokeAskedAt": "Union[str, None]",
    "revokedAt": "Union[str, None]",
})

EdgeKeyPage = TypedDict("EdgeKeyPage", {
    "content": "List[EdgeKey]",
    "next": "Union[str, None]",
})

EdgeSetup = TypedDict("EdgeSetup", {
    "environment": "str",
    "command": "str",
    "checkoutCommand": "str",
    "variables": "List[EdgeSetupVariablesItem]",
})

EdgeSetupVariablesItem = TypedDict("EdgeSetupVariablesItem", {
    "name": "str",
    "value": "Union[str, None]",
    "description": "str",
})

EmailDone = TypedDict("EmailDone", {
    "email": "str",
})

EventRecord = TypedDict("EventRecord", {
    "id": "str",
    "event": "str",
    "createdAt": "str",
    "body": "Union[str, None]",
    "deliveries": "List[Delivery]",
})

EventsList = TypedDict("EventsList", {
    "content": "List[EventsListContentItem]",
    "hasMore": "bool",
})

EventsListContentItem = TypedDict("EventsListContentItem", {
    "id": "str",
    "event": "str",
    "createdAt": "str",
    "body": "Union[str, None]",
})

ExportPlan = TypedDict("ExportPlan", {
    "projectId": "str",
    "format": "str",
    "rows": "int",
    "expressible": "int",
    "inexpressible": "List[ExportPlanInexpressibleItem]",
    "loses": "List[str]",
    "bytes": "int",
})

ExportPlanInexpressibleItem = TypedDict("ExportPlanInexpressibleItem", {
    "reason": "str",
    "count": "int",
})

FactorRemoved = TypedDict("FactorRemoved", {
    "removed": "bool",
})

Fee = TypedDict("Fee", {
    "chain": "str",
    "symbol": "str",
    "decimals": "int",
    "fee": "str",
    "feeFormatted": "str",
    "feeMax": "str",
    "feeMaxFormatted": "str",
    "parts": "Dict[str, Union[str, float]]",
})

FundingWallet = TypedDict("FundingWallet", {
    "id": "str",
    "chain": "str",
    "address": "Union[str, None]",
    "derivationPath": "Union[str, None]",
    "label": "Union[str, None]",
    "balance": "Union[str, None]",
    "available": "Union[str, None]",
    "lowBalance": "Union[str, None]",
    "isLow": "Union[bool, None]",
    "estimatedSweepsRemaining": "Union[int, None]",
    "reason": "Union[str, None]",
    "asOf": "str",
    "createdAt": "str",
})

FundingWalletLowData = TypedDict("FundingWalletLowData", {
    "fundingWalletId": "str",
    "chain": "str",
    "address": "str",
    "available": "str",
    "lowBalance": "str",
    "estimatedSweepsRemaining": "Union[int, None]",
})

_FundingWalletPage = TypedDict("_FundingWalletPage", {
    "content": "List[FundingWallet]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_FundingWalletPageMore = TypedDict("_FundingWalletPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class FundingWalletPage(_FundingWalletPage, _FundingWalletPageMore):
    pass


_GasTankPage = TypedDict("_GasTankPage", {
    "content": "List[GasTankPageContentItem]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_GasTankPageMore = TypedDict("_GasTankPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class GasTankPage(_GasTankPage, _GasTankPageMore):
    pass


GasTankPageContentItem = TypedDict("GasTankPageContentItem", {
    "chain": "str",
    "address": "str",
    "derivationPath": "str",
})

IdentityRotationDetectedData = TypedDict("IdentityRotationDetectedData", {
    "rotationId": "str",
    "pinnedIdentity": "str",
    "newIdentity": "str",
})

ImportBatch = TypedDict("ImportBatch", {
    "id": "str",
    "batchId": "str",
    "projectId": "str",
    "uploadId": "Union[str, None]",
    "scanId": "Union[str, None]",
    "state": "str",
    "dryRunId": "Union[str, None]",
    "adopting": "int",
    "heights": "Dict[str, int]",
    "createdAt": "str",
    "committedAt": "Union[str, None]",
    "review": "Union[ImportBatchReview, None]",
    "rollbackUntil": "Union[str, None]",
})

ImportBatchReview = TypedDict("ImportBatchReview", {
    "reviewId": "str",
    "state": "str",
})

ImportIssue = TypedDict("ImportIssue", {
    "phase": "str",
    "severity": "str",
    "code": "str",
    "line": "Union[int, None]",
    "column": "Union[int, None]",
    "field": "Union[str, None]",
    "message": "str",
})

_ImportPage = TypedDict("_ImportPage", {
    "content": "List[ImportBatch]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_ImportPageMore = TypedDict("_ImportPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class ImportPage(_ImportPage, _ImportPageMore):
    pass


Invitation = TypedDict("Invitation", {
    "id": "str",
    "email": "str",
    "role": "str",
    "status": "str",
    "createdAt": "str",
    "expiresAt": "str",
})

InvitationAccepted = TypedDict("InvitationAccepted", {
    "organizationId": "str",
    "role": "str",
})

InvitationLook = TypedDict("InvitationLook", {
    "organization": "str",
    "email": "str",
    "role": "str",
    "known": "bool",
    "sso": "bool",
})

_InvitationPage = TypedDict("_InvitationPage", {
    "content": "List[Invitation]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_InvitationPageMore = TypedDict("_InvitationPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class InvitationPage(_InvitationPage, _InvitationPageMore):
    pass


Invoice = TypedDict("Invoice", {
    "id": "str",
    "number": "str",
    "status": "str",
    "linkId": "str",
    "paymentId": "str",
    "issuedAt": "str",
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "decimals": "int",
    "amount": "Union[str, None]",
    "amountPaid": "str",
    "amountOverpaid": "str",
    "amountShort": "str",
    "customerEmail": "str",
    "customerName": "Union[str, None]",
    "title": "Union[str, None]",
    "transfers": "List[InvoiceTransfersItem]",
})

InvoiceTransfersItem = TypedDict("InvoiceTransfersItem", {
    "txid": "str",
    "amount": "str",
    "seenAt": "str",
})

_InvoicePage = TypedDict("_InvoicePage", {
    "content": "List[Invoice]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_InvoicePageMore = TypedDict("_InvoicePageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class InvoicePage(_InvoicePage, _InvoicePageMore):
    pass


_IssuePage = TypedDict("_IssuePage", {
    "content": "List[ImportIssue]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_IssuePageMore = TypedDict("_IssuePageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class IssuePage(_IssuePage, _IssuePageMore):
    pass


Job = TypedDict("Job", {
    "id": "str",
    "policyId": "str",
    "chain": "str",
    "token": "Union[str, None]",
    "trigger": "str",
    "state": "str",
    "run": "int",
    "blocked": "Union[JobBlocked, None]",
    "createdAt": "str",
    "updatedAt": "str",
    "endedAt": "Union[str, None]",
})

JobBlocked = TypedDict("JobBlocked", {
    "reason": "str",
    "setting": "Union[str, None]",
    "cap": "Union[str, None]",
    "spent": "Union[str, None]",
    "required": "Union[str, None]",
    "windowSeconds": "Union[int, None]",
})

_JobPage = TypedDict("_JobPage", {
    "content": "List[Job]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_JobPageMore = TypedDict("_JobPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class JobPage(_JobPage, _JobPageMore):
    pass


JobWhole = TypedDict("JobWhole", {
    "id": "str",
    "policyId": "str",
    "chain": "str",
    "token": "Union[str, None]",
    "trigger": "str",
    "state": "str",
    "run": "int",
    "blocked": "Union[JobWholeBlocked, None]",
    "createdAt": "str",
    "updatedAt": "str",
    "endedAt": "Union[str, None]",
    "settings": "JobWholeSettings",
    "amount": "str",
    "estimate": "str",
    "paid": "str",
    "counts": "Dict[str, int]",
    "operations": "List[Operation]",
})

JobWholeBlocked = TypedDict("JobWholeBlocked", {
    "reason": "str",
    "setting": "Union[str, None]",
    "cap": "Union[str, None]",
    "spent": "Union[str, None]",
    "required": "Union[str, None]",
    "windowSeconds": "Union[int, None]",
})

JobWholeSettings = TypedDict("JobWholeSettings", {
    "treasuryWalletId": "str",
    "fundingWalletId": "Union[str, None]",
    "gasFundingMode": "str",
    "dustFloor": "str",
    "maxFeeRatioBps": "Union[int, None]",
    "abortIfGasExceeds": "Union[str, None]",
    "retainGasFloat": "int",
})

KeySource = TypedDict("KeySource", {
    "id": "str",
    "fingerprint": "str",
    "label": "str",
    "kind": "str",
    "keystore": "str",
    "chains": "List[str]",
    "basePath": "Union[str, None]",
    "keys": "List[KeySourceKeysItem]",
    "addresses": "int",
    "status": "str",
    "signing": "List[KeySourceSigningItem]",
    "pass": "Union[KeySourcePass, None]",
    "traced": "List[KeySourceTracedItem]",
    "createdAt": "str",
    "purgedAt": "Union[str, None]",
})

KeySourceKeysItem = TypedDict("KeySourceKeysItem", {
    "chains": "List[str]",
    "path": "Union[str, None]",
    "xpub": "Union[str, None]",
    "publicKey": "Union[str, None]",
})

KeySourceSigningItem = TypedDict("KeySourceSigningItem", {
    "chain": "str",
    "signs": "bool",
    "reason": "Union[str, None]",
})

KeySourcePass = TypedDict("KeySourcePass", {
    "state": "str",
    "checked": "int",
    "traced": "int",
})

KeySourceTracedItem = TypedDict("KeySourceTracedItem", {
    "chain": "str",
    "spendable": "int",
    "watchOnly": "int",
})

_KeySourcePage = TypedDict("_KeySourcePage", {
    "content": "List[KeySource]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_KeySourcePageMore = TypedDict("_KeySourcePageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class KeySourcePage(_KeySourcePage, _KeySourcePageMore):
    pass


KeySourceResolved = TypedDict("KeySourceResolved", {
    "keySourceId": "str",
    "state": "str",
    "checked": "int",
    "traced": "int",
    "spendable": "int",
    "watchOnly": "List[KeySourceResolvedWatchOnlyItem]",
})

KeySourceResolvedWatchOnlyItem = TypedDict("KeySourceResolvedWatchOnlyItem", {
    "reason": "str",
    "count": "int",
})

Lease = TypedDict("Lease", {
    "state": "str",
    "epoch": "int",
    "holder": "Union[str, None]",
    "expiresAt": "Union[str, None]",
})

Link = TypedDict("Link", {
    "id": "str",
    "url": "str",
    "slug": "str",
    "mode": "str",
    "addressMode": "str",
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "decimals": "int",
    "amount": "Union[str, None]",
    "thresholdAmount": "Union[str, None]",
    "minAmount": "Union[str, None]",
    "maxAmount": "Union[str, None]",
    "closesAt": "Union[str, None]",
    "maxUses": "Union[int, None]",
    "uses": "int",
    "title": "Union[str, None]",
    "description": "Union[str, None]",
    "collectEmail": "bool",
    "successUrl": "Union[str, None]",
    "metadata": "Dict[str, Any]",
    "status": "str",
    "closedReason": "Union[str, None]",
    "closedAt": "Union[str, None]",
    "monitorUntil": "Union[str, None]",
    "amountRaised": "str",
    "paymentCount": "int",
    "address": "Union[str, None]",
    "derivationPath": "Union[str, None]",
    "createdAt": "str",
    "updatedAt": "str",
})

_LinkPage = TypedDict("_LinkPage", {
    "content": "List[Link]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_LinkPageMore = TypedDict("_LinkPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class LinkPage(_LinkPage, _LinkPageMore):
    pass


Live = TypedDict("Live", {
    "status": "str",
})

LocalKey = TypedDict("LocalKey", {
    "id": "str",
    "label": "str",
    "prefix": "str",
    "mintedBy": "Union[str, None]",
    "createdAt": "str",
    "expiresAt": "Union[str, None]",
    "revokedAt": "Union[str, None]",
})

LocalKeyCreated = TypedDict("LocalKeyCreated", {
    "id": "str",
    "label": "str",
    "key": "str",
    "prefix": "str",
    "mintedBy": "Union[str, None]",
    "expiresAt": "Union[str, None]",
})

_LocalKeyPage = TypedDict("_LocalKeyPage", {
    "content": "List[LocalKey]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_LocalKeyPageMore = TypedDict("_LocalKeyPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class LocalKeyPage(_LocalKeyPage, _LocalKeyPageMore):
    pass


LocalKeyRevoked = TypedDict("LocalKeyRevoked", {
    "id": "str",
    "label": "str",
    "prefix": "str",
    "mintedBy": "Union[str, None]",
    "createdAt": "str",
    "expiresAt": "Union[str, None]",
    "revokedAt": "Union[str, None]",
    "alsoRevoked": "List[str]",
})

Login = TypedDict("Login", {
    "id": "str",
    "current": "bool",
    "method": "str",
    "client": "str",
    "ip": "str",
    "createdAt": "str",
    "lastSeenAt": "str",
    "endsAt": "str",
})

_LoginPage = TypedDict("_LoginPage", {
    "content": "List[Login]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_LoginPageMore = TypedDict("_LoginPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class LoginPage(_LoginPage, _LoginPageMore):
    pass


LoginsEnded = TypedDict("LoginsEnded", {
    "ended": "int",
})

Me = TypedDict("Me", {
    "id": "str",
    "email": "str",
    "secondFactor": "bool",
    "totp": "bool",
    "passkeys": "int",
    "recoveryCodes": "int",
    "loginId": "Union[str, None]",
})

Member = TypedDict("Member", {
    "userId": "str",
    "email": "str",
    "role": "str",
    "totpConfirmed": "bool",
})

MemberChanged = TypedDict("MemberChanged", {
    "userId": "str",
    "role": "str",
})

_MemberPage = TypedDict("_MemberPage", {
    "content": "List[Member]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_MemberPageMore = TypedDict("_MemberPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class MemberPage(_MemberPage, _MemberPageMore):
    pass


MemberRemoved = TypedDict("MemberRemoved", {
    "userId": "str",
    "removed": "bool",
    "apiKeysMinted": "int",
})

Observed = TypedDict("Observed", {
    "projectId": "str",
    "state": "str",
    "addresses": "int",
    "depositsObserved": "int",
    "historicalRecorded": "int",
    "caughtUp": "bool",
    "chains": "List[ObservedChainsItem]",
})

ObservedChainsItem = TypedDict("ObservedChainsItem", {
    "chain": "str",
    "recordedHeight": "Union[int, None]",
    "caughtUp": "bool",
    "depositsObserved": "int",
    "historicalRecorded": "int",
    "confirmed": "int",
    "pending": "int",
    "reversed": "int",
    "straddling": "int",
})

OpenedUpload = TypedDict("OpenedUpload", {
    "uploadId": "str",
    "uploadUrl": "str",
    "deadline": "str",
    "maxBytes": "int",
})

Operation = TypedDict("Operation", {
    "id": "str",
    "address": "str",
    "state": "str",
    "reason": "Union[str, None]",
    "attempt": "int",
    "amount": "str",
    "estimate": "str",
    "funding": "Union[str, None]",
    "paid": "Union[str, None]",
    "fundTransactionId": "Union[str, None]",
    "sweepTransactionId": "Union[str, None]",
    "blocked": "Union[OperationBlocked, None]",
    "updatedAt": "str",
})

OperationBlocked = TypedDict("OperationBlocked", {
    "reason": "str",
    "setting": "Union[str, None]",
    "cap": "Union[str, None]",
    "spent": "Union[str, None]",
    "required": "Union[str, None]",
    "windowSeconds": "Union[int, None]",
})

Organization = TypedDict("Organization", {
    "id": "str",
    "name": "str",
    "role": "str",
    "createdAt": "str",
})

_OrganizationPage = TypedDict("_OrganizationPage", {
    "content": "List[Organization]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_OrganizationPageMore = TypedDict("_OrganizationPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class OrganizationPage(_OrganizationPage, _OrganizationPageMore):
    pass


_Outbox = TypedDict("_Outbox", {
    "outboxDepth": "int",
    "outboxPoisoned": "bool",
    "outboxMode": "Union[str, None]",
})
_OutboxMore = TypedDict("_OutboxMore", {
    "poisonedBy": "Union[OutboxPoisonedBy, None]",
    "setAside": "int",
}, total=False)


class Outbox(_Outbox, _OutboxMore):
    pass


OutboxPoisonedBy = TypedDict("OutboxPoisonedBy", {
    "subject": "str",
    "kind": "str",
    "code": "str",
    "tries": "int",
})

Passkey = TypedDict("Passkey", {
    "id": "str",
    "name": "str",
    "createdAt": "str",
    "lastUsedAt": "Union[str, None]",
})

PasskeyAnswer = TypedDict("PasskeyAnswer", {
    "id": "str",
    "rawId": "str",
    "type": "str",
    "response": "PasskeyAnswerResponse",
})

_PasskeyAnswerResponse = TypedDict("_PasskeyAnswerResponse", {
    "clientDataJSON": "str",
    "authenticatorData": "str",
    "signature": "str",
})
_PasskeyAnswerResponseMore = TypedDict("_PasskeyAnswerResponseMore", {
    "userHandle": "str",
}, total=False)


class PasskeyAnswerResponse(_PasskeyAnswerResponse, _PasskeyAnswerResponseMore):
    pass


PasskeyCreation = TypedDict("PasskeyCreation", {
    "challenge": "str",
    "rp": "PasskeyCreationRp",
    "user": "PasskeyCreationUser",
    "pubKeyCredParams": "List[PasskeyCreationPubKeyCredParamsItem]",
    "timeout": "int",
    "attestation": "str",
    "authenticatorSelection": "PasskeyCreationAuthenticatorSelection",
    "excludeCredentials": "List[PasskeyCreationExcludeCredentialsItem]",
})

PasskeyCreationRp = TypedDict("PasskeyCreationRp", {
    "id": "str",
    "name": "str",
})

PasskeyCreationUser = TypedDict("PasskeyCreationUser", {
    "id": "str",
    "name": "str",
    "displayName": "str",
})

PasskeyCreationPubKeyCredParamsItem = TypedDict("PasskeyCreationPubKeyCredParamsItem", {
    "type": "str",
    "alg": "int",
})

PasskeyCreationAuthenticatorSelection = TypedDict("PasskeyCreationAuthenticatorSelection", {
    "residentKey": "str",
    "requireResidentKey": "bool",
    "userVerification": "str",
})

PasskeyCreationExcludeCredentialsItem = TypedDict("PasskeyCreationExcludeCredentialsItem", {
    "id": "str",
    "type": "str",
})

PasskeyMade = TypedDict("PasskeyMade", {
    "id": "str",
    "rawId": "str",
    "type": "str",
    "response": "PasskeyMadeResponse",
})

PasskeyMadeResponse = TypedDict("PasskeyMadeResponse", {
    "clientDataJSON": "str",
    "attestationObject": "str",
})

_PasskeyPage = TypedDict("_PasskeyPage", {
    "content": "List[Passkey]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_PasskeyPageMore = TypedDict("_PasskeyPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class PasskeyPage(_PasskeyPage, _PasskeyPageMore):
    pass


PasskeyQuestion = TypedDict("PasskeyQuestion", {
    "challenge": "str",
    "rpId": "str",
    "timeout": "int",
    "userVerification": "str",
    "allowCredentials": "List[PasskeyQuestionAllowCredentialsItem]",
})

PasskeyQuestionAllowCredentialsItem = TypedDict("PasskeyQuestionAllowCredentialsItem", {
    "id": "str",
    "type": "str",
})

PasskeyRemoved = TypedDict("PasskeyRemoved", {
    "removed": "bool",
})

PasswordChanged = TypedDict("PasswordChanged", {
    "changed": "bool",
})

Payment = TypedDict("Payment", {
    "id": "str",
    "linkId": "str",
    "status": "str",
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "decimals": "int",
    "address": "str",
    "derivationPath": "str",
    "addressReused": "bool",
    "amount": "Union[str, None]",
    "amountDue": "str",
    "amountPaid": "str",
    "amountConfirmed": "str",
    "amountRemaining": "str",
    "amountOverpaid": "str",
    "amountShort": "str",
    "transfers": "List[PaymentTransfersItem]",
    "notices": "List[PaymentNoticesItem]",
    "customerEmail": "Union[str, None]",
    "customerName": "Union[str, None]",
    "metadata": "Dict[str, Any]",
    "invoiceId": "Union[str, None]",
    "invoiceNumber": "Union[str, None]",
    "expiresAt": "str",
    "createdAt": "str",
    "updatedAt": "str",
})

PaymentTransfersItem = TypedDict("PaymentTransfersItem", {
    "txid": "str",
    "amount": "str",
    "confirmations": "int",
    "threshold": "int",
    "status": "str",
    "late": "bool",
    "explorerUrl": "Union[str, None]",
})

PaymentNoticesItem = TypedDict("PaymentNoticesItem", {
    "reason": "str",
    "chain": "str",
    "asset": "str",
    "amount": "str",
    "txid": "str",
})

PaymentData = TypedDict("PaymentData", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "paymentId": "str",
    "linkId": "str",
    "createdVia": "str",
    "mode": "str",
    "status": "str",
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "address": "str",
    "derivationPath": "str",
    "txid": "str",
    "outputIndex": "int",
    "depositId": "str",
    "incarnation": "int",
    "height": "int",
    "blockHash": "str",
    "amountDue": "str",
    "amountPaid": "str",
    "amountConfirmed": "str",
    "amountRemaining": "str",
    "amountOverpaid": "str",
    "amountShort": "str",
    "late": "bool",
    "addressReused": "bool",
    "invoiceNumber": "Union[str, None]",
    "customerEmail": "Union[str, None]",
    "customerName": "Union[str, None]",
    "metadata": "Dict[str, Any]",
})

PaymentLinkClosedData = TypedDict("PaymentLinkClosedData", {
    "linkId": "str",
    "slug": "str",
    "url": "str",
    "mode": "str",
    "chain": "str",
    "asset": "str",
    "title": "Union[str, None]",
    "metadata": "Dict[str, Any]",
    "amountRaised": "str",
    "paymentCount": "int",
    "closedReason": "str",
    "closedAt": "str",
    "monitorUntil": "str",
})

PaymentLinkCreatedData = TypedDict("PaymentLinkCreatedData", {
    "linkId": "str",
    "slug": "str",
    "url": "str",
    "mode": "str",
    "chain": "str",
    "asset": "str",
    "title": "Union[str, None]",
    "metadata": "Dict[str, Any]",
})

_PaymentPage = TypedDict("_PaymentPage", {
    "content": "List[Payment]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_PaymentPageMore = TypedDict("_PaymentPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class PaymentPage(_PaymentPage, _PaymentPageMore):
    pass


PaymentReversedData = TypedDict("PaymentReversedData", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "paymentId": "Union[str, None]",
    "linkId": "str",
    "createdVia": "str",
    "mode": "str",
    "status": "Union[str, None]",
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "address": "str",
    "derivationPath": "str",
    "txid": "str",
    "outputIndex": "int",
    "depositId": "str",
    "incarnation": "int",
    "height": "int",
    "blockHash": "str",
    "amountDue": "str",
    "amountPaid": "str",
    "amountConfirmed": "str",
    "amountRemaining": "str",
    "amountOverpaid": "str",
    "amountShort": "str",
    "late": "bool",
    "addressReused": "bool",
    "invoiceNumber": "Union[str, None]",
    "customerEmail": "Union[str, None]",
    "customerName": "Union[str, None]",
    "metadata": "Dict[str, Any]",
    "reversedFrom": "str",
    "depth": "int",
})

PaymentSettings = TypedDict("PaymentSettings", {
    "active": "bool",
    "displayName": "Union[str, None]",
    "supportEmail": "Union[str, None]",
    "supportUrl": "Union[str, None]",
    "origins": "List[str]",
    "toleranceBps": "int",
    "timeZone": "str",
    "language": "str",
    "invoice": "PaymentSettingsInvoice",
})

PaymentSettingsInvoice = TypedDict("PaymentSettingsInvoice", {
    "name": "Union[str, None]",
    "address": "Union[str, None]",
    "taxId": "Union[str, None]",
})

PaymentUnmatchedData = TypedDict("PaymentUnmatchedData", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "paymentId": "Union[str, None]",
    "linkId": "str",
    "createdVia": "str",
    "mode": "str",
    "status": "Union[str, None]",
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "address": "str",
    "derivationPath": "str",
    "txid": "str",
    "outputIndex": "int",
    "depositId": "str",
    "incarnation": "int",
    "height": "int",
    "blockHash": "str",
    "amountDue": "str",
    "amountPaid": "str",
    "amountConfirmed": "str",
    "amountRemaining": "str",
    "amountOverpaid": "str",
    "amountShort": "str",
    "late": "bool",
    "addressReused": "bool",
    "invoiceNumber": "Union[str, None]",
    "customerEmail": "Union[str, None]",
    "customerName": "Union[str, None]",
    "metadata": "Dict[str, Any]",
    "reason": "str",
    "expected": "PaymentUnmatchedDataExpected",
})

PaymentUnmatchedDataExpected = TypedDict("PaymentUnmatchedDataExpected", {
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
})

_PaymentsReadinessPage = TypedDict("_PaymentsReadinessPage", {
    "content": "List[PaymentsReadinessPageContentItem]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_PaymentsReadinessPageMore = TypedDict("_PaymentsReadinessPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class PaymentsReadinessPage(_PaymentsReadinessPage, _PaymentsReadinessPageMore):
    pass


PaymentsReadinessPageContentItem = TypedDict("PaymentsReadinessPageContentItem", {
    "chain": "str",
    "ready": "bool",
    "reason": "Union[str, None]",
    "asset": "str",
    "nativeMinimum": "Union[str, None]",
    "estimatedSweepFee": "Union[str, None]",
    "feeAsOf": "Union[str, None]",
    "tokens": "List[PaymentsReadinessPageContentItemTokensItem]",
    "threshold": "int",
    "unpaidAddresses": "PaymentsReadinessPageContentItemUnpaidAddresses",
    "gapLimitNeeded": "Union[int, None]",
    "gapLimitAsOf": "Union[str, None]",
    "attestationsAhead": "int",
})

PaymentsReadinessPageContentItemTokensItem = TypedDict("PaymentsReadinessPageContentItemTokensItem", {
    "symbol": "str",
    "contract": "str",
    "decimals": "int",
    "minimum": "str",
})

PaymentsReadinessPageContentItemUnpaidAddresses = TypedDict("PaymentsReadinessPageContentItemUnpaidAddresses", {
    "open": "int",
    "resting": "int",
    "limit": "int",
})

PaymentsSession = TypedDict("PaymentsSession", {
    "id": "Union[str, None]",
    "paymentId": "Union[str, None]",
    "status": "str",
    "link": "PaymentsSessionLink",
    "merchant": "PaymentsSessionMerchant",
    "chain": "str",
    "network": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "decimals": "int",
    "address": "str",
    "amount": "Union[str, None]",
    "amountDue": "str",
    "amountPaid": "str",
    "amountConfirmed": "str",
    "amountRemaining": "str",
    "amountOverpaid": "str",
    "amountShort": "str",
    "transfers": "List[PaymentsSessionTransfersItem]",
    "notices": "List[PaymentsSessionNoticesItem]",
    "expiresAt": "Union[str, None]",
    "serverTime": "str",
    "uri": "Union[str, None]",
    "attestation": "Union[PaymentsSessionAttestation, None]",
    "successUrl": "Union[str, None]",
})

PaymentsSessionLink = TypedDict("PaymentsSessionLink", {
    "slug": "str",
    "mode": "str",
    "title": "Union[str, None]",
    "description": "Union[str, None]",
})

PaymentsSessionMerchant = TypedDict("PaymentsSessionMerchant", {
    "name": "Union[str, None]",
    "supportEmail": "Union[str, None]",
    "supportUrl": "Union[str, None]",
})

PaymentsSessionTransfersItem = TypedDict("PaymentsSessionTransfersItem", {
    "txid": "str",
    "amount": "str",
    "confirmations": "int",
    "threshold": "int",
    "status": "str",
    "late": "bool",
    "explorerUrl": "Union[str, None]",
})

PaymentsSessionNoticesItem = TypedDict("PaymentsSessionNoticesItem", {
    "reason": "str",
    "chain": "str",
    "asset": "str",
    "amount": "str",
    "txid": "str",
})

PaymentsSessionAttestation = TypedDict("PaymentsSessionAttestation", {
    "v": "int",
    "keyFingerprint": "str",
    "issuedAt": "str",
    "validUntil": "str",
    "signature": "str",
})

Plan = TypedDict("Plan", {
    "tier": "str",
    "band": "str",
    "subscription": "str",
    "paymentsActive": "bool",
    "pendingBand": "Union[PlanPendingBand, None]",
})

PlanPendingBand = TypedDict("PlanPendingBand", {
    "tier": "str",
    "band": "str",
    "effectiveAt": "str",
})

Plans = TypedDict("Plans", {
    "tiers": "List[PlansTiersItem]",
    "bands": "List[PlansBandsItem]",
    "currency": "str",
})

PlansTiersItem = TypedDict("PlansTiersItem", {
    "chains": "Union[int, None]",
    "addresses": "Union[int, None]",
    "settledTransactions": "Union[int, None]",
    "webhooks": "Union[int, None]",
    "edgeSessions": "Union[int, None]",
    "auditDays": "Union[int, None]",
    "requestsPerMinute": "Union[int, None]",
    "tier": "str",
})

PlansBandsItem = TypedDict("PlansBandsItem", {
    "addresses": "int",
    "monthlyFee": "str",
    "includedTransactions": "int",
    "overageRate": "str",
    "requestsPerMinute": "int",
    "band": "str",
})

Policy = TypedDict("Policy", {
    "id": "str",
    "version": "int",
    "chain": "str",
    "token": "Union[str, None]",
    "enabled": "bool",
    "triggerMode": "str",
    "minAmount": "Union[str, None]",
    "scheduleCron": "Union[str, None]",
    "scheduleTimeZone": "str",
    "treasuryWalletId": "str",
    "gasFundingMode": "str",
    "fundingWalletId": "Union[str, None]",
    "dustFloor": "str",
    "maxFeeRatioBps": "Union[int, None]",
    "abortIfGasExceeds": "Union[str, None]",
    "pauseOnConsecutiveFailures": "int",
    "retainGasFloat": "int",
    "closeTokenAccounts": "bool",
    "energy": "Union[str, None]",
    "pausedAt": "Union[str, None]",
    "pausedReason": "Union[str, None]",
    "consecutiveFailures": "int",
    "nextRunAt": "Union[str, None]",
    "openJobId": "Union[str, None]",
    "lastCycle": "Union[PolicyLastCycle, None]",
    "blocked": "Union[PolicyBlocked, None]",
    "createdAt": "str",
    "updatedAt": "str",
})

PolicyLastCycle = TypedDict("PolicyLastCycle", {
    "at": "str",
    "result": "str",
    "reason": "Union[str, None]",
    "jobId": "Union[str, None]",
})

PolicyBlocked = TypedDict("PolicyBlocked", {
    "reason": "str",
    "setting": "Union[str, None]",
    "cap": "Union[str, None]",
    "spent": "Union[str, None]",
    "required": "Union[str, None]",
    "windowSeconds": "Union[int, None]",
})

_PolicyPage = TypedDict("_PolicyPage", {
    "content": "List[Policy]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_PolicyPageMore = TypedDict("_PolicyPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class PolicyPage(_PolicyPage, _PolicyPageMore):
    pass


PolicyRun = TypedDict("PolicyRun", {
    "jobId": "Union[str, None]",
    "result": "str",
    "reason": "Union[str, None]",
})

PoolLowData = TypedDict("PoolLowData", {
    "chain": "str",
    "unused": "int",
    "levelPercent": "int",
    "thresholdPercent": "int",
})

Preview = TypedDict("Preview", {
    "plan": "Plan",
    "effectiveAt": "Union[str, None]",
    "proration": "str",
    "overage": "PreviewOverage",
    "monthlyFee": "str",
    "terms": "Union[PreviewTerms, None]",
    "loses": "List[str]",
    "refusal": "Union[PreviewRefusal, None]",
    "currency": "str",
})

PreviewOverage = TypedDict("PreviewOverage", {
    "transactions": "int",
    "amount": "str",
})

PreviewTerms = TypedDict("PreviewTerms", {
    "addresses": "int",
    "monthlyFee": "str",
    "includedTransactions": "int",
    "overageRate": "str",
    "requestsPerMinute": "int",
})

PreviewRefusal = TypedDict("PreviewRefusal", {
    "code": "str",
    "details": "Dict[str, Any]",
})

Project = TypedDict("Project", {
    "id": "str",
    "name": "str",
    "state": "str",
    "createdAt": "str",
})

ProjectCapacity = TypedDict("ProjectCapacity", {
    "band": "Union[str, None]",
    "limit": "Union[int, None]",
    "current": "int",
    "adopting": "int",
    "projected": "int",
    "exceeds": "bool",
    "requiredBand": "Union[str, None]",
    "monthlyFee": "ProjectCapacityMonthlyFee",
})

ProjectCapacityMonthlyFee = TypedDict("ProjectCapacityMonthlyFee", {
    "current": "Union[str, None]",
    "required": "Union[str, None]",
})

_ProjectPage = TypedDict("_ProjectPage", {
    "content": "List[Project]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_ProjectPageMore = TypedDict("_ProjectPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class ProjectPage(_ProjectPage, _ProjectPageMore):
    pass


Readiness = TypedDict("Readiness", {
    "chain": "str",
    "state": "str",
    "reason": "Union[str, None]",
    "xpub": "Union[str, None]",
    "poolLevelPercent": "Union[float, None]",
})

_ReadinessPage = TypedDict("_ReadinessPage", {
    "content": "List[Readiness]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_ReadinessPageMore = TypedDict("_ReadinessPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class ReadinessPage(_ReadinessPage, _ReadinessPageMore):
    pass


Ready = TypedDict("Ready", {
    "status": "str",
    "checks": "Dict[str, bool]",
})

RecoveryCodesMade = TypedDict("RecoveryCodesMade", {
    "codes": "List[str]",
})

Removed = TypedDict("Removed", {
    "removed": "bool",
})

Renamed = TypedDict("Renamed", {
    "id": "str",
    "name": "str",
})

ReplayRange = TypedDict("ReplayRange", {
    "count": "int",
    "replayed": "int",
    "dryRun": "bool",
})

Replayed = TypedDict("Replayed", {
    "deliveryId": "str",
})

ResentInvoice = TypedDict("ResentInvoice", {
    "id": "str",
    "number": "str",
    "url": "str",
})

Rotation = TypedDict("Rotation", {
    "id": "str",
    "publicKey": "str",
    "detectedAt": "str",
    "families": "List[str]",
})

RotationDecided = TypedDict("RotationDecided", {
    "id": "str",
    "decision": "str",
})

_RotationPage = TypedDict("_RotationPage", {
    "content": "List[Rotation]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_RotationPageMore = TypedDict("_RotationPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class RotationPage(_RotationPage, _RotationPageMore):
    pass


RouteMatrix = TypedDict("RouteMatrix", {
    "registryVersion": "int",
    "routes": "List[TokenRoute]",
})

SandboxClock = TypedDict("SandboxClock", {
    "now": "str",
    "aheadSeconds": "int",
})

SandboxReset = TypedDict("SandboxReset", {
    "reset": "bool",
})

Scan = TypedDict("Scan", {
    "id": "str",
    "scanId": "str",
    "projectId": "str",
    "keySourceId": "str",
    "chain": "str",
    "networks": "List[str]",
    "state": "str",
    "gapLimit": "int",
    "maxScan": "int",
    "requestedMaxScan": "Union[int, None]",
    "review": "Union[str, None]",
    "scanned": "int",
    "found": "int",
    "lastUsedIndex": "Union[int, None]",
    "largestGap": "int",
    "unread": "int",
    "truncated": "bool",
    "stoppedBy": "Union[str, None]",
    "evidence": "Union[str, None]",
    "headHeight": "Union[int, None]",
    "etaSeconds": "Union[int, None]",
    "warnings": "List[str]",
    "reason": "Union[str, None]",
    "estimate": "ScanEstimate",
    "createdAt": "str",
    "endedAt": "Union[str, None]",
})

ScanEstimate = TypedDict("ScanEstimate", {
    "indexes": "int",
    "requests": "int",
    "seconds": "int",
})

ScanAddress = TypedDict("ScanAddress", {
    "index": "int",
    "branch": "int",
    "address": "str",
    "derivationPath": "str",
    "used": "bool",
    "userRef": "Union[str, None]",
})

_ScanAddressPage = TypedDict("_ScanAddressPage", {
    "content": "List[ScanAddress]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_ScanAddressPageMore = TypedDict("_ScanAddressPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class ScanAddressPage(_ScanAddressPage, _ScanAddressPageMore):
    pass


SearchResult = TypedDict("SearchResult", {
    "content": "List[SearchResultContentItem]",
})

SearchResultContentItem = TypedDict("SearchResultContentItem", {
    "kind": "str",
    "id": "str",
    "chain": "Union[str, None]",
    "status": "Union[str, None]",
    "text": "str",
    "userRef": "Union[str, None]",
    "label": "Union[str, None]",
    "createdAt": "str",
})

Session = TypedDict("Session", {
    "id": "str",
    "role": "str",
    "edgeVersion": "str",
    "liveness": "str",
    "leaseEpoch": "int",
    "outboxMode": "str",
    "outboxDepth": "int",
    "outboxPoisoned": "bool",
    "registryVersion": "Union[int, None]",
    "podHint": "Union[str, None]",
    "lastHeartbeatAt": "str",
    "startedAt": "str",
    "endedAt": "Union[str, None]",
})

_SessionPage = TypedDict("_SessionPage", {
    "content": "List[Session]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_SessionPageMore = TypedDict("_SessionPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class SessionPage(_SessionPage, _SessionPageMore):
    pass


SignedOut = TypedDict("SignedOut", {
    "signedOut": "bool",
})

SimulatedActivity = TypedDict("SimulatedActivity", {
    "addresses": "int",
    "historical": "int",
    "live": "int",
    "txids": "List[str]",
})

SimulatedChainDown = TypedDict("SimulatedChainDown", {
    "until": "str",
})

SimulatedConfirmation = TypedDict("SimulatedConfirmation", {
    "confirmations": "int",
})

SimulatedConflict = TypedDict("SimulatedConflict", {
    "address": "Union[str, None]",
    "batchId": "Union[str, None]",
})

SimulatedDeposit = TypedDict("SimulatedDeposit", {
    "txid": "str",
    "outputIndex": "int",
    "height": "int",
})

SimulatedDuplicate = TypedDict("SimulatedDuplicate", {
    "deliveryIds": "List[str]",
})

SimulatedEdgeOffline = TypedDict("SimulatedEdgeOffline", {
    "until": "str",
})

SimulatedEndpointFailure = TypedDict("SimulatedEndpointFailure", {
    "webhookId": "str",
    "attempts": "int",
})

SimulatedReorg = TypedDict("SimulatedReorg", {
    "depth": "int",
})

SimulatedReplaced = TypedDict("SimulatedReplaced", {
    "txid": "str",
    "height": "int",
})

SimulatedStuck = TypedDict("SimulatedStuck", {
    "stuck": "bool",
    "mined": "List[str]",
})

SimulatedToken = TypedDict("SimulatedToken", {
    "chain": "str",
    "contractAddress": "str",
    "symbol": "str",
    "decimals": "int",
    "hazards": "List[str]",
})

SsoConnection = TypedDict("SsoConnection", {
    "id": "str",
    "kind": "str",
    "issuer": "str",
    "clientId": "str",
    "hasSecret": "bool",
    "jitRole": "str",
    "redirectUri": "str",
    "certificates": "List[SsoConnectionCertificatesItem]",
    "enforcedAt": "Union[str, None]",
    "breakGlass": "List[str]",
    "closedBy": "Union[str, None]",
    "createdAt": "str",
})

SsoConnectionCertificatesItem = TypedDict("SsoConnectionCertificatesItem", {
    "endsAt": "str",
})

_SsoPage = TypedDict("_SsoPage", {
    "content": "List[SsoConnection]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_SsoPageMore = TypedDict("_SsoPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class SsoPage(_SsoPage, _SsoPageMore):
    pass


SsoStarted = TypedDict("SsoStarted", {
    "url": "str",
})

Statement = TypedDict("Statement", {
    "id": "str",
    "number": "str",
    "period": "str",
    "lines": "List[Union[StatementLinesItem, StatementLinesItem2, StatementLinesItem3]]",
    "total": "str",
    "currency": "str",
    "settledTransactions": "int",
    "issuedAt": "str",
    "dueAt": "str",
    "paid": "str",
    "left": "str",
    "payment": "StatementPayment",
})

StatementLinesItem = TypedDict("StatementLinesItem", {
    "kind": "str",
    "tier": "str",
    "band": "str",
    "amount": "str",
})

StatementLinesItem2 = TypedDict("StatementLinesItem2", {
    "kind": "str",
    "at": "str",
    "from": "StatementLinesItem2From",
    "to": "StatementLinesItem2To",
    "remainingMs": "int",
    "periodMs": "int",
    "amount": "str",
})

StatementLinesItem2From = TypedDict("StatementLinesItem2From", {
    "tier": "str",
    "band": "str",
    "monthlyFee": "str",
})

StatementLinesItem2To = TypedDict("StatementLinesItem2To", {
    "tier": "str",
    "band": "str",
    "monthlyFee": "str",
})

StatementLinesItem3 = TypedDict("StatementLinesItem3", {
    "kind": "str",
    "band": "str",
    "quantity": "int",
    "included": "int",
    "rate": "str",
    "amount": "str",
})

StatementPayment = TypedDict("StatementPayment", {
    "provider": "str",
    "page": "Union[str, None]",
    "bankDetails": "Union[str, None]",
})

_StatementPage = TypedDict("_StatementPage", {
    "content": "List[Statement]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_StatementPageMore = TypedDict("_StatementPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class StatementPage(_StatementPage, _StatementPageMore):
    pass


SupportAccess = TypedDict("SupportAccess", {
    "until": "Union[str, None]",
    "sessions": "List[SupportSession]",
})

SupportEnded = TypedDict("SupportEnded", {
    "id": "str",
    "ended": "bool",
})

SupportSession = TypedDict("SupportSession", {
    "id": "str",
    "environment": "str",
    "by": "str",
    "reason": "str",
    "createdAt": "str",
    "endsAt": "str",
    "endedAt": "Union[str, None]",
})

SweepData = TypedDict("SweepData", {
    "jobId": "str",
    "policyId": "str",
    "chain": "str",
    "asset": "str",
    "tokenContract": "Union[str, None]",
    "state": "str",
    "amount": "str",
    "feeEstimated": "str",
    "feePaid": "str",
    "operations": "SweepDataOperations",
    "run": "int",
    "reason": "Union[str, None]",
})

SweepDataOperations = TypedDict("SweepDataOperations", {
    "confirmed": "int",
    "failed": "int",
    "skipped": "int",
})

SweepsPreview = TypedDict("SweepsPreview", {
    "token": "Union[str, None]",
    "totals": "List[SweepsPreviewTotalsItem]",
    "totalElements": "int",
    "isComplete": "bool",
    "page": "int",
    "size": "int",
    "content": "List[SweepsPreviewContentItem]",
    "skipped": "List[SweepsPreviewSkippedItem]",
    "needsGas": "Union[SweepsPreviewNeedsGas, None]",
    "cost": "Union[SweepsPreviewCost, None]",
    "required": "Union[SweepsPreviewRequired, None]",
    "edge": "Union[SweepsPreviewEdge, None]",
    "fundingWallet": "Union[SweepsPreviewFundingWallet, None]",
    "rate": "Union[SweepsPreviewRate, None]",
    "feeSample": "Union[SweepsPreviewFeeSample, None]",
    "asOf": "Union[SweepsPreviewAsOf, None]",
    "registryVersion": "int",
    "previewHash": "str",
    "expiresAt": "str",
})

SweepsPreviewTotalsItem = TypedDict("SweepsPreviewTotalsItem", {
    "decision": "str",
    "count": "int",
    "amount": "str",
})

SweepsPreviewContentItem = TypedDict("SweepsPreviewContentItem", {
    "address": "str",
    "userRef": "Union[str, None]",
    "amount": "str",
    "uncredited": "Union[str, None]",
    "cost": "Union[str, None]",
    "fundingNeeded": "Union[str, None]",
    "feeRatioBps": "Union[int, None]",
    "decision": "str",
    "reason": "Union[str, None]",
    "source": "str",
})

SweepsPreviewSkippedItem = TypedDict("SweepsPreviewSkippedItem", {
    "address": "str",
    "userRef": "Union[str, None]",
    "amount": "str",
    "uncredited": "Union[str, None]",
    "cost": "Union[str, None]",
    "fundingNeeded": "Union[str, None]",
    "feeRatioBps": "Union[int, None]",
    "decision": "str",
    "reason": "Union[str, None]",
    "source": "str",
})

SweepsPreviewNeedsGas = TypedDict("SweepsPreviewNeedsGas", {
    "count": "int",
    "amount": "str",
})

SweepsPreviewCost = TypedDict("SweepsPreviewCost", {
    "sweep": "str",
    "funding": "str",
    "activation": "str",
    "rent": "str",
    "l1": "str",
})

SweepsPreviewRequired = TypedDict("SweepsPreviewRequired", {
    "edgeSpendCap": "str",
})

SweepsPreviewEdge = TypedDict("SweepsPreviewEdge", {
    "cap": "str",
    "spent": "str",
})

SweepsPreviewFundingWallet = TypedDict("SweepsPreviewFundingWallet", {
    "available": "str",
    "enough": "bool",
})

SweepsPreviewRate = TypedDict("SweepsPreviewRate", {
    "numerator": "str",
    "denominator": "str",
    "observedAt": "Union[str, None]",
})

SweepsPreviewFeeSample = TypedDict("SweepsPreviewFeeSample", {
    "sweep": "str",
    "need": "str",
    "funding": "str",
    "activation": "str",
    "rent": "str",
})

SweepsPreviewAsOf = TypedDict("SweepsPreviewAsOf", {
    "height": "int",
    "at": "str",
})

Timeline = TypedDict("Timeline", {
    "id": "str",
    "confirmations": "int",
    "threshold": "int",
    "steps": "List[TimelineStepsItem]",
    "events": "List[TimelineEventsItem]",
})

TimelineStepsItem = TypedDict("TimelineStepsItem", {
    "step": "str",
    "at": "str",
    "txid": "Union[str, None]",
    "height": "Union[int, None]",
    "reason": "Union[str, None]",
})

TimelineEventsItem = TypedDict("TimelineEventsItem", {
    "id": "str",
    "event": "str",
    "createdAt": "str",
    "deliveries": "List[TimelineEventsItemDeliveriesItem]",
})

TimelineEventsItemDeliveriesItem = TypedDict("TimelineEventsItemDeliveriesItem", {
    "id": "str",
    "webhookId": "str",
    "status": "str",
    "attempts": "int",
    "createdAt": "str",
})

TokenEntry = TypedDict("TokenEntry", {
    "symbol": "str",
    "deployments": "List[TokenEntryDeploymentsItem]",
    "unsupportedChains": "List[TokenEntryUnsupportedChainsItem]",
})

TokenEntryDeploymentsItem = TypedDict("TokenEntryDeploymentsItem", {
    "chain": "str",
    "contractAddress": "str",
    "decimals": "int",
    "monitored": "bool",
    "deprecated": "bool",
    "bridgeable": "bool",
    "hazards": "List[str]",
    "activeFrom": "Union[int, None]",
})

TokenEntryUnsupportedChainsItem = TypedDict("TokenEntryUnsupportedChainsItem", {
    "chain": "str",
    "reason": "str",
})

_TokenPage = TypedDict("_TokenPage", {
    "content": "List[TokenEntry]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
    "registryVersion": "int",
})
_TokenPageMore = TypedDict("_TokenPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class TokenPage(_TokenPage, _TokenPageMore):
    pass


TokenReply = TypedDict("TokenReply", {
    "accessToken": "str",
    "tokenType": "str",
    "expiresInSeconds": "int",
    "organizationId": "Union[str, None]",
    "role": "Union[str, None]",
    "totpAt": "Union[str, None]",
})

TokenRequest = TypedDict("TokenRequest", {
    "id": "str",
    "chain": "str",
    "contractAddress": "str",
    "symbol": "str",
    "decimals": "int",
    "state": "str",
    "monitored": "bool",
    "outcome": "Union[str, None]",
    "onChain": "Union[TokenRequestOnChain, None]",
    "createdAt": "str",
    "updatedAt": "str",
})

TokenRequestOnChain = TypedDict("TokenRequestOnChain", {
    "symbol": "str",
    "name": "str",
    "decimals": "int",
    "hazards": "List[str]",
    "readAt": "str",
})

_TokenRequestPage = TypedDict("_TokenRequestPage", {
    "content": "List[TokenRequest]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_TokenRequestPageMore = TypedDict("_TokenRequestPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class TokenRequestPage(_TokenRequestPage, _TokenRequestPageMore):
    pass


TokenRoute = TypedDict("TokenRoute", {
    "symbol": "str",
    "from": "str",
    "to": "str",
    "status": "str",
    "reason": "Union[str, None]",
    "protocol": "Union[str, None]",
    "seconds": "Union[int, None]",
    "burnMax": "Union[str, None]",
})

TotpEnrolled = TypedDict("TotpEnrolled", {
    "secret": "str",
    "otpauthUri": "str",
})

Transaction = TypedDict("Transaction", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "id": "str",
    "direction": "str",
    "kind": "Union[str, None]",
    "role": "Union[str, None]",
    "operationId": "Union[str, None]",
    "chain": "str",
    "environment": "str",
    "status": "str",
    "txid": "Union[str, None]",
    "outputIndex": "Union[int, None]",
    "address": "str",
    "counterparty": "Union[str, None]",
    "tokenContract": "Union[str, None]",
    "tokenSymbol": "str",
    "userRef": "Union[str, None]",
    "tag": "Union[str, None]",
    "chainTag": "Union[str, None]",
    "height": "Union[int, None]",
    "blockHash": "Union[str, None]",
    "confirmations": "int",
    "threshold": "int",
    "incarnation": "Union[int, None]",
    "fee": "Union[str, None]",
    "failure": "Union[TransactionFailure, None]",
    "versions": "List[TransactionVersionsItem]",
    "explorerUrl": "Union[str, None]",
    "createdAt": "str",
    "updatedAt": "str",
})

TransactionFailure = TypedDict("TransactionFailure", {
    "code": "str",
    "reason": "str",
})

TransactionVersionsItem = TypedDict("TransactionVersionsItem", {
    "txid": "str",
    "at": "str",
})

_TransactionPage = TypedDict("_TransactionPage", {
    "content": "List[Transaction]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_TransactionPageMore = TypedDict("_TransactionPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class TransactionPage(_TransactionPage, _TransactionPageMore):
    pass


Transferred = TypedDict("Transferred", {
    "organizationId": "str",
    "owner": "str",
    "role": "Union[str, None]",
})

Unsigned = TypedDict("Unsigned", {
    "chain": "str",
    "payload": "str",
    "from": "str",
    "fromPath": "str",
    "to": "str",
    "amount": "str",
    "tokenContract": "Union[str, None]",
    "tag": "Union[str, None]",
    "kind": "str",
    "sendAll": "bool",
    "feeMax": "str",
    "fee": "Dict[str, Union[str, float]]",
    "replayKey": "Union[UnsignedReplayKey, UnsignedReplayKey2, UnsignedReplayKey3, UnsignedReplayKey4]",
    "readAtHeight": "int",
})

UnsignedReplayKey = TypedDict("UnsignedReplayKey", {
    "kind": "str",
    "value": "int",
})

UnsignedReplayKey2 = TypedDict("UnsignedReplayKey2", {
    "kind": "str",
    "value": "str",
})

UnsignedReplayKey3 = TypedDict("UnsignedReplayKey3", {
    "kind": "str",
    "value": "List[str]",
})

UnsignedReplayKey4 = TypedDict("UnsignedReplayKey4", {
    "kind": "str",
    "value": "str",
})

Usage = TypedDict("Usage", {
    "period": "UsagePeriod",
    "plan": "Plan",
    "activeAddresses": "UsageActiveAddresses",
    "settledTransactions": "UsageSettledTransactions",
    "overage": "UsageOverage",
    "projected": "UsageProjected",
    "warnings": "List[UsageWarningsItem]",
})

UsagePeriod = TypedDict("UsagePeriod", {
    "start": "str",
    "end": "str",
})

UsageActiveAddresses = TypedDict("UsageActiveAddresses", {
    "current": "int",
    "billed": "int",
    "limit": "Union[int, None]",
    "days": "List[UsageActiveAddressesDaysItem]",
})

UsageActiveAddressesDaysItem = TypedDict("UsageActiveAddressesDaysItem", {
    "day": "str",
    "highest": "int",
})

UsageSettledTransactions = TypedDict("UsageSettledTransactions", {
    "count": "int",
    "included": "Union[int, None]",
})

UsageOverage = TypedDict("UsageOverage", {
    "transactions": "int",
    "amount": "str",
    "currency": "str",
})

UsageProjected = TypedDict("UsageProjected", {
    "transactions": "int",
    "overageAmount": "str",
})

UsageWarningsItem = TypedDict("UsageWarningsItem", {
    "quota": "str",
    "threshold": "int",
    "used": "int",
    "limit": "int",
})

Verified = TypedDict("Verified", {
    "ok": "bool",
    "checkpoint": "Checkpoint",
    "problems": "List[VerifiedProblemsItem]",
})

VerifiedProblemsItem = TypedDict("VerifiedProblemsItem", {
    "seq": "int",
    "problem": "str",
})

Wallet = TypedDict("Wallet", {
    "id": "str",
    "chain": "str",
    "source": "str",
    "address": "Union[str, None]",
    "tag": "Union[str, None]",
    "derivationPath": "Union[str, None]",
    "label": "Union[str, None]",
    "allowlisted": "Union[bool, None]",
    "warnings": "List[str]",
    "createdAt": "str",
})

_WalletBalancePage = TypedDict("_WalletBalancePage", {
    "content": "List[Balance]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_WalletBalancePageMore = TypedDict("_WalletBalancePageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class WalletBalancePage(_WalletBalancePage, _WalletBalancePageMore):
    pass


_WalletPage = TypedDict("_WalletPage", {
    "content": "List[Wallet]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_WalletPageMore = TypedDict("_WalletPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class WalletPage(_WalletPage, _WalletPageMore):
    pass


Webhook = TypedDict("Webhook", {
    "id": "str",
    "url": "str",
    "events": "List[str]",
    "status": "str",
    "secretPreview": "str",
    "rotating": "bool",
    "createdAt": "str",
    "updatedAt": "str",
})

WebhookCreated = TypedDict("WebhookCreated", {
    "id": "str",
    "url": "str",
    "events": "List[str]",
    "status": "str",
    "secretPreview": "str",
    "rotating": "bool",
    "createdAt": "str",
    "updatedAt": "str",
    "secret": "str",
})

_WebhookPage = TypedDict("_WebhookPage", {
    "content": "List[Webhook]",
    "page": "int",
    "size": "int",
    "totalElements": "int",
    "totalPages": "int",
    "next": "Union[str, None]",
})
_WebhookPageMore = TypedDict("_WebhookPageMore", {
    "totalCapped": "bool",
    "withheld": "int",
}, total=False)


class WebhookPage(_WebhookPage, _WebhookPageMore):
    pass


WebhookTest = TypedDict("WebhookTest", {
    "webhookId": "str",
    "url": "str",
    "passed": "bool",
    "attempts": "List[WebhookTestAttemptsItem]",
})

WebhookTestAttemptsItem = TypedDict("WebhookTestAttemptsItem", {
    "signature": "str",
    "eventId": "str",
    "statusCode": "Union[int, None]",
    "durationMs": "float",
    "error": "Union[str, None]",
    "at": "str",
    "passed": "bool",
})

Wipe = TypedDict("Wipe", {
    "id": "str",
    "environment": "str",
    "status": "str",
    "scheduledFor": "str",
    "askedAt": "str",
    "askedBy": "str",
    "beganAt": "Union[str, None]",
    "endedAt": "Union[str, None]",
    "step": "Union[str, None]",
    "addresses": "int",
    "holdings": "Union[List[WipeHoldingsItem], None]",
})

WipeHoldingsItem = TypedDict("WipeHoldingsItem", {
    "chain": "str",
    "token": "Union[str, None]",
    "amount": "str",
})

WipeCancelled = TypedDict("WipeCancelled", {
    "id": "str",
    "cancelled": "bool",
})

WipeScheduled = TypedDict("WipeScheduled", {
    "id": "str",
    "environment": "str",
    "scheduledFor": "str",
})

WipeState = TypedDict("WipeState", {
    "wipe": "Union[Wipe, None]",
})

WithdrawalData = TypedDict("WithdrawalData", {
    "amount": "str",
    "amountFormatted": "str",
    "decimals": "int",
    "transactionId": "str",
    "chain": "str",
    "txid": "Union[str, None]",
    "from": "str",
    "to": "str",
    "tokenContract": "Union[str, None]",
    "tokenSymbol": "str",
    "userRef": "Union[str, None]",
    "tag": "Union[str, None]",
    "chainTag": "Union[str, None]",
    "height": "Union[int, None]",
    "blockHash": "Union[str, None]",
    "fee": "Union[str, None]",
    "failure": "Union[WithdrawalDataFailure, None]",
})

WithdrawalDataFailure = TypedDict("WithdrawalDataFailure", {
    "code": "str",
    "reason": "str",
})
