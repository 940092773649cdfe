// Made by `npm run -s clients`: changes are lost.
import type { Call, List, Open, Write } from '../kinds.ts';

/** A method for each operation. */
export interface Operations {
  /** Issue a deposit address. */
  createAddress: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    userRef: string;
    tag?: string | null;
    label?: string | null;
  }, Address>;
  /** List addresses, newest first. */
  listAddresses: List<{
    page?: number;
    size?: number;
    after?: string;
    chain?: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    userRef?: string;
    tag?: string;
    status?: 'active' | 'archived';
  }, AddressPage>;
  /** Read one address. */
  getAddress: Call<{
    id: string;
  }, Address>;
  /** Archive an address: its deposits are recorded and announce nothing. */
  archiveAddress: Write<{
    id: string;
  }, Address>;
  /** Make an archived address active again. */
  unarchiveAddress: Write<{
    id: string;
  }, Address>;
  /** Build the opt-in of an address to an issued asset. */
  createTrustline: Write<{
    address: string;
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    asset: string;
  }, Built>;
  /** Native balances of issued addresses. */
  listBalances: List<{
    page?: number;
    size?: number;
    after?: string;
    chain?: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    userRef?: string;
    tag?: string;
  }, BalancePage>;
  /** Native balance of one address. */
  getBalance: Call<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    address: string;
  }, Balance>;
  /** Token balance of one address. */
  getTokenBalance: Call<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    address: string;
    token: string;
  }, Balance>;
  /** What a transfer would cost now. */
  getFees: Call<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    from?: string;
    to?: string;
    amount?: string;
    tokenContract?: string;
  }, Fee>;
  /** List deposits and withdrawals, newest first. */
  listTransactions: List<{
    page?: number;
    size?: number;
    after?: string;
    chain?: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    userRef?: string;
    tag?: string;
    status?: 'detected' | 'confirmed' | 'reversed' | 'built' | 'signing' | 'broadcast' | 'confirming' | 'failed' | 'replaced' | 'expired';
    direction?: 'in' | 'out';
    kind?: 'withdrawal' | 'sweep';
  }, TransactionPage>;
  /** Read one deposit or withdrawal. */
  getTransaction: Call<{
    id: string;
  }, Transaction>;
  /** What happened to one deposit or withdrawal, step by step, and what was published of it. */
  getTimeline: Call<{
    id: string;
  }, Timeline>;
  /** Build an unsigned transaction; nothing is signed, and nothing is held but coins: its counter is bound at the broadcast. */
  buildTransaction: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    from: string;
    to: string;
    amount: string;
    tokenContract?: string | null;
    chainTag?: string | null;
    paymentRef?: string | null;
  }, Built>;
  /** Price a built transaction anew. */
  repriceTransaction: Write<{
    id: string;
  }, Built>;
  /** Sign at the edge and broadcast. */
  broadcastTransaction: Write<{
    id: string;
  }, Transaction>;
  /** Find an address, transaction, event or delivery by its id, its text, a userRef or how a label begins. */
  search: Call<{
    q?: string;
    txid?: string;
  }, SearchResult>;
  /** Events as they were published, in that order and without a gap, whatever endpoints there are. */
  listEvents: Call<{
    size?: number;
    since?: string;
  }, EventsList>;
  /** One event with its body as it was signed, and its deliveries. */
  getEvent: Call<{
    id: string;
  }, EventRecord>;
  /** Register an endpoint; its secret is shown once. */
  createWebhook: Write<{
    url: string;
    events: Array<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>;
  }, WebhookCreated>;
  /** List endpoints. */
  listWebhooks: List<{
    page?: number;
    size?: number;
    after?: string;
  }, WebhookPage>;
  /** List deliveries with every attempt, newest first. */
  listDeliveries: List<{
    page?: number;
    size?: number;
    after?: string;
    status?: 'pending' | 'delivered' | 'failed' | 'dead_lettered' | 'held';
    event?: 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled';
    webhookId?: string;
  }, DeliveryPage>;
  /** List deliveries that used up their ladder. */
  listDeadLetters: List<{
    page?: number;
    size?: number;
    after?: string;
  }, DeliveryPage>;
  /** Count, then replay, the deliveries of a time range. */
  replayDeliveries: Write<{
    from: string;
    to: string;
    webhookId?: string;
    event?: 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled';
    dryRun?: boolean;
  }, ReplayRange>;
  /** Deliver an event once more. */
  replayDelivery: Write<{
    id: string;
  }, Replayed>;
  /** Read one endpoint. */
  getWebhook: Call<{
    webhookId: string;
  }, Webhook>;
  /** Replace an endpoint; a disabled one is enabled again. */
  replaceWebhook: Write<{
    webhookId: string;
    url: string;
    events: Array<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>;
  }, Webhook>;
  /** Stop an endpoint at once; its history is kept. */
  deleteWebhook: Write<{
    webhookId: string;
  }, Webhook>;
  /** Make a new secret; deliveries carry both signatures until the previous one is dropped. */
  rotateWebhookSecret: Write<{
    webhookId: string;
  }, WebhookCreated>;
  /** End the rotation of a secret. */
  dropPreviousWebhookSecret: Write<{
    webhookId: string;
  }, Webhook>;
  /** Post a signed test event to an endpoint, then one with a broken signature, which it must refuse. */
  testWebhook: Write<{
    webhookId: string;
  }, WebhookTest>;
  /** Attempt history of one endpoint. */
  listWebhookDeliveries: List<{
    webhookId: string;
    page?: number;
    size?: number;
    after?: string;
    status?: 'pending' | 'delivered' | 'failed' | 'dead_lettered' | 'held';
    event?: 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled';
  }, DeliveryPage>;
  /** Liveness probe. */
  getEdgeHealth: Call<{}, EdgeHealth>;
  /** Lease state and epoch. */
  getEdgeLease: Call<{}, Lease>;
  /** Depth of the leader's outbox. */
  getEdgeOutbox: Call<{}, Outbox>;
  /** Readiness of each chain. */
  getEdgeReadiness: List<{
    page?: number;
    size?: number;
    after?: string;
  }, ReadinessPage>;
  /** Sessions with role, liveness and epoch. */
  listEdgeSessions: List<{
    page?: number;
    size?: number;
    after?: string;
  }, SessionPage>;
  /** Gas tank address of each chain. */
  listGasTanks: List<{
    page?: number;
    size?: number;
    after?: string;
  }, GasTankPage>;
  /** Mint a local key, shown once; asked again it mints another. */
  mintLocalKey: Call<{
    label: string;
    expiresAt?: string;
  }, LocalKeyCreated>;
  /** List local keys, newest first. */
  listLocalKeys: List<{
    page?: number;
    size?: number;
    after?: string;
  }, LocalKeyPage>;
  /** Revoke a local key, and every key that it minted, on every replica. */
  revokeLocalKey: Call<{
    id: string;
  }, LocalKeyRevoked>;
  /** All chains, with what is enabled and ready. */
  listChains: List<{
    page?: number;
    size?: number;
    after?: string;
  }, ChainPage>;
  /** Heights that are done, unresolved heights, lag. */
  getCoverage: Call<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  }, Coverage>;
  /** Token catalogue: of the version in force, or of another that was published. */
  listTokens: List<{
    page?: number;
    size?: number;
    after?: string;
    version?: number;
  }, TokenPage>;
  /** Create a payment link. */
  createPaymentLink: Write<{
    mode: 'fixed' | 'donation';
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    asset: string;
    amount?: string | null;
    thresholdAmount?: string | null;
    minAmount?: string | null;
    maxAmount?: string | null;
    addressMode?: 'per_payer' | 'shared' | null;
    closesAt?: string | null;
    maxUses?: number | null;
    slug?: string | null;
    title?: string | null;
    description?: string | null;
    collectEmail?: boolean | null;
    successUrl?: string | null;
    metadata?: Record<string, unknown> | null;
  }, Link>;
  /** List payment links, newest first. */
  listPaymentLinks: List<{
    page?: number;
    size?: number;
    after?: string;
    status?: 'active' | 'paused' | 'closed';
    mode?: 'fixed' | 'donation';
    chain?: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    slug?: string;
  }, LinkPage>;
  /** Read one payment link. */
  getPaymentLink: Call<{
    id: string;
  }, Link>;
  /** Change a payment link; what it asks for, and where, stays. */
  changePaymentLink: Write<{
    id: string;
    title?: string | null;
    description?: string | null;
    successUrl?: string | null;
    collectEmail?: boolean | null;
    minAmount?: string | null;
    maxAmount?: string | null;
    thresholdAmount?: string | null;
    closesAt?: string | null;
    maxUses?: number | null;
    metadata?: Record<string, unknown> | null;
  }, Link>;
  /** Take no new payments; those that are open go on. */
  pausePaymentLink: Write<{
    id: string;
  }, Link>;
  /** Take new payments again. */
  resumePaymentLink: Write<{
    id: string;
  }, Link>;
  /** Close a payment link for ever; what comes late is still credited. */
  closePaymentLink: Write<{
    id: string;
  }, Link>;
  /** Payments towards a link, newest first. */
  listLinkPayments: List<{
    id: string;
    page?: number;
    size?: number;
    after?: string;
    status?: 'awaiting_payment' | 'detected' | 'underpaid' | 'confirmed' | 'late' | 'expired';
  }, PaymentPage>;
  /** Invoices of a link, newest first. */
  listLinkInvoices: List<{
    id: string;
    page?: number;
    size?: number;
    after?: string;
  }, InvoicePage>;
  /** Invoices of the account, newest first. */
  listInvoices: List<{
    page?: number;
    size?: number;
    after?: string;
  }, InvoicePage>;
  /** Read one invoice. */
  getInvoice: Call<{
    id: string;
  }, Invoice>;
  /** Make another link of an invoice and mail it; the one before stops working. Five times an hour. */
  resendInvoice: Write<{
    id: string;
  }, ResentInvoice>;
  /** Payments of the account towards all of its links, newest first. */
  listPayments: List<{
    page?: number;
    size?: number;
    after?: string;
    status?: 'awaiting_payment' | 'detected' | 'underpaid' | 'confirmed' | 'late' | 'expired';
  }, PaymentPage>;
  /** Read one payment with its transfers. */
  getPayment: Call<{
    id: string;
  }, Payment>;
  /** Each checkout chain: whether it is ready, from which amount on it is worth it, and what is open. */
  getPaymentReadiness: List<{
    page?: number;
    size?: number;
    after?: string;
  }, PaymentsReadinessPage>;
  /** Whether payments are taken, and what payers see. */
  getPaymentSettings: Call<{}, PaymentSettings>;
  /** Replace them; other origins of a live account need a fresh second factor. */
  putPaymentSettings: Write<{
    active: boolean;
    displayName?: string | null;
    supportEmail?: string | null;
    supportUrl?: string | null;
    origins?: string[] | null;
    toleranceBps?: number | null;
    timeZone?: string | null;
    language?: string | null;
    invoice?: {
      name?: string | null;
      address?: string | null;
      taxId?: string | null;
    } | null;
    totp?: string;
  }, PaymentSettings>;
  /** What a payer sees of a link; opens nothing. */
  getCheckoutLink: Call<{
    slug: string;
  }, CheckoutLink>;
  /** Open a payment towards a fixed link; the open one of the same payer is answered with 200. */
  openCheckoutSession: Call<{
    slug: string;
    email?: string | null;
    name?: string | null;
    lang?: string | null;
    identityFingerprint?: string | null;
  }, PaymentsSession>;
  /** Open a donation: an address for this donor, or the one of a shared link. */
  donate: Call<{
    slug: string;
    email?: string | null;
    name?: string | null;
    lang?: string | null;
    identityFingerprint?: string | null;
    amount?: string | null;
  }, PaymentsSession>;
  /** What a payer sees of a payment. */
  getCheckoutSession: Call<{
    id: string;
  }, PaymentsSession>;
  /** Register where sweeps go: a derived wallet at M/1/1, or an address of your own. */
  createTreasuryWallet: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    source: 'derived' | 'external';
    address?: string | null;
    label?: string | null;
  }, Wallet>;
  /** Treasury wallets. */
  listTreasuryWallets: List<{
    page?: number;
    size?: number;
    after?: string;
  }, WalletPage>;
  /** Native coin and every catalogued token of a treasury wallet; all of them are read, or none is reported. */
  getTreasuryWalletBalances: List<{
    id: string;
    page?: number;
    size?: number;
    after?: string;
  }, WalletBalancePage>;
  /** Look after the gas tank of a chain: its balance, and how many sweeps it still pays for. */
  createFundingWallet: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    label?: string | null;
    lowBalance?: string | null;
  }, FundingWallet>;
  /** Gas tanks that are looked after. */
  listFundingWallets: List<{
    page?: number;
    size?: number;
    after?: string;
  }, FundingWalletPage>;
  /** Say what of a chain and token is swept, when, and to which treasury wallet. */
  createSweepPolicy: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    token?: string | null;
    enabled?: boolean;
    triggerMode?: 'THRESHOLD' | 'SCHEDULE' | 'THRESHOLD_AND_SCHEDULE' | 'MANUAL';
    minAmount?: string | null;
    scheduleCron?: string | null;
    scheduleTimeZone?: string;
    treasuryWalletId: string;
    gasFundingMode?: 'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER' | null;
    fundingWalletId?: string | null;
    dustFloor?: string;
    maxFeeRatioBps?: number | null;
    abortIfGasExceeds?: string | null;
    pauseOnConsecutiveFailures?: number;
    retainGasFloat?: number;
    closeTokenAccounts?: boolean;
    energy?: 'BURN' | 'DELEGATE' | null;
    previewHash?: string | null;
  }, Policy>;
  /** Sweep policies, one for a chain and token. */
  listSweepPolicies: List<{
    page?: number;
    size?: number;
    after?: string;
  }, PolicyPage>;
  /** Read one policy. */
  getSweepPolicy: Call<{
    policyId: string;
  }, Policy>;
  /** Replace the settings of a policy; its chain and token stay. */
  replaceSweepPolicy: Write<{
    policyId: string;
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    token?: string | null;
    enabled?: boolean;
    triggerMode?: 'THRESHOLD' | 'SCHEDULE' | 'THRESHOLD_AND_SCHEDULE' | 'MANUAL';
    minAmount?: string | null;
    scheduleCron?: string | null;
    scheduleTimeZone?: string;
    treasuryWalletId: string;
    gasFundingMode?: 'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER' | null;
    fundingWalletId?: string | null;
    dustFloor?: string;
    maxFeeRatioBps?: number | null;
    abortIfGasExceeds?: string | null;
    pauseOnConsecutiveFailures?: number;
    retainGasFloat?: number;
    closeTokenAccounts?: boolean;
    energy?: 'BURN' | 'DELEGATE' | null;
    previewHash?: string | null;
    version?: number | null;
  }, Policy>;
  /** End a policy. */
  deleteSweepPolicy: Write<{
    policyId: string;
  }, Policy>;
  /** Begin no cycle of a policy until it is resumed. */
  pauseSweepPolicy: Write<{
    policyId: string;
  }, Policy>;
  /** Resume a paused policy; failed cycles count from zero. */
  resumeSweepPolicy: Write<{
    policyId: string;
  }, Policy>;
  /** What a policy of these settings would take now and what it would skip, and the hash that enables it. */
  previewSweep: Call<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    token?: string | null;
    enabled?: boolean;
    triggerMode?: 'THRESHOLD' | 'SCHEDULE' | 'THRESHOLD_AND_SCHEDULE' | 'MANUAL';
    minAmount?: string | null;
    scheduleCron?: string | null;
    scheduleTimeZone?: string;
    treasuryWalletId?: string | null;
    gasFundingMode?: 'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER' | null;
    fundingWalletId?: string | null;
    dustFloor?: string;
    maxFeeRatioBps?: number | null;
    abortIfGasExceeds?: string | null;
    pauseOnConsecutiveFailures?: number;
    retainGasFloat?: number;
    closeTokenAccounts?: boolean;
    energy?: 'BURN' | 'DELEGATE' | null;
    page?: number;
    size?: number;
  }, SweepsPreview>;
  /** Sweep now, in whatever mode the policy is, disabled too. */
  runSweepPolicy: Write<{
    policyId: string;
  }, PolicyRun>;
  /** Sweep jobs, newest first. */
  listSweepJobs: List<{
    page?: number;
    size?: number;
    after?: string;
    policyId?: string;
  }, JobPage>;
  /** One job with its operations. */
  getSweepJob: Call<{
    id: string;
  }, JobWhole>;
  /** Run failed operations again, never skipped ones. */
  retrySweepJob: Write<{
    id: string;
  }, Job>;
  /** Say between which treasury wallets a token may be bridged, and how much at once. */
  createBridgePolicy: Write<{
    fromChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    toChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    token?: string;
    sourceWalletId: string;
    destinationWalletId: string;
    maxSingleTransfer: string;
    maxInFlightValue: string;
    maxInFlightCount: number;
    enabled?: boolean;
  }, BridgePolicy>;
  /** Bridge policies, one for a way of a token. */
  listBridgePolicies: List<{
    page?: number;
    size?: number;
    after?: string;
  }, BridgePolicyPage>;
  /** Read one bridge policy. */
  getBridgePolicy: Call<{
    policyId: string;
  }, BridgePolicy>;
  /** Replace the settings of a bridge policy; its chains and token stay. */
  replaceBridgePolicy: Write<{
    policyId: string;
    fromChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    toChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    token?: string;
    sourceWalletId: string;
    destinationWalletId: string;
    maxSingleTransfer: string;
    maxInFlightValue: string;
    maxInFlightCount: number;
    enabled?: boolean;
    version?: number | null;
  }, BridgePolicy>;
  /** End a bridge policy of which nothing is on its way. */
  deleteBridgePolicy: Write<{
    policyId: string;
  }, BridgePolicy>;
  /** Move an amount to the other chain, within the limits of a policy. */
  createBridgeTransfer: Write<{
    policyId: string;
    amount: string;
  }, BridgeTransfer>;
  /** Bridge transfers, newest first. */
  listBridgeTransfers: List<{
    page?: number;
    size?: number;
    after?: string;
    policyId?: string;
  }, BridgeTransferPage>;
  /** Read one bridge transfer. */
  getBridgeTransfer: Call<{
    id: string;
  }, BridgeTransfer>;
  /** Look at a transfer now that waits; nothing is ever burnt again. */
  retryBridgeTransfer: Write<{
    id: string;
  }, BridgeTransfer>;
  /** Ask for a token that the catalogue lacks; a contract that was asked for before is answered as it is. */
  requestToken: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    contractAddress: string;
    symbol: string;
    decimals: number;
  }, TokenRequest>;
  /** Tokens that the account asked for, newest first. */
  listTokenRequests: List<{
    page?: number;
    size?: number;
    after?: string;
  }, TokenRequestPage>;
  /** Between which chains a token can be bridged, and why not where it cannot. */
  listTokenRoutes: Call<{}, RouteMatrix>;
  /** Put a token contract on a simulated ledger, so that it can be asked for. */
  simulateToken: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    contractAddress: string;
    symbol: string;
    decimals: number;
    hazards?: Array<'upgradeable' | 'fee_on_transfer' | 'rebasing' | 'blocklist' | 'pausable' | 'seizable' | 'hook' | 'non_transferable' | 'default_frozen' | 'confidential_only' | 'auth_required'>;
  }, SimulatedToken>;
  /** Which case a company is in, what will sign, and the steps; creates nothing. */
  detectCase: Call<{
    mnemonics: number;
    hasRawKeys: boolean;
    providerHoldsKeys: boolean;
    addressCount: number;
    chains: Array<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    standardWallet?: boolean | null;
  }, AssessedCase>;
  /** Path from an extended public key to a known address. */
  detectPath: Call<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    xpub: string;
    knownAddress: string;
    secondAddress?: string | null;
  }, DetectedPath>;
  /** Key sources of the edge, and what can be signed. */
  listKeySources: List<{
    page?: number;
    size?: number;
    after?: string;
  }, KeySourcePage>;
  /** Adopted addresses that a key source leads to become spendable. */
  resolveKeySource: Write<{
    id: string;
  }, KeySourceResolved>;
  /** One old wallet system, whose addresses are adopted, watched and cut over together. */
  createMigrationProject: Write<{
    name: string;
  }, Project>;
  /** Projects, newest first. */
  listMigrationProjects: List<{
    page?: number;
    size?: number;
    after?: string;
  }, ProjectPage>;
  /** What the project would adopt, against the purchased band. */
  getMigrationCapacity: Call<{
    projectId: string;
  }, ProjectCapacity>;
  /** A URL that takes one file, and until when. */
  createUpload: Write<{
    filename: string;
    bytes?: number;
    sha256?: string;
  }, OpenedUpload>;
  /** The file is whole: its bytes as they were measured, its digest, its format. */
  completeUpload: Write<{
    uploadId: string;
    sha256?: string;
  }, CompletedUpload>;
  /** A batch of the project, from a file that is complete. */
  createImport: Write<{
    projectId: string;
    uploadId?: string;
    scanId?: string;
    chain?: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    includeChange?: boolean;
  }, ImportBatch>;
  /** Batches of the project, newest first. */
  listImports: List<{
    projectId: string;
    page?: number;
    size?: number;
    after?: string;
  }, ImportPage>;
  /** A batch and its state. */
  getImport: Call<{
    batchId: string;
  }, ImportBatch>;
  /** A new dry run in seven phases; its report, or `validating` after ten seconds. */
  validateImport: Write<{
    batchId: string;
  }, DryRun>;
  /** Report of the newest dry run. */
  getDryRun: Call<{
    batchId: string;
  }, DryRun>;
  /** What is wrong, warned of or passed over, in the order in which it was found. */
  listImportIssues: List<{
    batchId: string;
    page?: number;
    size?: number;
    after?: string;
  }, IssuePage>;
  /** Adopts the addresses of a valid batch: heights first, nothing visible before the last row. */
  commitImport: Write<{
    batchId: string;
    dryRunId: string;
    acceptBillingChange?: boolean;
  }, ImportBatch>;
  /** Gives the addresses back, within 72 hours and before any transaction. */
  rollbackImport: Write<{
    batchId: string;
  }, ImportBatch>;
  /** Begins a scan for used addresses below the keys of a source; ask for it again to see how far it is. */
  discover: Write<{
    projectId: string;
    keySourceId: string;
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    gapLimit?: number;
    maxScan?: number;
    probeTokens?: string[];
    userRefMappingCsv?: string;
    branches?: number[];
    template?: 'account' | 'each';
  }, Scan>;
  /** How far a scan is, what it found and what it cannot see. */
  getScan: Call<{
    scanId: string;
  }, Scan>;
  /** Ends a scan that is under way; one that has ended stays as it is. */
  cancelScan: Write<{
    scanId: string;
  }, Scan>;
  /** Every index up to the last that is used or has a reference, unused ones too. */
  listScanAddresses: List<{
    scanId: string;
    page?: number;
    size?: number;
    after?: string;
  }, ScanAddressPage>;
  /** Deposits that were recorded and not announced. */
  getObserve: Call<{
    projectId: string;
  }, Observed>;
  /** The cutover: webhooks and withdrawals begin; nothing from before is announced. */
  activateProject: Call<{
    projectId: string;
    totp?: string;
  }, Project>;
  /** Back to observe, at once. */
  deactivateProject: Call<{
    projectId: string;
  }, Project>;
  /** Every address with its path, reference, spendability and counts, as CSV. */
  getReconciliation: Call<{
    projectId: string;
  }, string>;
  /** The addresses of the project as a file that an import reads again. */
  exportProject: Call<{
    projectId: string;
    format?: string;
  }, string>;
  /** How many rows an export has, and whether the format can say all of them. */
  getExportPlan: Call<{
    projectId: string;
    format?: string;
  }, ExportPlan>;
  /** Pay an address on the simulated chain. */
  simulateDeposit: Write<{
    address: string;
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    amount: string;
    tokenContract?: string | null;
    autoConfirm?: boolean;
    confirmAfterSeconds?: number | null;
  }, SimulatedDeposit>;
  /** Mine until a transaction has so many confirmations; a version that waits in the pool wins over the others. */
  simulateConfirmation: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    txid: string;
    confirmations: number;
  }, SimulatedConfirmation>;
  /** Keep what is broadcast in the pool, so that it can be repriced; or let it go. */
  simulateStuck: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    stuck: boolean;
    blocks?: number;
    untilRepriced?: boolean;
  }, SimulatedStuck>;
  /** A transaction of the same sender that was made elsewhere takes the place of one that waits in the pool. */
  simulateReplaced: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    txid: string;
  }, SimulatedReplaced>;
  /** Cut the streams of its edges and let none in for a while. */
  simulateEdgeOffline: Write<{
    seconds: number;
  }, SimulatedEdgeOffline>;
  /** Make an endpoint of its own fail or dawdle for some attempts. */
  simulateEndpointFailure: Write<{
    webhookId: string;
    attempts: number;
    status?: number;
    delaySeconds?: number;
  }, SimulatedEndpointFailure>;
  /** The time of a sandbox. */
  getSandboxClock: Call<{}, SandboxClock>;
  /** Move the time of a sandbox forward, and have happen what falls due on the way. */
  advanceSandboxClock: Write<{
    advanceSeconds?: number;
    to?: string;
  }, AdvancedClock>;
  /** Replace the newest blocks. */
  simulateReorg: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    depth: number;
  }, SimulatedReorg>;
  /** Make a chain unreachable for a while. */
  simulateChainDown: Write<{
    chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
    seconds: number;
  }, SimulatedChainDown>;
  /** Payments to adopted addresses, from before the recorded height and from now. */
  simulateActivity: Write<{
    projectId: string;
    addresses: number | string[];
    historicalPerAddress?: number;
    livePerAddress?: number;
  }, SimulatedActivity>;
  /** An address of a batch is claimed by an organization that nobody sees, until it is cleared. */
  simulateConflict: Write<{
    projectId: string;
    address?: string;
    clear?: boolean;
  }, SimulatedConflict>;
  /** Deliver an event a second time with the same id. */
  simulateDuplicateDelivery: Write<{
    eventId: string;
  }, SimulatedDuplicate>;
  /** Forget its addresses, transactions and deliveries. */
  resetSandbox: Write<{}, SandboxReset>;
  /** Sign in with email, password and code; FORBIDDEN `sso_required` where the organization lets in by its provider alone. */
  login: Call<{
    email: string;
    password: string;
    totp?: string;
    recoveryCode?: string;
    organizationId?: string;
  }, TokenReply>;
  /** New access token for the refresh cookie. */
  refresh: Call<{}, TokenReply>;
  /** End the login of the refresh cookie. */
  logout: Call<{}, SignedOut>;
  /** Who is signed in. */
  getMe: Call<{}, Me>;
  /** Sign up: a letter with a link comes to the email, where SIGN_UP is open. */
  register: Call<{
    email: string;
  }, Accepted>;
  /** Become a user by the link of a letter, with a password, and sign in. */
  verifyEmail: Call<{
    token: string;
    password: string;
  }, TokenReply>;
  /** Have a link sent with which a new password is set. */
  forgotPassword: Call<{
    email: string;
  }, Accepted>;
  /** Set a new password by the link of a letter; ends all logins and signs nobody in. */
  resetPassword: Call<{
    token: string;
    password: string;
  }, EmailDone>;
  /** Change your password; ends all your other logins. */
  changePassword: Call<{
    password: string;
    current?: string;
  }, PasswordChanged>;
  /** Ask for another email; the link that comes to it makes the change. Takes a code made for this. */
  changeEmail: Call<{
    email: string;
    totp?: string;
    passkey?: PasskeyAnswer;
  }, Accepted>;
  /** Take the new email by the link of a letter, or, for 7 days, the one before back. */
  confirmEmail: Call<{
    token: string;
  }, EmailDone>;
  /** What an invitation is to, by the link of its letter; spends nothing. */
  lookAtInvitation: Call<{
    token: string;
  }, InvitationLook>;
  /** Become a member by the link of a letter that came to your email. */
  acceptInvitation: Call<{
    token: string;
  }, InvitationAccepted>;
  /** Become a user and a member by the link of a letter, with a password, and sign in. */
  joinByInvitation: Call<{
    token: string;
    password: string;
  }, TokenReply>;
  /** Your signed-in browsers, the asking one marked. */
  listLogins: List<{
    page?: number;
    size?: number;
    after?: string;
  }, LoginPage>;
  /** Sign all your other browsers out. */
  endOtherLogins: Call<{}, LoginsEnded>;
  /** Sign one of your browsers out. */
  endLogin: Call<{
    id: string;
  }, LoginsEnded>;
  /** Access token for another of your organizations. */
  switchOrganization: Call<{
    organizationId: string;
  }, TokenReply>;
  /** Prove the second factor again. */
  stepUp: Call<{
    totp?: string;
    passkey?: PasskeyAnswer;
  }, TokenReply>;
  /** Begin to enrol a second factor. */
  enrolTotp: Call<{
    totp?: string;
    recoveryCode?: string;
    password?: string;
  }, TotpEnrolled>;
  /** Confirm the second factor with a first code. */
  confirmTotp: Call<{
    totp: string;
  }, TokenReply>;
  /** Take the codes of the app and the recovery codes away, by one of them. */
  disableTotp: Call<{
    totp?: string;
    recoveryCode?: string;
    passkey?: PasskeyAnswer;
  }, FactorRemoved>;
  /** Ten recovery codes in place of those of before; takes a fresh second factor. */
  makeRecoveryCodes: Call<{
    totp?: string;
  }, RecoveryCodesMade>;
  /** Public keys of the built-in issuer. */
  getJwks: Call<{}, unknown>;
  /** Create a tenant; the caller becomes its owner. */
  createOrganization: Write<{
    name: string;
  }, Organization>;
  /** Your organizations. */
  listOrganizations: List<{
    page?: number;
    size?: number;
    after?: string;
  }, OrganizationPage>;
  /** What a browser asks an authenticator to sign in with a passkey. */
  beginPasskeySignIn: Call<{}, PasskeyQuestion>;
  /** Sign in with a passkey; it counts as a fresh second factor. */
  signInByPasskey: Call<{
    passkey: PasskeyAnswer;
    organizationId?: string;
  }, TokenReply>;
  /** What a browser asks an authenticator to make a passkey; takes a fresh second factor where there is one. */
  beginPasskey: Call<{
    password?: string;
  }, PasskeyCreation>;
  /** Add the passkey that an authenticator made, under a name. */
  addPasskey: Call<{
    name: string;
    passkey: PasskeyMade;
  }, Passkey>;
  /** Your passkeys. */
  listPasskeys: List<{
    page?: number;
    size?: number;
    after?: string;
  }, PasskeyPage>;
  /** Remove one of your passkeys; takes a fresh second factor. */
  removePasskey: Call<{
    id: string;
  }, PasskeyRemoved>;
  /** A question for your passkey: for a step-up, or as the proof of one request. */
  askPasskey: Call<{
    operation?: string;
    params?: Record<string, string>;
    body?: Record<string, unknown>;
  }, PasskeyQuestion>;
  /** Keep the factors, by the link of a letter about their reset. */
  keepFactors: Call<{
    token: string;
  }, {
    email: string;
    cancelled: true;
  }>;
  /** Begin the login of a command line: a code that a person types into the console. */
  askDevice: Call<{}, {
    deviceCode: string;
    userCode: string;
    verificationUri: string;
    expiresInSeconds: number;
    intervalSeconds: number;
  }>;
  /** Ask, every five seconds, whether the code was approved; its API key is shown once. */
  takeDeviceKey: Call<{
    deviceCode: string;
  }, {
    status: Open<'pending' | 'ready'>;
    key: string | null;
    environment: Open<'live' | 'sandbox'> | null;
    role: Open<'editor' | 'viewer'> | null;
    expiresAt: string | null;
  }>;
  /** Approve the code of a command line of yours; live needs a fresh second factor. */
  approveDevice: Call<{
    userCode: string;
    environment?: 'live' | 'sandbox';
    role?: 'editor' | 'viewer';
    totp?: string;
  }, {
    approved: true;
    environment: Open<'live' | 'sandbox'>;
    role: Open<'editor' | 'viewer'>;
  }>;
  /** The identity provider of the organization, if there is one. */
  listSsoConnections: List<{
    page?: number;
    size?: number;
    after?: string;
  }, SsoPage>;
  /** Name the OpenID Connect provider of the organization, in place of the one before; it is asked at once. */
  setSsoConnection: Call<{
    issuer: string;
    clientId: string;
    clientSecret?: string;
    jitRole?: 'viewer' | 'editor';
  }, SsoConnection>;
  /** End sign-in by the provider; who came by it sets a password by a letter. */
  removeSsoConnection: Call<{
    id: string;
  }, Removed>;
  /** Name the SAML provider of the organization by its metadata, in place of the one before. */
  setSamlConnection: Call<{
    metadata: string;
    jitRole?: 'viewer' | 'editor';
  }, SsoConnection>;
  /** Let members of the domains in by the provider alone, or no longer; takes a code made for this, of an owner who signed in by it within 24 hours. */
  enforceSso: Call<{
    id: string;
    enforced: boolean;
    breakGlass?: string[];
    totp?: string;
    passkey?: PasskeyAnswer;
  }, SsoConnection>;
  /** Domains of emails, verified or not. */
  listDomains: List<{
    page?: number;
    size?: number;
    after?: string;
  }, DomainPage>;
  /** Add a domain; the answer names the TXT record that proves it. */
  addDomain: Call<{
    domain: string;
  }, Domain>;
  /** Look for the TXT record of a domain, ten times an hour. */
  checkDomain: Call<{
    id: string;
  }, Domain>;
  /** Give a domain up. */
  removeDomain: Call<{
    id: string;
  }, Removed>;
  /** The provider of the domain of an email. */
  discoverSso: Call<{
    email: string;
  }, Discovered>;
  /** Begin to sign in by a provider, in this browser, within ten minutes. */
  startSso: Call<{
    connectionId: string;
  }, SsoStarted>;
  /** Sign in with what the provider gave; `prove_account` where the email has a user who never came by it. */
  finishSso: Call<{
    state: string;
    code?: string;
    iss?: string;
    error?: string;
  }, TokenReply>;
  /** Prove, once, the account that a first arrival is linked with, by password and factor, and sign in. */
  linkSso: Call<{
    password: string;
    totp?: string;
    recoveryCode?: string;
  }, TokenReply>;
  /** List API keys. */
  listApiKeys: List<{
    page?: number;
    size?: number;
    after?: string;
  }, ApiKeyPage>;
  /** Mint an API key, shown once; needs a fresh second factor. */
  mintApiKey: Write<{
    label: string;
    environment: 'live' | 'sandbox';
    role?: 'editor' | 'viewer';
    expiresAt?: string;
    totp?: string;
  }, ApiKeyCreated>;
  /** Revoke an API key. */
  revokeApiKey: Write<{
    id: string;
  }, ApiKey>;
  /** Local keys that the edge of this account reported, the newest first. */
  listEdgeKeys: List<{
    size?: number;
    after?: string;
  }, EdgeKeyPage>;
  /** Have a local key revoked by the edge, with what it minted; it waits while no edge is there. */
  revokeEdgeKey: Write<{
    id: string;
  }, EdgeKey>;
  /** Command that starts an edge for this account. */
  getEdgeSetup: Call<{}, EdgeSetup>;
  /** Identity rotations that wait for the owner. */
  listRotations: List<{
    page?: number;
    size?: number;
    after?: string;
  }, RotationPage>;
  /** Pin the new identity and register its keys. */
  approveRotation: Write<{
    id: string;
    totp?: string;
    passkey?: PasskeyAnswer;
  }, RotationDecided>;
  /** Keep the pinned identity and discard the held keys. */
  rejectRotation: Write<{
    id: string;
    totp?: string;
    passkey?: PasskeyAnswer;
  }, RotationDecided>;
  /** Members and their roles. */
  listMembers: List<{
    page?: number;
    size?: number;
    after?: string;
    email?: string;
  }, MemberPage>;
  /** Invite somebody: the same as POST /v1/settings/invitations. */
  inviteMember: Call<{
    email: string;
    role: 'owner' | 'editor' | 'viewer';
    totp?: string;
  }, Invitation>;
  /** Invitations, newest first. */
  listInvitations: List<{
    page?: number;
    size?: number;
    after?: string;
  }, InvitationPage>;
  /** Invite an email; takes the place of an open invitation. To invite an owner needs a fresh second factor. */
  createInvitation: Call<{
    email: string;
    role: 'owner' | 'editor' | 'viewer';
    totp?: string;
  }, Invitation>;
  /** Take an invitation back. */
  revokeInvitation: Call<{
    id: string;
  }, Invitation>;
  /** Send the letter of an open invitation again, with another link. */
  resendInvitation: Call<{
    id: string;
  }, Invitation>;
  /** Give a member another role; to make an owner needs a fresh second factor. */
  changeMember: Call<{
    userId: string;
    role: 'owner' | 'editor' | 'viewer';
    totp?: string;
  }, MemberChanged>;
  /** Remove a member (owners), or leave (anyone). */
  removeMember: Call<{
    userId: string;
  }, MemberRemoved>;
  /** Give the organization another name. */
  renameOrganization: Call<{
    id: string;
    name: string;
  }, Renamed>;
  /** Hand the organization over to a member and step down or leave; takes a code made for this. */
  transferOrganization: Call<{
    id: string;
    userId: string;
    then: 'editor' | 'viewer' | 'leave';
    totp?: string;
    passkey?: PasskeyAnswer;
  }, Transferred>;
  /** Until when staff may read, and their newest 50 sessions. */
  getSupportAccess: Call<{}, SupportAccess>;
  /** Let staff read until an instant, at most 7 days ahead; null ends it, and their open sessions. */
  setSupportAccess: Call<{
    until: string | null;
  }, SupportAccess>;
  /** End a session of staff at once. */
  endSupportSession: Call<{
    id: string;
  }, SupportEnded>;
  /** The newest wipe of the environment, how far it is, and what lay on the addresses. */
  getWipe: Call<{}, WipeState>;
  /** Wipe the environment in 72 hours; takes a code made for this, and any owner can take it back. */
  scheduleWipe: Write<{
    environment: 'live' | 'sandbox';
    confirm: string;
    totp?: string;
    passkey?: PasskeyAnswer;
  }, WipeScheduled>;
  /** Take the scheduled wipe back, as long as nothing is deleted. */
  cancelWipe: Call<{}, WipeCancelled>;
  /** Usage of the current period. */
  getUsage: Call<{}, Usage>;
  /** Tiers and bands, what they hold and cost. */
  getPlans: Call<{}, Plans>;
  /** What a change of plan would cost, now and by the month. */
  previewPlan: Call<{
    tier?: 'free' | 'premium' | 'ultimate';
    band?: 'launch' | 'growth' | 'scale' | 'enterprise' | 'custom';
  }, Preview>;
  /** Change the band. */
  changeBand: Write<{
    band: 'launch' | 'growth' | 'scale' | 'enterprise' | 'custom';
  }, Plan>;
  /** Change the tier: a higher one at once, a lower one at the end of the period. */
  changePlan: Write<{
    tier: 'free' | 'premium' | 'ultimate';
    band?: 'launch' | 'growth' | 'scale' | 'enterprise' | 'custom';
  }, Plan>;
  /** Statements, newest first. */
  listStatements: List<{
    page?: number;
    size?: number;
    after?: string;
  }, StatementPage>;
  /** One statement. */
  getStatement: Call<{
    id: string;
  }, Statement>;
  /** What a statement counts: each settled withdrawal of its month. */
  listBilled: List<{
    id: string;
    size?: number;
    after?: string;
  }, BilledPage>;
  /** One statement as CSV, or as a page to print whose overage leads to the withdrawals. */
  exportStatement: Call<{
    id: string;
    format?: 'csv' | 'html';
  }, string>;
  /** Who did what, newest first. */
  listAuditLog: List<{
    page?: number;
    size?: number;
    after?: string;
    actor?: string;
    action?: string;
    target?: string;
    outcome?: 'done' | 'refused' | 'failed';
    from?: string;
    to?: string;
  }, AuditPage>;
  /** Number and hash of the newest entry, signed: keep it, and a rewritten log is found out. */
  getAuditCheckpoint: Call<{}, Checkpoint>;
  /** Compute the chain of the log again, and compare it with a checkpoint from earlier. */
  verifyAuditLog: Call<{
    checkpoint?: {
      organization: string;
      seq: number;
      hash: string;
      at: string;
      kid: string;
      signature: string;
    };
  }, Verified>;
  /** The whole log as JSON Lines, which `flock audit verify` checks, or CSV; needs a fresh second factor. */
  exportAuditLog: Call<{
    format?: 'jsonl' | 'csv';
  }, string>;
  /** The process runs. */
  getLive: Call<{}, Live>;
  /** The process can serve. */
  getReady: Call<{}, Ready>;
  /** Prometheus metrics, for peers in METRICS_ALLOW or with the token of METRICS_TOKEN_FILE. */
  getMetrics: Call<{}, string>;
  /** This description as OpenAPI 3.1. */
  getDescription: Call<{}, unknown>;
}

/** `details` of a refusal, by its code. */
export interface Details {
  METHOD_NOT_ALLOWED: {
    method?: string;
    path?: string;
    allowed?: string[];
    nearest?: string;
    docs?: string;
  };
  PAYLOAD_TOO_LARGE: {
    reason?: string;
    next?: string;
    limitBytes?: number;
    maxBytes?: number;
    lineBytesMax?: number;
  };
  UNSUPPORTED_MEDIA_TYPE: {
    reason?: string;
    next?: string;
    expected?: string;
    found?: string;
  };
  UNAUTHORIZED: {
    reason?: string;
    next?: string;
    prefix?: string;
    setting?: string;
  };
  EDGE_SIGNATURE_SKEW: {
    maxSeconds?: number;
    serverTime?: string;
  };
  EDGE_SIGNATURE_INVALID: {
    reason?: string;
    next?: string;
    expected?: string | string[];
    setting?: string;
  };
  EDGE_NONCE_REPLAY: Record<string, never>;
  KEY_MATERIAL_REJECTED: {
    reason?: string;
    next?: string;
    chain?: string;
    rule?: string;
    field?: string;
    line?: number;
  };
  RATE_LIMIT_EXCEEDED: {
    retryAfterSeconds?: number;
    windowSeconds?: number;
    limit?: number;
    of?: string;
    reason?: string;
  };
  EDGE_VERSION_UNSUPPORTED: {
    edgeVersion?: string;
    minimum?: string;
  };
  IDENTITY_ROTATION_PENDING: {
    rotationId?: string;
  };
  CROSS_ENVIRONMENT_IDENTITY: Record<string, never>;
  ACCOUNT_SUSPENDED: {
    reason?: string;
    next?: string;
    wipeId?: string;
  };
  SANDBOX_ONLY: {
    next?: string;
  };
  FORBIDDEN: {
    reason?: string;
    next?: string;
    setting?: string;
    invited?: string;
    needs?: string;
    has?: string | null;
  };
  TOTP_REQUIRED: {
    reason?: string;
    next?: string;
    accepts?: string[];
    until?: string;
    maxAgeSeconds?: number;
  };
  INVALID_INPUT: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
    expectedIndex?: number;
    expectedPath?: string;
    index?: number | null;
    family?: string;
    maximum?: number;
    max?: number;
    tag?: string | null;
    kind?: string;
    standard?: string;
    symbol?: string;
    contract?: string | null;
    line?: number;
  };
  INVALID_CHAIN: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
  };
  INVALID_ADDRESS: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
    owner?: string;
  };
  INVALID_AMOUNT: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
    maximum?: string;
    asset?: string;
    minimum?: string;
    cheaper?: Array<{
      chain: string;
      asset: string;
      minimum: string;
    }>;
  };
  TOKEN_NOT_SUPPORTED: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
    asset?: string;
  };
  TOKEN_NOT_ON_CHAIN: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
    asset?: string;
    deployedOn?: string[];
  };
  TOKEN_NOT_SWEEPABLE: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
  };
  TOKEN_NOT_BRIDGEABLE: {
    reason?: string;
    next?: string;
    chain?: string;
    field?: string;
    header?: string;
    expected?: string | number;
    known?: string[];
    nearest?: string;
    problems?: Array<{
      field: string;
      message: string;
    }> | string;
    address?: string;
    canonical?: string;
    amount?: string;
    tokenContract?: string;
    example?: {
      amount?: string;
      is?: string;
      unit?: string;
      decimals?: number;
    };
  };
  NOT_FOUND: {
    reason?: string;
    next?: string;
    chain?: string;
    what?: string;
    id?: string;
    environment?: string;
    method?: string;
    path?: string;
    servedBy?: string;
    nearest?: string;
    docs?: string;
    address?: string;
  };
  IDEMPOTENCY_CONFLICT: {
    reason?: string;
    next?: string;
    key?: string;
    method?: string;
    path?: string;
    differs?: string;
  };
  NO_SUBSCRIPTION: Record<string, never>;
  TIER_FEATURE_LOCKED: {
    feature?: string;
    exceeded?: Array<{
      feature: string;
      limit: number;
      current: number;
    }>;
    chain?: string;
    tier?: string;
    requiredTier?: string | null;
    limit?: number;
    current?: number;
  };
  MERCHANT_NOT_ACTIVE: Record<string, never>;
  ORIGIN_NOT_REGISTERED: Record<string, never>;
  PAYMENT_SESSION_LIMIT_EXCEEDED: {
    scope?: string;
    limit?: number;
  };
  CHAIN_NOT_READY: {
    reason?: string | null;
    next?: string;
    chain?: string;
    state?: string;
  };
  ADDRESS_LIMIT_EXCEEDED: {
    band?: string;
    limit?: number;
    current?: number;
    projected?: number;
    requiredBand?: string;
  };
  AMOUNT_CAP_EXCEEDED: {
    reason?: string;
    next?: string;
    chain?: string;
    feeMax?: string;
    feeCap?: string;
    feePerOperation?: string;
    feeCapPerOperation?: string;
    feeRateCapSatPerKvb?: string;
    ratioBpsMax?: number;
    amount?: string;
    tokenContract?: string | null;
    cap?: string;
    spent?: string;
    setting?: string;
    windowSeconds?: number;
    policyId?: string;
    limit?: string;
    inFlight?: string;
  };
  COMPLIANCE_REJECTED: {
    reason?: string;
    next?: string;
    chain?: string;
    rule?: string;
  };
  IMPERSONATION_FORBIDDEN: {
    reason?: string;
    next?: string;
  };
  IMPERSONATION_READ_ONLY: {
    reason?: string;
    next?: string;
  };
  MERCHANT_SCOPE_VIOLATION: Record<string, never>;
  KEY_SOURCE_MISMATCH: {
    reason?: string;
    next?: string;
    chain?: string;
    family?: string;
    index?: number | null;
  };
  SIGNED_BATCH_REJECTED: {
    reason?: string;
    next?: string;
    chain?: string;
    kept?: number;
    offered?: number;
    setting?: string | null;
    bound?: string;
    value?: string;
    windowSeconds?: number;
    expected?: string | null;
    found?: string | null;
    contract?: string | null;
  };
  ALREADY_ENROLLED: Record<string, never>;
  RESYNC_REQUIRED: Record<string, never>;
  LEASE_HELD: {
    epoch?: number;
    leaseEpoch?: number;
    holder?: string | null;
    signed?: boolean;
  };
  LEASE_EPOCH_STALE: {
    epoch?: number;
    leaseEpoch?: number;
  };
  DRY_RUN_STALE: {
    current?: string | null;
  };
  IMPORT_NOT_READY: {
    reason?: string;
    next?: string;
    state?: string;
  };
  ADDRESS_CONFLICT: {
    count?: number;
    reviewId?: string;
  };
  ROLLBACK_WINDOW_CLOSED: {
    reason?: string;
    next?: string;
  };
  KEY_SOURCE_PURGED: {
    keySourceId?: string;
  };
  CONFLICT: {
    reason?: string;
    next?: string;
    chain?: string;
    retryAfterSeconds?: number;
    status?: string;
    closedReason?: string | null;
    field?: string;
    limit?: number;
    left?: string;
    retentionDays?: number;
    by?: string;
    inFlight?: string[];
    value?: string | number;
    signed?: boolean;
    txid?: string | null;
    txids?: string[];
    height?: number;
    outpoint?: string;
    evicted?: number;
    tokenContract?: string | null;
    catalogue?: number;
    onChain?: number;
    nonce?: string | number;
    lastValidBlockHeight?: string | number;
    finalizedBlockHeight?: string | number;
    expiresAtMs?: string;
    asset?: string;
    expected?: string | number;
    found?: string | number;
    sequence?: string | number;
    earlier?: string[];
    walletId?: string;
    policyId?: string;
    jobId?: string;
    operationId?: string;
    looks?: number;
    inexpressible?: Array<{
      reason: string;
      count: number;
    }>;
    setting?: string;
    wipeId?: string;
    scheduledFor?: string;
    rotationId?: string;
    transactionId?: string;
    count?: number;
  };
  ADDRESS_IN_OBSERVE_MODE: {
    projectId?: string;
  };
  ADDRESS_WATCH_ONLY: {
    keySourceId?: string;
    reason?: string | null;
  };
  IMPORT_TOO_LARGE: {
    reason?: string;
    next?: string;
    maxBytes?: number;
  };
  INSUFFICIENT_FUNDS: {
    reason?: string;
    next?: string;
    chain?: string;
    balance?: string;
    required?: string;
    action?: string;
    expiresAtMs?: number;
    confirmed?: string;
    reserved?: string;
  };
  INSUFFICIENT_GAS: {
    reason?: string;
    next?: string;
    chain?: string;
    balance?: string;
    required?: string;
    action?: string;
    expiresAtMs?: number;
    confirmed?: string;
    reserved?: string;
    feeMax?: string;
    feePayer?: string;
  };
  INSUFFICIENT_RESERVE: {
    reason?: string;
    next?: string;
    chain?: string;
    balance?: string;
    required?: string;
    action?: string;
    expiresAtMs?: number;
    reserved?: string;
    left?: string;
    minimum?: string;
    account?: string;
    amount?: string;
  };
  DESTINATION_OPT_IN_REQUIRED: {
    reason?: string;
    next?: string;
    chain?: string;
    asset?: string;
    destination?: string;
    action?: string;
  };
  CHAIN_REJECTED: {
    reason?: string;
    next?: string;
    chain?: string;
    balance?: string;
    required?: string;
    action?: string;
    expiresAtMs?: number;
    amount?: string;
    minimum?: string;
    coins?: number;
    limit?: number;
    gas?: string;
    decimals?: number;
    feeLimit?: string;
    feeLimitMax?: string;
    proof?: string;
  };
  EDGE_OFFLINE: {
    reason?: string;
    next?: string;
    chain?: string;
  };
  EDGE_NO_LEADER: {
    epoch?: number;
  };
  EDGE_NOT_SYNCED: {
    reason?: string;
    next?: string;
  };
  UPSTREAM_UNAVAILABLE: {
    reason?: string;
    next?: string;
    status?: number;
    limitBytes?: number;
    signed?: boolean;
    code?: string;
  };
  CHAIN_UNAVAILABLE: {
    reason?: string;
    next?: string;
    chain?: string;
    retryAfterSeconds?: number;
    permanent?: boolean;
    coins?: number;
    status?: string;
    found?: string;
    expected?: string;
    seen?: string;
    setting?: string;
  };
  SERVICE_UNAVAILABLE: {
    reason?: string;
    next?: string;
    chain?: string;
    retryAfterSeconds?: number;
    checks?: Record<string, unknown>;
    reasons?: Record<string, unknown>;
    mayBeSigned?: boolean;
    signed?: boolean;
    setting?: string;
    cause?: string;
  };
  EDGE_OUTBOX_FULL: {
    reason?: string;
    next?: string;
    capacity?: number;
    depth?: number;
  };
  INTERNAL_ERROR: {
    reason?: string;
    next?: string;
    fault?: string;
    field?: string;
    setting?: string;
  };
}

export interface Accepted {
  accepted: true;
}

export interface ActivateBody {
  totp?: string;
}

export interface AddPasskeyBody {
  name: string;
  passkey: PasskeyMade;
}

export interface Address {
  id: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  address: string;
  derivationPath: string | null;
  environment: Open<'live' | 'sandbox'>;
  userRef: string | null;
  tag: string | null;
  label: string | null;
  status: Open<'active' | 'archived'>;
  reserveDrops?: string;
  createdAt: string;
  projectId?: string;
  batchId?: string;
  mode?: Open<'observe' | 'active'>;
  spendable?: boolean;
}

export interface AddressPage {
  content: Address[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface AdvanceClockBody {
  advanceSeconds?: number;
  to?: string;
}

export interface AdvancedClock {
  now: string;
  ran: Array<{
    at: string;
    what: Open<'confirmation' | 'payment_expiry' | 'link_end' | 'link_monitored' | 'sweep_policy' | 'delivery_retry'>;
    id: string;
  }>;
}

export interface ApiKey {
  id: string;
  label: string;
  environment: Open<'live' | 'sandbox'>;
  prefix: string;
  role: Open<'editor' | 'viewer'>;
  status: Open<'active' | 'expired' | 'revoked'>;
  createdAt: string;
  createdBy: string | null;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

export interface ApiKeyCreated {
  id: string;
  label: string;
  environment: Open<'live' | 'sandbox'>;
  prefix: string;
  role: Open<'editor' | 'viewer'>;
  status: Open<'active' | 'expired' | 'revoked'>;
  createdAt: string;
  createdBy: string | null;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
  key: string;
}

export interface ApiKeyPage {
  content: ApiKey[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface AskPasskeyBody {
  operation?: string;
  params?: Record<string, string>;
  body?: Record<string, unknown>;
}

export interface AssessedCase {
  case: Open<'A' | 'B' | 'C' | 'D' | 'E' | 'F'>;
  title: string;
  assumed: Array<'standardWallet'>;
  chains: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    route: Open<'own_phrase' | 'key_source' | 'watch_only'>;
    signs: boolean;
    reason: Open<'family_not_signed' | 'list_only' | 'no_key'> | null;
    discovery: boolean;
    listRequired: boolean;
  }>;
  steps: Array<{
    order: number;
    action: Open<'split' | 'start_edge_with_phrase' | 'import_phrase' | 'detect_path' | 'import_keys' | 'register_source' | 'create_project' | 'discover' | 'upload_list' | 'validate' | 'commit' | 'observe' | 'activate' | 'ask_custodian' | 'issue_new_addresses' | 'move_funds'>;
    where: Open<'edge' | 'cloud' | 'custodian'>;
    how: string;
    optional: boolean;
    perPart: boolean;
  }>;
  warnings: Array<{
    code: Open<'keys_known_elsewhere' | 'not_signed' | 'list_required' | 'evm_networks' | 'unsure_taken_as_unknown' | 'tags_not_expressible' | 'range_beats_scan' | 'band_exceeded' | 'above_self_service' | 'standard_wallet_ignored' | 'count_unlikely' | 'custodian_must_act'>;
    message: string;
    chains: Array<Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>>;
  }>;
  capacity: ProjectCapacity;
}

export interface AuditEntry {
  seq: number;
  at: string;
  actor: {
    kind: Open<'user' | 'key' | 'edge' | 'admin' | 'system'>;
    id: string | null;
    name: string | null;
  };
  via: Open<'console' | 'api_key' | 'edge' | 'command_line' | 'job'>;
  action: string;
  target: string | null;
  environment: string | null;
  outcome: Open<'done' | 'refused' | 'failed'>;
  reason: string | null;
  changes: Record<string, Array<string | number | boolean | null | string[]>> | null;
  ip: string | null;
  client: string | null;
  requestId: string | null;
  hash: string;
}

export interface AuditPage {
  content: AuditEntry[];
  next: string | null;
}

export interface Balance {
  amount: string;
  amountFormatted: string;
  decimals: number;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  address: string;
  tokenContract: string | null;
  tokenSymbol: string;
  reserved: string;
  available: string;
  accountExists: boolean;
}

export interface BalancePage {
  content: Balance[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface BandBody {
  band: 'launch' | 'growth' | 'scale' | 'enterprise' | 'custom';
}

export interface BeginPasskeyBody {
  password?: string;
}

export interface BilledPage {
  content: Array<{
    transactionId: string;
    counted: number;
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    createdAt: string;
  }>;
  next: string | null;
}

export interface BridgePolicy {
  id: string;
  version: number;
  fromChain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  toChain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  token: string;
  sourceWalletId: string;
  destinationWalletId: string;
  maxSingleTransfer: string;
  maxInFlightValue: string;
  maxInFlightCount: number;
  enabled: boolean;
  inFlightCount: number;
  inFlightValue: string;
  createdAt: string;
  updatedAt: string;
}

export interface BridgePolicyBody {
  fromChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  toChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  token?: string;
  sourceWalletId: string;
  destinationWalletId: string;
  maxSingleTransfer: string;
  maxInFlightValue: string;
  maxInFlightCount: number;
  enabled?: boolean;
}

export interface BridgePolicyPage {
  content: BridgePolicy[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface BridgePolicyReplaceBody {
  fromChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  toChain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  token?: string;
  sourceWalletId: string;
  destinationWalletId: string;
  maxSingleTransfer: string;
  maxInFlightValue: string;
  maxInFlightCount: number;
  enabled?: boolean;
  version?: number | null;
}

export interface BridgeTransfer {
  id: string;
  policyId: string;
  fromChain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  toChain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  token: string;
  source: string;
  recipient: string;
  amount: string;
  maxFee: string | null;
  received: string | null;
  state: Open<'PLANNED' | 'APPROVING' | 'BURNING' | 'ATTESTING' | 'MINTING' | 'COMPLETED' | 'FAILED'>;
  reason: string | null;
  stalled: {
    since: string;
    reason: string;
  } | null;
  blocked: {
    reason: string;
    setting: string | null;
    cap: string | null;
    spent: string | null;
    required: string | null;
  } | null;
  approveTransactionId: string | null;
  burnTransactionId: string | null;
  mintTransactionId: string | null;
  createdAt: string;
  updatedAt: string;
  endedAt: string | null;
}

export interface BridgeTransferBody {
  policyId: string;
  amount: string;
}

export interface BridgeTransferPage {
  content: BridgeTransfer[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface BuildBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  from: string;
  to: string;
  amount: string;
  tokenContract?: string | null;
  chainTag?: string | null;
  paymentRef?: string | null;
}

export interface Built {
  amount: string;
  amountFormatted: string;
  decimals: number;
  id: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  status: Open<'built' | 'signing' | 'broadcast' | 'confirming' | 'confirmed' | 'failed' | 'replaced' | 'expired'>;
  from: string;
  to: string;
  tokenContract: string | null;
  tokenSymbol: string;
  chainTag: string | null;
  feeEstimate: {
    fee: string;
    feeMax: string;
    parts: Record<string, string | number>;
  };
  unsigned: Unsigned;
  createdAt: string;
  updatedAt: string;
}

export interface ChainPage {
  content: ChainView[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface ChainView {
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  enabled: boolean;
  symbol: string | null;
  decimals: number | null;
  threshold: number | null;
  readiness: Open<'not_ready' | 'ready' | 'quarantined' | 'pool_low'>;
  explorerUrl: string | null;
  status: Open<'ok' | 'degraded' | 'unavailable' | 'wrong_network' | 'unknown'>;
  reason: string | null;
  next: string | null;
}

export interface ChangeLinkBody {
  title?: string | null;
  description?: string | null;
  successUrl?: string | null;
  collectEmail?: boolean | null;
  minAmount?: string | null;
  maxAmount?: string | null;
  thresholdAmount?: string | null;
  closesAt?: string | null;
  maxUses?: number | null;
  metadata?: Record<string, unknown> | null;
}

export interface CheckoutLink {
  link: {
    slug: string;
    mode: Open<'fixed' | 'donation'>;
    title: string | null;
    description: string | null;
  };
  merchant: {
    name: string | null;
    supportEmail: string | null;
    supportUrl: string | null;
  };
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron'>;
  network: string;
  asset: string;
  tokenContract: string | null;
  decimals: number;
  addressMode: Open<'per_payer' | 'shared'>;
  status: Open<'active' | 'paused' | 'closed'>;
  closedReason: Open<'paid' | 'threshold' | 'date' | 'manual'> | null;
  open: boolean;
  amount: string | null;
  minAmount: string | null;
  maxAmount: string | null;
  emailRequired: boolean;
  address: string | null;
  serverTime: string;
}

export interface Checkpoint {
  organization: string;
  seq: number;
  hash: string;
  at: string;
  kid: string;
  signature: string;
}

export interface CommitImportBody {
  dryRunId: string;
  acceptBillingChange?: boolean;
}

export interface CompleteUploadBody {
  sha256?: string;
}

export interface CompletedUpload {
  uploadId: string;
  bytes: number;
  sha256: string;
  format: Open<'csv' | 'json_lines' | 'descriptors' | 'key_value'> | null;
}

export interface ConfirmTotpBody {
  totp: string;
}

export interface Coverage {
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  completeHeight: number | null;
  headHeight: number | null;
  headAt: string | null;
  heardAt: string | null;
  ageSeconds: number | null;
  lag: number | null;
  unresolved: Array<{
    height: number;
    reason: string;
    tries: number;
    since: string;
  }>;
  endpoints: Array<{
    endpoint: string;
    state: Open<'up' | 'down' | 'wrong_network' | 'behind' | 'stuck' | 'unreadable' | 'ahead' | 'unknown'>;
    reason: string | null;
    next: string | null;
    since: string | null;
    nextLookAt: string | null;
  }>;
}

export interface CreateAddressBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  userRef: string;
  tag?: string | null;
  label?: string | null;
}

export interface CreateImportBody {
  uploadId?: string;
  scanId?: string;
  chain?: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  includeChange?: boolean;
}

export interface CreateLinkBody {
  mode: 'fixed' | 'donation';
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  asset: string;
  amount?: string | null;
  thresholdAmount?: string | null;
  minAmount?: string | null;
  maxAmount?: string | null;
  addressMode?: 'per_payer' | 'shared' | null;
  closesAt?: string | null;
  maxUses?: number | null;
  slug?: string | null;
  title?: string | null;
  description?: string | null;
  collectEmail?: boolean | null;
  successUrl?: string | null;
  metadata?: Record<string, unknown> | null;
}

export interface CreateOrganizationBody {
  name: string;
}

export interface CreateProjectBody {
  name: string;
}

export interface CreateUploadBody {
  filename: string;
  bytes?: number;
  sha256?: string;
}

export interface Delivery {
  id: string;
  eventId: string;
  event: Open<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>;
  webhookId: string;
  url: string;
  replay: number;
  status: Open<'pending' | 'delivered' | 'failed' | 'dead_lettered' | 'held'>;
  heldReason: Open<'endpoint_disabled' | 'endpoint_deleted' | 'secret_unreadable' | 'project_in_observe'> | null;
  nextAttemptAt: string | null;
  createdAt: string;
  attempts: Array<{
    attempt: number;
    statusCode: number | null;
    durationMs: number;
    error: string | null;
    at: string;
  }>;
}

export interface DeliveryPage {
  content: Delivery[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface DetectCaseBody {
  mnemonics: number;
  hasRawKeys: boolean;
  providerHoldsKeys: boolean;
  addressCount: number;
  chains: Array<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  standardWallet?: boolean | null;
}

export interface DetectPathBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  xpub: string;
  knownAddress: string;
  secondAddress?: string | null;
}

export interface DetectedPath {
  candidates: Array<{
    belowKey: string;
    template: string;
    path: string;
    guessed: Array<Open<'purpose' | 'coin' | 'all'>>;
    script: Open<'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr'> | null;
    standard: boolean;
    wallets: string[];
    confirmed: boolean;
  }>;
  indexesTried: number;
  shapesTried: string[];
  hints: Array<Open<'another_account' | 'hardened_index' | 'beyond_indexes' | 'multisig' | 'ask_the_edge' | 'two_branches' | 'second_not_found'>>;
}

export interface DisableBody {
  totp?: string;
  recoveryCode?: string;
  passkey?: PasskeyAnswer;
}

export interface DiscoverBody {
  keySourceId: string;
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  gapLimit?: number;
  maxScan?: number;
  probeTokens?: string[];
  userRefMappingCsv?: string;
  branches?: number[];
  template?: 'account' | 'each';
}

export interface Discovered {
  connectionId: string | null;
}

export interface Domain {
  id: string;
  domain: string;
  status: Open<'pending' | 'verified' | 'unverified'>;
  record: {
    name: string;
    type: 'TXT';
    value: string;
  };
  verifiedAt: string | null;
  createdAt: string;
}

export interface DomainBody {
  domain: string;
}

export interface DomainPage {
  content: Domain[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface DonateBody {
  email?: string | null;
  name?: string | null;
  lang?: string | null;
  identityFingerprint?: string | null;
  amount?: string | null;
}

export interface DryRun {
  batchId: string;
  dryRunId: string | null;
  state: Open<'created' | 'validating' | 'valid' | 'invalid' | 'conflict' | 'committing' | 'committed' | 'rolling_back' | 'rolled_back'>;
  byPhase: {
    parse: {
      state: Open<'passed' | 'failed' | 'not_run'>;
      rows: number;
      passed: number;
      skipped: number;
      warnings: number;
      errors: number;
      codes: Record<string, number>;
    };
    schema: {
      state: Open<'passed' | 'failed' | 'not_run'>;
      rows: number;
      passed: number;
      skipped: number;
      warnings: number;
      errors: number;
      codes: Record<string, number>;
    };
    chain_format: {
      state: Open<'passed' | 'failed' | 'not_run'>;
      rows: number;
      passed: number;
      skipped: number;
      warnings: number;
      errors: number;
      codes: Record<string, number>;
    };
    derivation: {
      state: Open<'passed' | 'failed' | 'not_run'>;
      rows: number;
      passed: number;
      skipped: number;
      warnings: number;
      errors: number;
      codes: Record<string, number>;
    };
    uniqueness: {
      state: Open<'passed' | 'failed' | 'not_run'>;
      rows: number;
      passed: number;
      skipped: number;
      warnings: number;
      errors: number;
      codes: Record<string, number>;
    };
    spendability: {
      state: Open<'passed' | 'failed' | 'not_run'>;
      rows: number;
      passed: number;
      skipped: number;
      warnings: number;
      errors: number;
      codes: Record<string, number>;
    };
    projection: {
      state: Open<'passed' | 'failed' | 'not_run'>;
      rows: number;
      passed: number;
      skipped: number;
      warnings: number;
      errors: number;
      codes: Record<string, number>;
    };
  };
  rows: number;
  adoptable: number;
  skipped: number;
  spendable: number;
  watchOnly: number;
  conflicts: number;
  projection: ProjectCapacity;
  issues: ImportIssue[];
}

export interface EdgeHealth {
  status: 'ok';
  webhooksBlocked?: Array<{
    target: string;
    reason: string;
    setting: string | null;
    next: string;
    count: number;
    since: string;
  }>;
}

export interface EdgeKey {
  id: string;
  label: string;
  prefix: string;
  status: Open<'active' | 'revoking' | 'revoked'>;
  createdAt: string;
  revokeAskedAt: string | null;
  revokedAt: string | null;
}

export interface EdgeKeyPage {
  content: EdgeKey[];
  next: string | null;
}

export interface EdgeSetup {
  environment: Open<'live' | 'sandbox'>;
  command: string;
  checkoutCommand: string;
  variables: Array<{
    name: string;
    value: string | null;
    description: string;
  }>;
}

export interface EmailBody {
  email: string;
}

export interface EmailDone {
  email: string;
}

export interface EnforcementBody {
  enforced: boolean;
  breakGlass?: string[];
  totp?: string;
  passkey?: PasskeyAnswer;
}

export interface EnrolBody {
  totp?: string;
  recoveryCode?: string;
  password?: string;
}

export interface EventRecord {
  id: string;
  event: Open<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>;
  createdAt: string;
  body: string | null;
  deliveries: Delivery[];
}

export interface EventsList {
  content: Array<{
    id: string;
    event: Open<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>;
    createdAt: string;
    body: string | null;
  }>;
  hasMore: boolean;
}

export interface ExportPlan {
  projectId: string;
  format: Open<'CSV' | 'JSONL' | 'DESCRIPTORS' | 'KEY_VALUE'>;
  rows: number;
  expressible: number;
  inexpressible: Array<{
    reason: Open<'untraced' | 'single_key' | 'retired_identity' | 'chain' | 'script' | 'branch'>;
    count: number;
  }>;
  loses: Array<Open<'derivation_path' | 'user_ref' | 'tag' | 'label'>>;
  bytes: number;
}

export interface FactorRemoved {
  removed: true;
}

export interface Fee {
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  symbol: string;
  decimals: number;
  fee: string;
  feeFormatted: string;
  feeMax: string;
  feeMaxFormatted: string;
  parts: Record<string, string | number>;
}

export interface FinishSsoBody {
  state: string;
  code?: string;
  iss?: string;
  error?: string;
}

export interface FundingWallet {
  id: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  address: string | null;
  derivationPath: string | null;
  label: string | null;
  balance: string | null;
  available: string | null;
  lowBalance: string | null;
  isLow: boolean | null;
  estimatedSweepsRemaining: number | null;
  reason: Open<'chain_unavailable' | 'not_needed' | 'not_ready'> | null;
  asOf: string;
  createdAt: string;
}

export interface FundingWalletBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  label?: string | null;
  lowBalance?: string | null;
}

export interface FundingWalletPage {
  content: FundingWallet[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface GasTankPage {
  content: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    address: string;
    derivationPath: string;
  }>;
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface ImportBatch {
  id: string;
  batchId: string;
  projectId: string;
  uploadId: string | null;
  scanId: string | null;
  state: Open<'created' | 'validating' | 'valid' | 'invalid' | 'conflict' | 'committing' | 'committed' | 'rolling_back' | 'rolled_back'>;
  dryRunId: string | null;
  adopting: number;
  heights: Record<string, number>;
  createdAt: string;
  committedAt: string | null;
  review: {
    reviewId: string;
    state: Open<'open' | 'dropped' | 'refused'>;
  } | null;
  rollbackUntil: string | null;
}

export interface ImportIssue {
  phase: Open<'parse' | 'schema' | 'chain_format' | 'derivation' | 'uniqueness' | 'spendability' | 'projection'>;
  severity: Open<'error' | 'warning' | 'skip'>;
  code: string;
  line: number | null;
  column: number | null;
  field: string | null;
  message: string;
}

export interface ImportPage {
  content: ImportBatch[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface Invitation {
  id: string;
  email: string;
  role: Open<'owner' | 'editor' | 'viewer'>;
  status: Open<'pending' | 'accepted' | 'revoked' | 'expired' | 'replaced'>;
  createdAt: string;
  expiresAt: string;
}

export interface InvitationAccepted {
  organizationId: string;
  role: Open<'owner' | 'editor' | 'viewer'>;
}

export interface InvitationBody {
  email: string;
  role: 'owner' | 'editor' | 'viewer';
  totp?: string;
}

export interface InvitationLook {
  organization: string;
  email: string;
  role: Open<'owner' | 'editor' | 'viewer'>;
  known: boolean;
  sso: boolean;
}

export interface InvitationPage {
  content: Invitation[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface Invoice {
  id: string;
  number: string;
  status: Open<'paid' | 'reversed'>;
  linkId: string;
  paymentId: string;
  issuedAt: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron'>;
  asset: string;
  tokenContract: string | null;
  decimals: number;
  amount: string | null;
  amountPaid: string;
  amountOverpaid: string;
  amountShort: string;
  customerEmail: string;
  customerName: string | null;
  title: string | null;
  transfers: Array<{
    txid: string;
    amount: string;
    seenAt: string;
  }>;
}

export interface InvoicePage {
  content: Invoice[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface IssuePage {
  content: ImportIssue[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface Job {
  id: string;
  policyId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  token: string | null;
  trigger: Open<'manual' | 'schedule' | 'threshold'>;
  state: Open<'PLANNED' | 'FUNDING' | 'SIGNING' | 'BROADCAST' | 'COMPLETED' | 'PARTIAL' | 'FAILED'>;
  run: number;
  blocked: {
    reason: string;
    setting: string | null;
    cap: string | null;
    spent: string | null;
    required: string | null;
    windowSeconds: number | null;
  } | null;
  createdAt: string;
  updatedAt: string;
  endedAt: string | null;
}

export interface JobPage {
  content: Job[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface JobWhole {
  id: string;
  policyId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  token: string | null;
  trigger: Open<'manual' | 'schedule' | 'threshold'>;
  state: Open<'PLANNED' | 'FUNDING' | 'SIGNING' | 'BROADCAST' | 'COMPLETED' | 'PARTIAL' | 'FAILED'>;
  run: number;
  blocked: {
    reason: string;
    setting: string | null;
    cap: string | null;
    spent: string | null;
    required: string | null;
    windowSeconds: number | null;
  } | null;
  createdAt: string;
  updatedAt: string;
  endedAt: string | null;
  settings: {
    treasuryWalletId: string;
    fundingWalletId: string | null;
    gasFundingMode: Open<'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER'>;
    dustFloor: string;
    maxFeeRatioBps: number | null;
    abortIfGasExceeds: string | null;
    retainGasFloat: number;
  };
  amount: string;
  estimate: string;
  paid: string;
  counts: Record<string, number>;
  operations: Operation[];
}

export interface KeySource {
  id: string;
  fingerprint: string;
  label: string;
  kind: Open<'phrase' | 'key'>;
  keystore: Open<'file' | 'pkcs11'>;
  chains: Array<Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>>;
  basePath: string | null;
  keys: Array<{
    chains: Array<Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>>;
    path: string | null;
    xpub: string | null;
    publicKey: string | null;
  }>;
  addresses: number;
  status: Open<'active' | 'purged'>;
  signing: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    signs: boolean;
    reason: Open<'source_purged' | 'family_not_signed'> | null;
  }>;
  pass: {
    state: Open<'running' | 'done'>;
    checked: number;
    traced: number;
  } | null;
  traced: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    spendable: number;
    watchOnly: number;
  }>;
  createdAt: string;
  purgedAt: string | null;
}

export interface KeySourcePage {
  content: KeySource[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface KeySourceResolved {
  keySourceId: string;
  state: Open<'running' | 'done'>;
  checked: number;
  traced: number;
  spendable: number;
  watchOnly: Array<{
    reason: Open<'source_purged' | 'family_not_signed' | 'no_key'>;
    count: number;
  }>;
}

export interface Lease {
  state: Open<'held' | 'vacant'>;
  epoch: number;
  holder: string | null;
  expiresAt: string | null;
}

export interface Link {
  id: string;
  url: string;
  slug: string;
  mode: Open<'fixed' | 'donation'>;
  addressMode: Open<'per_payer' | 'shared'>;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron'>;
  asset: string;
  tokenContract: string | null;
  decimals: number;
  amount: string | null;
  thresholdAmount: string | null;
  minAmount: string | null;
  maxAmount: string | null;
  closesAt: string | null;
  maxUses: number | null;
  uses: number;
  title: string | null;
  description: string | null;
  collectEmail: boolean;
  successUrl: string | null;
  metadata: Record<string, unknown>;
  status: Open<'active' | 'paused' | 'closed'>;
  closedReason: Open<'paid' | 'threshold' | 'date' | 'manual'> | null;
  closedAt: string | null;
  monitorUntil: string | null;
  amountRaised: string;
  paymentCount: number;
  address: string | null;
  derivationPath: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface LinkBody {
  token: string;
}

export interface LinkPage {
  content: Link[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface LinkPasswordBody {
  token: string;
  password: string;
}

export interface LinkSsoBody {
  password: string;
  totp?: string;
  recoveryCode?: string;
}

export interface Live {
  status: 'live';
}

export interface LocalKey {
  id: string;
  label: string;
  prefix: string;
  mintedBy: string | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
}

export interface LocalKeyBody {
  label: string;
  expiresAt?: string;
}

export interface LocalKeyCreated {
  id: string;
  label: string;
  key: string;
  prefix: string;
  mintedBy: string | null;
  expiresAt: string | null;
}

export interface LocalKeyPage {
  content: LocalKey[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface LocalKeyRevoked {
  id: string;
  label: string;
  prefix: string;
  mintedBy: string | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  alsoRevoked: string[];
}

export interface Login {
  id: string;
  current: boolean;
  method: Open<'password' | 'password_totp' | 'password_recovery_code' | 'passkey' | 'sso'>;
  client: string;
  ip: string;
  createdAt: string;
  lastSeenAt: string;
  endsAt: string;
}

export interface LoginBody {
  email: string;
  password: string;
  totp?: string;
  recoveryCode?: string;
  organizationId?: string;
}

export interface LoginPage {
  content: Login[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface LoginsEnded {
  ended: number;
}

export interface Me {
  id: string;
  email: string;
  secondFactor: boolean;
  totp: boolean;
  passkeys: number;
  recoveryCodes: number;
  loginId: string | null;
}

export interface Member {
  userId: string;
  email: string;
  role: Open<'owner' | 'editor' | 'viewer'>;
  totpConfirmed: boolean;
}

export interface MemberBody {
  role: 'owner' | 'editor' | 'viewer';
  totp?: string;
}

export interface MemberChanged {
  userId: string;
  role: Open<'owner' | 'editor' | 'viewer'>;
}

export interface MemberPage {
  content: Member[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface MemberRemoved {
  userId: string;
  removed: true;
  apiKeysMinted: number;
}

export interface MintApiKeyBody {
  label: string;
  environment: 'live' | 'sandbox';
  role?: 'editor' | 'viewer';
  expiresAt?: string;
  totp?: string;
}

export interface NewEmailBody {
  email: string;
  totp?: string;
  passkey?: PasskeyAnswer;
}

export interface Observed {
  projectId: string;
  state: Open<'draft' | 'observe' | 'active'>;
  addresses: number;
  depositsObserved: number;
  historicalRecorded: number;
  caughtUp: boolean;
  chains: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    recordedHeight: number | null;
    caughtUp: boolean;
    depositsObserved: number;
    historicalRecorded: number;
    confirmed: number;
    pending: number;
    reversed: number;
    straddling: number;
  }>;
}

export interface OpenSessionBody {
  email?: string | null;
  name?: string | null;
  lang?: string | null;
  identityFingerprint?: string | null;
}

export interface OpenedUpload {
  uploadId: string;
  uploadUrl: string;
  deadline: string;
  maxBytes: number;
}

export interface Operation {
  id: string;
  address: string;
  state: Open<'PLANNED' | 'FUNDING' | 'SIGNING' | 'BROADCAST' | 'CONFIRMED' | 'FAILED' | 'SKIPPED'>;
  reason: string | null;
  attempt: number;
  amount: string;
  estimate: string;
  funding: string | null;
  paid: string | null;
  fundTransactionId: string | null;
  sweepTransactionId: string | null;
  blocked: {
    reason: string;
    setting: string | null;
    cap: string | null;
    spent: string | null;
    required: string | null;
    windowSeconds: number | null;
  } | null;
  updatedAt: string;
}

export interface Organization {
  id: string;
  name: string;
  role: Open<'owner' | 'editor' | 'viewer'>;
  createdAt: string;
}

export interface OrganizationPage {
  content: Organization[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface Outbox {
  outboxDepth: number;
  outboxPoisoned: boolean;
  outboxMode: string | null;
  poisonedBy?: {
    subject: string;
    kind: string;
    code: string;
    tries: number;
  } | null;
  setAside?: number;
}

export interface Passkey {
  id: string;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface PasskeyAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string;
  };
}

export interface PasskeyCreation {
  challenge: string;
  rp: {
    id: string;
    name: string;
  };
  user: {
    id: string;
    name: string;
    displayName: string;
  };
  pubKeyCredParams: Array<{
    type: 'public-key';
    alg: number;
  }>;
  timeout: number;
  attestation: 'none';
  authenticatorSelection: {
    residentKey: 'required';
    requireResidentKey: true;
    userVerification: 'required';
  };
  excludeCredentials: Array<{
    id: string;
    type: 'public-key';
  }>;
}

export interface PasskeyMade {
  id: string;
  rawId: string;
  type: 'public-key';
  response: {
    clientDataJSON: string;
    attestationObject: string;
  };
}

export interface PasskeyPage {
  content: Passkey[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface PasskeyQuestion {
  challenge: string;
  rpId: string;
  timeout: number;
  userVerification: 'required';
  allowCredentials: Array<{
    id: string;
    type: 'public-key';
  }>;
}

export interface PasskeyRemoved {
  removed: true;
}

export interface PasskeySignInBody {
  passkey: PasskeyAnswer;
  organizationId?: string;
}

export interface PasswordBody {
  password: string;
  current?: string;
}

export interface PasswordChanged {
  changed: true;
}

export interface Payment {
  id: string;
  linkId: string;
  status: Open<'awaiting_payment' | 'detected' | 'underpaid' | 'confirmed' | 'late' | 'expired'>;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron'>;
  asset: string;
  tokenContract: string | null;
  decimals: number;
  address: string;
  derivationPath: string;
  addressReused: boolean;
  amount: string | null;
  amountDue: string;
  amountPaid: string;
  amountConfirmed: string;
  amountRemaining: string;
  amountOverpaid: string;
  amountShort: string;
  transfers: Array<{
    txid: string;
    amount: string;
    confirmations: number;
    threshold: number;
    status: Open<'detected' | 'confirmed' | 'reversed'>;
    late: boolean;
    explorerUrl: string | null;
  }>;
  notices: Array<{
    reason: Open<'wrong_asset' | 'wrong_network'>;
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    asset: string;
    amount: string;
    txid: string;
  }>;
  customerEmail: string | null;
  customerName: string | null;
  metadata: Record<string, unknown>;
  invoiceId: string | null;
  invoiceNumber: string | null;
  expiresAt: string;
  createdAt: string;
  updatedAt: string;
}

export interface PaymentPage {
  content: Payment[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface PaymentSettings {
  active: boolean;
  displayName: string | null;
  supportEmail: string | null;
  supportUrl: string | null;
  origins: string[];
  toleranceBps: number;
  timeZone: string;
  language: string;
  invoice: {
    name: string | null;
    address: string | null;
    taxId: string | null;
  };
}

export interface PaymentSettingsBody {
  active: boolean;
  displayName?: string | null;
  supportEmail?: string | null;
  supportUrl?: string | null;
  origins?: string[] | null;
  toleranceBps?: number | null;
  timeZone?: string | null;
  language?: string | null;
  invoice?: {
    name?: string | null;
    address?: string | null;
    taxId?: string | null;
  } | null;
  totp?: string;
}

export interface PaymentsReadinessPage {
  content: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron'>;
    ready: boolean;
    reason: Open<'not_active' | 'not_ready' | 'quarantined' | 'not_enabled' | 'chain_unavailable'> | null;
    asset: string;
    nativeMinimum: string | null;
    estimatedSweepFee: string | null;
    feeAsOf: string | null;
    tokens: Array<{
      symbol: string;
      contract: string;
      decimals: number;
      minimum: string;
    }>;
    threshold: number;
    unpaidAddresses: {
      open: number;
      resting: number;
      limit: number;
    };
    gapLimitNeeded: number | null;
    gapLimitAsOf: string | null;
    attestationsAhead: number;
  }>;
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface PaymentsSession {
  id: string | null;
  paymentId: string | null;
  status: Open<'awaiting_payment' | 'detected' | 'underpaid' | 'confirmed' | 'late' | 'expired'>;
  link: {
    slug: string;
    mode: Open<'fixed' | 'donation'>;
    title: string | null;
    description: string | null;
  };
  merchant: {
    name: string | null;
    supportEmail: string | null;
    supportUrl: string | null;
  };
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron'>;
  network: string;
  asset: string;
  tokenContract: string | null;
  decimals: number;
  address: string;
  amount: string | null;
  amountDue: string;
  amountPaid: string;
  amountConfirmed: string;
  amountRemaining: string;
  amountOverpaid: string;
  amountShort: string;
  transfers: Array<{
    txid: string;
    amount: string;
    confirmations: number;
    threshold: number;
    status: Open<'detected' | 'confirmed' | 'reversed'>;
    late: boolean;
    explorerUrl: string | null;
  }>;
  notices: Array<{
    reason: Open<'wrong_asset' | 'wrong_network'>;
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    asset: string;
    amount: string;
    txid: string;
  }>;
  expiresAt: string | null;
  serverTime: string;
  uri: string | null;
  attestation: {
    v: number;
    keyFingerprint: string;
    issuedAt: string;
    validUntil: string;
    signature: string;
  } | null;
  successUrl: string | null;
}

export interface Plan {
  tier: Open<'free' | 'premium' | 'ultimate'>;
  band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'>;
  subscription: Open<'active' | 'lapsed'>;
  paymentsActive: boolean;
  pendingBand: {
    tier: Open<'free' | 'premium' | 'ultimate'>;
    band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'>;
    effectiveAt: string;
  } | null;
}

export interface PlanBody {
  tier: 'free' | 'premium' | 'ultimate';
  band?: 'launch' | 'growth' | 'scale' | 'enterprise' | 'custom';
}

export interface Plans {
  tiers: Array<{
    chains: number | null;
    addresses: number | null;
    settledTransactions: number | null;
    webhooks: number | null;
    edgeSessions: number | null;
    auditDays: number | null;
    requestsPerMinute: number | null;
    tier: Open<'free' | 'premium' | 'ultimate'>;
  }>;
  bands: Array<{
    addresses: number;
    monthlyFee: string;
    includedTransactions: number;
    overageRate: string;
    requestsPerMinute: number;
    band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'>;
  }>;
  currency: 'USD';
}

export interface Policy {
  id: string;
  version: number;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  token: string | null;
  enabled: boolean;
  triggerMode: Open<'THRESHOLD' | 'SCHEDULE' | 'THRESHOLD_AND_SCHEDULE' | 'MANUAL'>;
  minAmount: string | null;
  scheduleCron: string | null;
  scheduleTimeZone: string;
  treasuryWalletId: string;
  gasFundingMode: Open<'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER'>;
  fundingWalletId: string | null;
  dustFloor: string;
  maxFeeRatioBps: number | null;
  abortIfGasExceeds: string | null;
  pauseOnConsecutiveFailures: number;
  retainGasFloat: number;
  closeTokenAccounts: boolean;
  energy: Open<'BURN' | 'DELEGATE'> | null;
  pausedAt: string | null;
  pausedReason: string | null;
  consecutiveFailures: number;
  nextRunAt: string | null;
  openJobId: string | null;
  lastCycle: {
    at: string;
    result: Open<'COMPLETED' | 'PARTIAL' | 'FAILED' | 'nothing_due' | 'deferred'>;
    reason: string | null;
    jobId: string | null;
  } | null;
  blocked: {
    reason: string;
    setting: string | null;
    cap: string | null;
    spent: string | null;
    required: string | null;
    windowSeconds: number | null;
  } | null;
  createdAt: string;
  updatedAt: string;
}

export interface PolicyBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  token?: string | null;
  enabled?: boolean;
  triggerMode?: 'THRESHOLD' | 'SCHEDULE' | 'THRESHOLD_AND_SCHEDULE' | 'MANUAL';
  minAmount?: string | null;
  scheduleCron?: string | null;
  scheduleTimeZone?: string;
  treasuryWalletId: string;
  gasFundingMode?: 'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER' | null;
  fundingWalletId?: string | null;
  dustFloor?: string;
  maxFeeRatioBps?: number | null;
  abortIfGasExceeds?: string | null;
  pauseOnConsecutiveFailures?: number;
  retainGasFloat?: number;
  closeTokenAccounts?: boolean;
  energy?: 'BURN' | 'DELEGATE' | null;
  previewHash?: string | null;
}

export interface PolicyPage {
  content: Policy[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface PolicyReplaceBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  token?: string | null;
  enabled?: boolean;
  triggerMode?: 'THRESHOLD' | 'SCHEDULE' | 'THRESHOLD_AND_SCHEDULE' | 'MANUAL';
  minAmount?: string | null;
  scheduleCron?: string | null;
  scheduleTimeZone?: string;
  treasuryWalletId: string;
  gasFundingMode?: 'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER' | null;
  fundingWalletId?: string | null;
  dustFloor?: string;
  maxFeeRatioBps?: number | null;
  abortIfGasExceeds?: string | null;
  pauseOnConsecutiveFailures?: number;
  retainGasFloat?: number;
  closeTokenAccounts?: boolean;
  energy?: 'BURN' | 'DELEGATE' | null;
  previewHash?: string | null;
  version?: number | null;
}

export interface PolicyRun {
  jobId: string | null;
  result: Open<'running' | 'nothing_due'>;
  reason: string | null;
}

export interface Preview {
  plan: Plan;
  effectiveAt: string | null;
  proration: string;
  overage: {
    transactions: number;
    amount: string;
  };
  monthlyFee: string;
  terms: {
    addresses: number;
    monthlyFee: string;
    includedTransactions: number;
    overageRate: string;
    requestsPerMinute: number;
  } | null;
  loses: Array<'sso'>;
  refusal: {
    code: string;
    details: Record<string, unknown>;
  } | null;
  currency: 'USD';
}

export interface PreviewBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  token?: string | null;
  enabled?: boolean;
  triggerMode?: 'THRESHOLD' | 'SCHEDULE' | 'THRESHOLD_AND_SCHEDULE' | 'MANUAL';
  minAmount?: string | null;
  scheduleCron?: string | null;
  scheduleTimeZone?: string;
  treasuryWalletId?: string | null;
  gasFundingMode?: 'FUNDING_WALLET' | 'SELF' | 'FEE_PAYER' | null;
  fundingWalletId?: string | null;
  dustFloor?: string;
  maxFeeRatioBps?: number | null;
  abortIfGasExceeds?: string | null;
  pauseOnConsecutiveFailures?: number;
  retainGasFloat?: number;
  closeTokenAccounts?: boolean;
  energy?: 'BURN' | 'DELEGATE' | null;
  page?: number;
  size?: number;
}

export interface Project {
  id: string;
  name: string;
  state: Open<'draft' | 'observe' | 'active'>;
  createdAt: string;
}

export interface ProjectCapacity {
  band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'> | null;
  limit: number | null;
  current: number;
  adopting: number;
  projected: number;
  exceeds: boolean;
  requiredBand: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'> | null;
  monthlyFee: {
    current: string | null;
    required: string | null;
  };
}

export interface ProjectPage {
  content: Project[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface Readiness {
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  state: Open<'not_ready' | 'ready' | 'quarantined' | 'pool_low'>;
  reason: string | null;
  xpub: string | null;
  poolLevelPercent: number | null;
}

export interface ReadinessPage {
  content: Readiness[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface Ready {
  status: Open<'ready' | 'not_ready'>;
  checks: Record<string, boolean>;
}

export interface RecoveryCodesBody {
  totp?: string;
}

export interface RecoveryCodesMade {
  codes: string[];
}

export interface Removed {
  removed: true;
}

export interface RenameBody {
  name: string;
}

export interface Renamed {
  id: string;
  name: string;
}

export interface ReplayRange {
  count: number;
  replayed: number;
  dryRun: boolean;
}

export interface ReplayRangeBody {
  from: string;
  to: string;
  webhookId?: string;
  event?: 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled';
  dryRun?: boolean;
}

export interface Replayed {
  deliveryId: string;
}

export interface ResentInvoice {
  id: string;
  number: string;
  url: string;
}

export interface Rotation {
  id: string;
  publicKey: string;
  detectedAt: string;
  families: string[];
}

export interface RotationBody {
  totp?: string;
  passkey?: PasskeyAnswer;
}

export interface RotationDecided {
  id: string;
  decision: Open<'approved' | 'rejected'>;
}

export interface RotationPage {
  content: Rotation[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface RouteMatrix {
  registryVersion: number;
  routes: TokenRoute[];
}

export interface SamlBody {
  metadata: string;
  jitRole?: 'viewer' | 'editor';
}

export interface SandboxClock {
  now: string;
  aheadSeconds: number;
}

export interface SandboxReset {
  reset: true;
}

export interface Scan {
  id: string;
  scanId: string;
  projectId: string;
  keySourceId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  networks: Array<Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>>;
  state: Open<'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'>;
  gapLimit: number;
  maxScan: number;
  requestedMaxScan: number | null;
  review: Open<'pending' | 'approved' | 'declined'> | null;
  scanned: number;
  found: number;
  lastUsedIndex: number | null;
  largestGap: number;
  unread: number;
  truncated: boolean;
  stoppedBy: Open<'gap_limit' | 'max_scan'> | null;
  evidence: Open<'history' | 'blocks' | 'unspent_only' | 'state'> | null;
  headHeight: number | null;
  etaSeconds: number | null;
  warnings: Array<Open<'pending_unseen' | 'spent_unseen' | 'tokens_unseen' | 'deleted_unseen' | 'evm_networks' | 'keys_exhausted' | 'change_holds_money'>>;
  reason: string | null;
  estimate: {
    indexes: number;
    requests: number;
    seconds: number;
  };
  createdAt: string;
  endedAt: string | null;
}

export interface ScanAddress {
  index: number;
  branch: number;
  address: string;
  derivationPath: string;
  used: boolean;
  userRef: string | null;
}

export interface ScanAddressPage {
  content: ScanAddress[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface SearchResult {
  content: Array<{
    kind: Open<'address' | 'deposit' | 'withdrawal' | 'event' | 'delivery' | 'paymentLink' | 'payment' | 'invoice'>;
    id: string;
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'> | null;
    status: string | null;
    text: string;
    userRef: string | null;
    label: string | null;
    createdAt: string;
  }>;
}

export interface Session {
  id: string;
  role: Open<'leader' | 'follower'>;
  edgeVersion: string;
  liveness: Open<'live' | 'stale' | 'down' | 'never_connected'>;
  leaseEpoch: number;
  outboxMode: string;
  outboxDepth: number;
  outboxPoisoned: boolean;
  registryVersion: number | null;
  podHint: string | null;
  lastHeartbeatAt: string;
  startedAt: string;
  endedAt: string | null;
}

export interface SessionPage {
  content: Session[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface SignedOut {
  signedOut: true;
}

export interface SimulateActivityBody {
  addresses: number | string[];
  historicalPerAddress?: number;
  livePerAddress?: number;
}

export interface SimulateChainDownBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  seconds: number;
}

export interface SimulateConfirmationBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  txid: string;
  confirmations: number;
}

export interface SimulateConflictBody {
  address?: string;
  clear?: boolean;
}

export interface SimulateDepositBody {
  address: string;
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  amount: string;
  tokenContract?: string | null;
  autoConfirm?: boolean;
  confirmAfterSeconds?: number | null;
}

export interface SimulateDuplicateBody {
  eventId: string;
}

export interface SimulateEdgeOfflineBody {
  seconds: number;
}

export interface SimulateEndpointFailureBody {
  webhookId: string;
  attempts: number;
  status?: number;
  delaySeconds?: number;
}

export interface SimulateReorgBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  depth: number;
}

export interface SimulateReplacedBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  txid: string;
}

export interface SimulateStuckBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  stuck: boolean;
  blocks?: number;
  untilRepriced?: boolean;
}

export interface SimulateTokenBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  contractAddress: string;
  symbol: string;
  decimals: number;
  hazards?: Array<'upgradeable' | 'fee_on_transfer' | 'rebasing' | 'blocklist' | 'pausable' | 'seizable' | 'hook' | 'non_transferable' | 'default_frozen' | 'confidential_only' | 'auth_required'>;
}

export interface SimulatedActivity {
  addresses: number;
  historical: number;
  live: number;
  txids: string[];
}

export interface SimulatedChainDown {
  until: string;
}

export interface SimulatedConfirmation {
  confirmations: number;
}

export interface SimulatedConflict {
  address: string | null;
  batchId: string | null;
}

export interface SimulatedDeposit {
  txid: string;
  outputIndex: number;
  height: number;
}

export interface SimulatedDuplicate {
  deliveryIds: string[];
}

export interface SimulatedEdgeOffline {
  until: string;
}

export interface SimulatedEndpointFailure {
  webhookId: string;
  attempts: number;
}

export interface SimulatedReorg {
  depth: number;
}

export interface SimulatedReplaced {
  txid: string;
  height: number;
}

export interface SimulatedStuck {
  stuck: boolean;
  mined: string[];
}

export interface SimulatedToken {
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  contractAddress: string;
  symbol: string;
  decimals: number;
  hazards: string[];
}

export interface SsoBody {
  issuer: string;
  clientId: string;
  clientSecret?: string;
  jitRole?: 'viewer' | 'editor';
}

export interface SsoConnection {
  id: string;
  kind: Open<'oidc' | 'saml'>;
  issuer: string;
  clientId: string;
  hasSecret: boolean;
  jitRole: Open<'viewer' | 'editor'>;
  redirectUri: string;
  certificates: Array<{
    endsAt: string;
  }>;
  enforcedAt: string | null;
  breakGlass: string[];
  closedBy: 'SSO_OIDC' | null;
  createdAt: string;
}

export interface SsoDiscoverBody {
  email: string;
}

export interface SsoPage {
  content: SsoConnection[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface SsoStarted {
  url: string;
}

export interface StartSsoBody {
  connectionId: string;
}

export interface Statement {
  id: string;
  number: string;
  period: string;
  lines: Array<{
    kind: 'base';
    tier: Open<'free' | 'premium' | 'ultimate'>;
    band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'>;
    amount: string;
  } | {
    kind: 'proration';
    at: string;
    from: {
      tier: Open<'free' | 'premium' | 'ultimate'>;
      band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'>;
      monthlyFee: string;
    };
    to: {
      tier: Open<'free' | 'premium' | 'ultimate'>;
      band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'>;
      monthlyFee: string;
    };
    remainingMs: number;
    periodMs: number;
    amount: string;
  } | {
    kind: 'overage';
    band: Open<'launch' | 'growth' | 'scale' | 'enterprise' | 'custom'>;
    quantity: number;
    included: number;
    rate: string;
    amount: string;
  }>;
  total: string;
  currency: 'USD';
  settledTransactions: number;
  issuedAt: string;
  dueAt: string;
  paid: string;
  left: string;
  payment: {
    provider: Open<'manual' | 'stripe'>;
    page: string | null;
    bankDetails: string | null;
  };
}

export interface StatementPage {
  content: Statement[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface StepUpBody {
  totp?: string;
  passkey?: PasskeyAnswer;
}

export interface SupportAccess {
  until: string | null;
  sessions: SupportSession[];
}

export interface SupportAccessBody {
  until: string | null;
}

export interface SupportEnded {
  id: string;
  ended: true;
}

export interface SupportSession {
  id: string;
  environment: Open<'live' | 'sandbox'>;
  by: string;
  reason: string;
  createdAt: string;
  endsAt: string;
  endedAt: string | null;
}

export interface SweepsPreview {
  token: string | null;
  totals: Array<{
    decision: string;
    count: number;
    amount: string;
  }>;
  totalElements: number;
  isComplete: boolean;
  page: number;
  size: number;
  content: Array<{
    address: string;
    userRef: string | null;
    amount: string;
    uncredited: string | null;
    cost: string | null;
    fundingNeeded: string | null;
    feeRatioBps: number | null;
    decision: Open<'take' | 'skip'>;
    reason: string | null;
    source: Open<'chain' | 'ledger'>;
  }>;
  skipped: Array<{
    address: string;
    userRef: string | null;
    amount: string;
    uncredited: string | null;
    cost: string | null;
    fundingNeeded: string | null;
    feeRatioBps: number | null;
    decision: Open<'take' | 'skip'>;
    reason: string | null;
    source: Open<'chain' | 'ledger'>;
  }>;
  needsGas: {
    count: number;
    amount: string;
  } | null;
  cost: {
    sweep: string;
    funding: string;
    activation: string;
    rent: string;
    l1: string;
  } | null;
  required: {
    edgeSpendCap: string;
  } | null;
  edge: {
    cap: string;
    spent: string;
  } | null;
  fundingWallet: {
    available: string;
    enough: boolean;
  } | null;
  rate: {
    numerator: string;
    denominator: string;
    observedAt: string | null;
  } | null;
  feeSample: {
    sweep: string;
    need: string;
    funding: string;
    activation: string;
    rent: string;
  } | null;
  asOf: {
    height: number;
    at: string;
  } | null;
  registryVersion: number;
  previewHash: string;
  expiresAt: string;
}

export interface SwitchBody {
  organizationId: string;
}

export interface Timeline {
  id: string;
  confirmations: number;
  threshold: number;
  steps: Array<{
    step: Open<'detected' | 'moved' | 'reversed' | 'built' | 'repriced' | 'signed' | 'broadcast' | 'dropped' | 'included' | 'orphaned' | 'failed' | 'expired' | 'confirmed'>;
    at: string;
    txid: string | null;
    height: number | null;
    reason: string | null;
  }>;
  events: Array<{
    id: string;
    event: Open<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>;
    createdAt: string;
    deliveries: Array<{
      id: string;
      webhookId: string;
      status: Open<'pending' | 'delivered' | 'failed' | 'dead_lettered' | 'held'>;
      attempts: number;
      createdAt: string;
    }>;
  }>;
}

export interface TokenEntry {
  symbol: string;
  deployments: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    contractAddress: string;
    decimals: number;
    monitored: boolean;
    deprecated: boolean;
    bridgeable: boolean;
    hazards: string[];
    activeFrom: number | null;
  }>;
  unsupportedChains: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    reason: string;
  }>;
}

export interface TokenPage {
  content: TokenEntry[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
  registryVersion: number;
}

export interface TokenReply {
  accessToken: string;
  tokenType: 'Bearer';
  expiresInSeconds: number;
  organizationId: string | null;
  role: Open<'owner' | 'editor' | 'viewer'> | null;
  totpAt: string | null;
}

export interface TokenRequest {
  id: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  contractAddress: string;
  symbol: string;
  decimals: number;
  state: Open<'under_review' | 'accepted' | 'published' | 'declined'>;
  monitored: boolean;
  outcome: string | null;
  onChain: {
    symbol: string;
    name: string;
    decimals: number;
    hazards: string[];
    readAt: string;
  } | null;
  createdAt: string;
  updatedAt: string;
}

export interface TokenRequestBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  contractAddress: string;
  symbol: string;
  decimals: number;
}

export interface TokenRequestPage {
  content: TokenRequest[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface TokenRoute {
  symbol: string;
  from: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  to: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  status: Open<'open' | 'closed'>;
  reason: Open<'not_bridgeable' | 'deprecated' | 'no_issuer_bridge' | 'recipient_checks_missing' | 'not_offered' | 'not_in_sandbox'> | null;
  protocol: string | null;
  seconds: number | null;
  burnMax: string | null;
}

export interface TotpEnrolled {
  secret: string;
  otpauthUri: string;
}

export interface Transaction {
  amount: string;
  amountFormatted: string;
  decimals: number;
  id: string;
  direction: Open<'in' | 'out'>;
  kind: Open<'withdrawal' | 'sweep'> | null;
  role: Open<'fund' | 'sweep' | 'approve' | 'burn' | 'mint'> | null;
  operationId: string | null;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  environment: Open<'live' | 'sandbox'>;
  status: Open<'detected' | 'confirmed' | 'reversed' | 'built' | 'signing' | 'broadcast' | 'confirming' | 'failed' | 'replaced' | 'expired'>;
  txid: string | null;
  outputIndex: number | null;
  address: string;
  counterparty: string | null;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  chainTag: string | null;
  height: number | null;
  blockHash: string | null;
  confirmations: number;
  threshold: number;
  incarnation: number | null;
  fee: string | null;
  failure: {
    code: string;
    reason: string;
  } | null;
  versions: Array<{
    txid: string;
    at: Open<'signed' | 'submitted' | 'node' | 'block' | 'replaced'>;
  }>;
  explorerUrl: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface TransactionPage {
  content: Transaction[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface TransferBody {
  userId: string;
  then: 'editor' | 'viewer' | 'leave';
  totp?: string;
  passkey?: PasskeyAnswer;
}

export interface Transferred {
  organizationId: string;
  owner: string;
  role: Open<'editor' | 'viewer'> | null;
}

export interface TrustlineBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  asset: string;
}

export interface Unsigned {
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  payload: string;
  from: string;
  fromPath: string;
  to: string;
  amount: string;
  tokenContract: string | null;
  tag: string | null;
  kind: Open<'payment' | 'trustline'>;
  sendAll: boolean;
  feeMax: string;
  fee: Record<string, string | number>;
  replayKey: {
    kind: 'nonce';
    value: number;
  } | {
    kind: 'sequence';
    value: string;
  } | {
    kind: 'outpoints';
    value: string[];
  } | {
    kind: 'expiry';
    value: string;
  };
  readAtHeight: number;
}

export interface Usage {
  period: {
    start: string;
    end: string;
  };
  plan: Plan;
  activeAddresses: {
    current: number;
    billed: number;
    limit: number | null;
    days: Array<{
      day: string;
      highest: number;
    }>;
  };
  settledTransactions: {
    count: number;
    included: number | null;
  };
  overage: {
    transactions: number;
    amount: string;
    currency: 'USD';
  };
  projected: {
    transactions: number;
    overageAmount: string;
  };
  warnings: Array<{
    quota: Open<'addresses' | 'settledTransactions' | 'webhooks' | 'edgeSessions'>;
    threshold: number;
    used: number;
    limit: number;
  }>;
}

export interface Verified {
  ok: boolean;
  checkpoint: Checkpoint;
  problems: Array<{
    seq: number;
    problem: Open<'missing' | 'changed' | 'reordered' | 'cut' | 'rewritten'>;
  }>;
}

export interface VerifyBody {
  checkpoint?: {
    organization: string;
    seq: number;
    hash: string;
    at: string;
    kid: string;
    signature: string;
  };
}

export interface Wallet {
  id: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  source: Open<'derived' | 'external'>;
  address: string | null;
  tag: string | null;
  derivationPath: string | null;
  label: string | null;
  allowlisted: boolean | null;
  warnings: Array<'contract_elsewhere'>;
  createdAt: string;
}

export interface WalletBalancePage {
  content: Balance[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface WalletBody {
  chain: 'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm';
  source: 'derived' | 'external';
  address?: string | null;
  label?: string | null;
}

export interface WalletPage {
  content: Wallet[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface Webhook {
  id: string;
  url: string;
  events: Array<Open<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>>;
  status: Open<'enabled' | 'disabled' | 'deleted'>;
  secretPreview: string;
  rotating: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface WebhookBody {
  url: string;
  events: Array<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>;
}

export interface WebhookCreated {
  id: string;
  url: string;
  events: Array<Open<'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'address_activated' | 'withdrawal_broadcast' | 'withdrawal_confirmed' | 'withdrawal_failed' | 'edge_offline' | 'edge_online' | 'identity_rotation_detected' | 'pool_low' | 'funding_wallet_low' | 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' | 'payment_reversed' | 'payment_unmatched' | 'payment_link_created' | 'payment_link_closed' | 'sweep_completed' | 'sweep_paused' | 'bridge_completed' | 'bridge_stalled'>>;
  status: Open<'enabled' | 'disabled' | 'deleted'>;
  secretPreview: string;
  rotating: boolean;
  createdAt: string;
  updatedAt: string;
  secret: string;
}

export interface WebhookPage {
  content: Webhook[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  totalCapped?: true;
  withheld?: number;
  next: string | null;
}

export interface WebhookTest {
  webhookId: string;
  url: string;
  passed: boolean;
  attempts: Array<{
    signature: Open<'good' | 'broken'>;
    eventId: string;
    statusCode: number | null;
    durationMs: number;
    error: string | null;
    at: string;
    passed: boolean;
  }>;
}

export interface Wipe {
  id: string;
  environment: Open<'live' | 'sandbox'>;
  status: Open<'scheduled' | 'closing' | 'running' | 'done' | 'cancelled'>;
  scheduledFor: string;
  askedAt: string;
  askedBy: string;
  beganAt: string | null;
  endedAt: string | null;
  step: string | null;
  addresses: number;
  holdings: Array<{
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    token: string | null;
    amount: string;
  }> | null;
}

export interface WipeBody {
  environment: 'live' | 'sandbox';
  confirm: string;
  totp?: string;
  passkey?: PasskeyAnswer;
}

export interface WipeCancelled {
  id: string;
  cancelled: true;
}

export interface WipeScheduled {
  id: string;
  environment: Open<'live' | 'sandbox'>;
  scheduledFor: string;
}

export interface WipeState {
  wipe: Wipe | null;
}
