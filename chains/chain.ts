/**
 * The one vocabulary of all chain families: what a chain module offers and the values that cross it.
 *
 * Terminology.
 *   network     the facts of one chain (slug, decimals, thresholds), as data; five EVM networks share one module
 *   block       one proven unit of a ledger: header, parent link and the family's raw answers (G9)
 *   transfer    a movement decoded from a block; it becomes a deposit only if its address was issued
 *   intent      what a caller wants moved; `unsigned` is the payload built for it
 *   fate        what became of a transaction that was submitted
 *
 * A chain failure has three faces only: a `Refusal`; `ChainUnavailable` (nothing proven: never a zero, never "no
 * deposits"); `MalformedReply` (a fault, with the recorded answer).
 */
import type { Chain, Family } from '../protocol/slugs.ts';
import type { Refusal } from '../protocol/errors.ts';
import type { MayCall, SeesCalls } from './contract-call.ts';
import type { SeesUse } from './use.ts';

// ── Facts ────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Network {
  readonly slug: Chain;
  readonly family: Family;
  readonly nativeSymbol: string;
  readonly nativeDecimals: number;
  /** Confirmations at which a deposit is credited. chains.md part 2. */
  readonly threshold: number;
  /** Extra proof before `deposit_confirmed`; `stallDepth` replaces a finality that stalls for over 60 s. */
  readonly gate: { readonly kind: 'depth' } | { readonly kind: 'finalized'; readonly stallDepth: number | null };
  /** Blocks of (height, hash, parent) that are kept and may be walked back. G15. */
  readonly reorgWindow: number;
  readonly blockTimeMs: number;
  /** Account path below which addresses are derived, e.g. `m/44'/60'/0'`; pooled chains name their template. */
  readonly accountPath: string;
  /** What `checkIdentity` must find: chain id, genesis hash, network id or passphrase. G14. */
  readonly identity: string;
  /** A simulated ledger's network (`sandbox-networks.ts`): what is signed for it is worthless on a real one. */
  readonly simulated?: true;
  /** What is signed is the digest under this tag, where the signed bytes of a chain hold no id. */
  readonly digestTag?: string;
  readonly explorer: { readonly tx: string; readonly address: string }; // `{id}` is replaced
  /** Edge default caps, smallest native unit. G29. */
  readonly feeCap: bigint;
  /** Confirmations of a gas funding before the sweep that it pays for is sent; the threshold where absent. V42. */
  readonly fundingDepth?: number;
  /** Pause between submissions of the same bytes of what lives for moments; ever longer where absent. L31. */
  readonly resubmitMs?: number;
  /** Repricings of what is signed that one block allows; no limit where absent. V37. */
  readonly repricingsPerBlockMax?: number;
  /** By the operator's word: a block whose internal transfers no endpoint traces is not whole. V6. */
  readonly tracesRequired?: boolean;
  /** Smallest first payment, as shown to customers, where a payment must make the ledger account. Spec §2.3. */
  readonly firstDepositMin?: bigint;
}

/** One deployment of a catalogued token on one chain. K1: decimals belong to the deployment. */
export interface Token {
  readonly chain: Chain;
  /** The catalogue's text: EIP-55 contract, base58 mint, `CURRENCY:ISSUER` (xrp), `CODE:ISSUER` (xlm). */
  readonly contract: string;
  readonly symbol: string;
  readonly decimals: number;
  /** The contract keeps a part of what is sent: the received difference is credited, not the log. V12. */
  readonly feeOnTransfer?: true;
}

/** Tokens of one chain by their contract's canonical text. G23: what is not in here is neither seen nor credited. */
export type Catalogue = ReadonlyMap<string, Token>;

export type AddressKind =
  'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr' | 'eoa' | 'tron' | 'wallet' | 'pda' | 'classic' | 'account';

export interface ParsedAddress {
  readonly ok: true;
  /** The one text form that is stored, returned and compared. G6. */
  readonly canonical: string;
  readonly kind: AddressKind;
  /** Decoded bytes that movements are matched on: 20 evm/tron/xrp, 32 sol/xlm, the script on btc. */
  readonly bytes: Uint8Array;
  /** Tag of an XRP X-address, id of a muxed account. */
  readonly tag: string | null;
}

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Head {
  readonly height: number;
  readonly hash: string;
  /** Highest height that the chain calls final (finalized, solidified, validated); null if it has no such tag. */
  readonly finalizedHeight: number | null;
}

export interface Block<Raw = unknown> {
  readonly height: number;
  readonly hash: string;
  readonly parentHash: string;
  /** height − 1, save on sol where slots are skipped and only the parent link proves it (L19). */
  readonly parentHeight: number;
  /** Display only; never ordered by. Null where the chain has none. */
  readonly timeMs: number | null;
  readonly raw: Raw;
}

export interface Transfer {
  readonly txid: string;
  /** Stable when the transaction is included again in another block. G2. */
  readonly outputIndex: number;
  readonly to: string;
  readonly amount: bigint;
  readonly decimals: number;
  /** Null for the native coin. */
  readonly tokenContract: string | null;
  readonly tokenSymbol: string;
  /** Destination tag, memo id or muxed id, decimal text. Recorded, ignored for routing. */
  readonly tag: string | null;
  /** Senders known from the block, for G20 and G21; empty when the chain does not say. */
  readonly from: readonly string[];
  /** Own threshold of this transfer where it differs from the network's (coinbase maturity, B3). */
  readonly threshold?: number;
  /** The payment created the ledger account. R7, M4. */
  readonly activates?: boolean;
  /**
   * Hash of the inner transaction of a Stellar fee bump, which senders often show; `txid` is the outer one. G3, M15.
   */
  readonly innerTxid?: string;
}

export interface Decoded {
  readonly transfers: readonly Transfer[];
  /** What looked like a payment and is none, with the reason; for operators and the `transfers` command. */
  readonly ignored: readonly { readonly txid: string; readonly reason: string }[];
  /** Balance growth that no transaction of a payer explains: shown to an operator, never credited. G24. */
  readonly unattributed?: readonly Unattributed[];
  /** Ledger accounts that were created without a payment (a sponsored account with a starting balance of zero). M4. */
  readonly activations?: readonly { readonly txid: string; readonly to: string }[];
}

export interface Unattributed {
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract: string | null;
  readonly reason: string;
  /** Its place in the block, e.g. `withdrawal 15450508` or a txid. */
  readonly evidence: string;
}

/** What one transaction of a block did. */
export interface Outcome {
  readonly txid: string;
  readonly success: boolean;
  readonly reason: string | null;
  /** Fee paid in the smallest native unit, null where the block does not give it. */
  readonly fee: bigint | null;
  /** What left the sender of a token, smallest unit, where its issuer keeps a share; absent: what arrives left. */
  readonly taken?: bigint;
}

export interface Balance {
  readonly amount: bigint;
  /** The non-spendable part: reserve, rent, minimum. */
  readonly reserved: bigint;
  readonly available: bigint;
  readonly decimals: number;
  readonly accountExists: boolean;
}

// ── Sending ──────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Intent extends MayCall {
  readonly chain: Chain;
  readonly from: string;
  /** Absolute path of `from`; the edge derives the key there. */
  readonly fromPath: string;
  readonly to: string;
  /** `all` builds a send-all whose amount follows the fee that is signed. V36. */
  readonly amount: bigint | 'all';
  readonly token: Token | null;
  /** Destination tag (xrp) or memo id (xlm), decimal text. */
  readonly tag: string | null;
  /**
   * The tag is a part of the destination's own text (`M…`, an X-address): it goes where such a tag goes, not into a
   * memo.
   */
  readonly tagOfAddress?: true;
  /** `trustline` builds the opt-in of spec §4.2 instead of a payment. */
  readonly kind?: 'payment' | 'trustline';
  /** Exactly what a send-all of the native coin leaves behind (V43); absent: whatever part of the fee was not used. */
  readonly leave?: bigint;
  /** Highest fee as a share of the amount where both are in the native coin, basis points. G29. */
  readonly maxFeeRatioBps?: number;
  /** Highest fee in all, smallest native unit, where prices move by the block (evm). Treasury 5.4. */
  readonly withinFee?: bigint;
  /** Of a sweep of coins (btc), a send-all: final ones that are worth their fee, this much together at most. */
  readonly sweepUpTo?: bigint;
  /** Address that pays the fee in the place of `from` and signs with it, where the chain can do that (sol). L30. */
  readonly feePayer?: string;
}

/** What must not be used twice: the key that makes two versions exclude each other. G25, G27. */
export type ReplayKey =
  | { readonly kind: 'nonce'; readonly value: number } // evm
  | { readonly kind: 'sequence'; readonly value: string } // xrp, xlm
  | { readonly kind: 'outpoints'; readonly value: readonly string[] } // btc, `txid:vout`
  | { readonly kind: 'expiry'; readonly value: string }; // tron (expiration ms), sol (lastValidBlockHeight)

export interface Unsigned extends MayCall {
  readonly chain: Chain;
  /**
   * evm: 0x hex of the unsigned envelope · btc: PSBT base64 · tron: raw_data hex · sol: message base64 · xrp: JSON text
   * · xlm: envelope XDR base64.
   */
  readonly payload: string;
  readonly from: string;
  readonly fromPath: string;
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract: string | null;
  readonly tag: string | null;
  readonly kind: 'payment' | 'trustline';
  readonly sendAll: boolean;
  /** Highest fee this payload can cost, smallest native unit. */
  readonly feeMax: bigint;
  /** Family facts for people (gas, fee rate); never trusted by the edge. JSON-safe. */
  readonly fee: Readonly<Record<string, string | number>>;
  readonly replayKey: ReplayKey;
  /** Height at which the inputs were read, for the record. */
  readonly readAtHeight: number;
  /** Counted chains: when its counter was bound for a broadcast; absent in a build. Never sent to an edge. */
  readonly boundAtMs?: number;
  /** xlm, of a payment that creates its destination: the tag is a muxed address's id. Never sent to an edge. */
  readonly tagOfAddress?: true;
  /** Repricings of signed bytes on top of one block, where the network counts them. V37. */
  readonly repriced?: { readonly atHeight: number; readonly count: number };
}

/** Signed bytes with the txid that was computed locally. G28. */
export interface Signed {
  readonly chain: Chain;
  readonly payload: string;
  readonly txid: string;
}

/** G26. `unknown` means: the same bytes again, never a rebuild. */
export type BroadcastResult =
  | { readonly kind: 'accepted' | 'already_known'; readonly txid: string }
  | { readonly kind: 'rejected_final'; readonly refusal: Refusal }
  | { readonly kind: 'unknown'; readonly reason: string };

/** What became of a submitted transaction. `dead` only with the chain's own proof (G27). */
export type Fate =
  | { readonly kind: 'included'; readonly height: number; readonly hash: string; readonly outcome: Outcome }
  | { readonly kind: 'pending' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'dead'; readonly proof: string };

/** Inputs of a build: everything that had to be asked, stamped with the height it was read at. JSON-safe per family. */
export interface BuildInputs {
  readonly readAtHeight: number;
  /**
   * `disputed`: endpoints name different counters of the sender, and this is the lower one. `one_word`: one endpoint of
   * several answered. Absent: agreed, or the word of the only endpoint.
   */
  readonly counter?: 'disputed' | 'one_word';
}

/** The consumer's view of a node, the only I/O of a family. Every method may throw `ChainUnavailable`. */
export interface ChainClient<Raw = unknown, Inputs extends BuildInputs = BuildInputs> extends SeesUse, SeesCalls {
  /** Compares with `Network.identity`. Throws: ChainUnavailable when it differs or cannot be read. */
  checkIdentity(): Promise<void>;
  /** Newest block of the endpoint that answers; height and hash from one answer. */
  getHead(): Promise<Head>;
  /** Height after `height` that holds a block, or null when the node knows none yet. */
  nextHeight(height: number): Promise<number | null>;
  /** The whole proven block at a height. Throws ChainUnavailable for anything unproved (G8, G9). */
  getBlock(height: number): Promise<Block<Raw>>;
  /** Hash at a height for the reorg walk and G19; null when the node has no block there. */
  getBlockHash(height: number): Promise<string | null>;
  /**
   * What a transaction did as the chain says it now; null when it is not in the chain. `at` is the block that it was
   * seen in, for nodes that keep no index of transactions: null then says that it is not in that block. G19.
   */
  getOutcome(
    txid: string,
    at?: { readonly height: number; readonly hash: string },
  ): Promise<(Outcome & { height: number; hash: string }) | null>;
  /** Balance of an address; a missing account is a real zero with `accountExists: false`. */
  fetchBalance(address: string, token: Token | null): Promise<Balance>;
  /** The same as of a height that this client's endpoint still has. Absent where a node knows its newest state only. */
  fetchBalanceAt?(address: string, token: Token | null, height: number): Promise<Balance>;
  /** Everything `buildUnsigned` and `estimateFee` need for an intent. */
  fetchBuildInputs(intent: Intent): Promise<Inputs>;
  /**
   * Inputs that another client read, with what this one learned from its broadcasts and what must differ from build to
   * build.
   */
  heed?(inputs: Inputs): Inputs;
  /** Whether the chain of this client's endpoints has the block that inputs of another client refer to. */
  upholds?(inputs: Inputs): Promise<boolean>;
  broadcast(signed: Signed): Promise<BroadcastResult>;
  getFate(unsigned: Unsigned, txid: string): Promise<Fate>;
  /** What a token deployment says of itself, for requests and the check K4. Refuses: TOKEN_NOT_SUPPORTED. */
  fetchTokenFacts?(contract: string, ask?: 'hazards'): Promise<TokenFacts | Refusal>;
  /** Whether the blocks of this client carry internal transfers; where they do not, growth is reconciled (V7). */
  seesInternal?(): Promise<boolean>;
  /** False where the endpoints of this client serve no blocks (an address index). */
  servesBlocks?(): Promise<boolean>;
  /** Native balances at one block, in the order asked, for the reconciliation of V7. */
  fetchBalancesAt?(
    addresses: readonly string[],
    block: { readonly height: number; readonly hash: string },
  ): Promise<readonly bigint[]>;
}

/** Texts come from the contract: shown after sanitising, never matched; hazards as far as they show. V15, V16. */
export interface TokenFacts {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly hazards?: readonly string[];
  readonly tokenProgram?: 'token' | 'token-2022';
  readonly sac?: string;
}

export interface FeeEstimate {
  /** Expected and highest fee, smallest native unit. */
  readonly fee: bigint;
  readonly feeMax: bigint;
  /** What the sender must hold for it, where its own resources pay a part (tron). Absent: the highest fee. */
  readonly held?: bigint;
  /** What a sweep of coins moves, its fee taken off. */
  readonly moved?: bigint;
  readonly parts: Readonly<Record<string, string | number>>;
}

// ── The module ───────────────────────────────────────────────────────────────────────────────────────────────────

export interface DerivedAddress {
  readonly address: string;
  readonly path: string;
}

export type Derivation =
  /** `change` 0 are deposit addresses; `1/0` is the gas tank, `1/1` the treasury. */
  | {
      readonly kind: 'xpub';
      deriveAddress(network: Network, xpub: string, change: 0 | 1, index: number): DerivedAddress;
    }
  /** Addresses come from the edge; the paths are absolute and hardened. */
  | { readonly kind: 'pool'; depositPath(index: number): string; readonly gasTankPath: string };

export interface ChainModule<Raw = unknown, Inputs extends BuildInputs = BuildInputs> {
  readonly family: Family;
  readonly networks: readonly Network[];
  readonly derivation: Derivation;
  /** Refuses: INVALID_ADDRESS. */
  parseAddress(network: Network, text: string): ParsedAddress | Refusal;
  /** Bytes of a canonical text (a `Transfer.to`), without checking it again: for the matching of whole blocks. */
  bytesOf?(canonical: string): Uint8Array;
  /** Addresses that may be issued but never sent to (zero, burn, listed contracts). Refuses: INVALID_ADDRESS. */
  checkDestination(network: Network, address: ParsedAddress, catalogue: Catalogue): Refusal | null;
  /** A token deployment's canonical text. Refuses: TOKEN_NOT_SUPPORTED. */
  parseToken(network: Network, text: string): string | Refusal;
  /** Every movement of a block. Throws: MalformedReply, ChainUnavailable when the unit is not whole. */
  transfersIn(network: Network, block: Block<Raw>, catalogue: Catalogue): Decoded;
  /** The key under which an earlier version recorded a movement, where that was another one; else null. */
  formerOutputIndex?(transfer: Transfer): number | null;
  /** Outcomes of those wanted transactions that the block holds. */
  outcomesIn(network: Network, block: Block<Raw>, wanted: ReadonlySet<string>): readonly Outcome[];
  estimateFee(network: Network, inputs: Inputs, intent: Intent): FeeEstimate | Refusal;
  /** Why a transfer of the intent's token would fail; null where nothing is known against it. K17. */
  declines?(inputs: Inputs, intent: Pick<Intent, 'token'>): string | null;
  /** What arrives of a token where so much leaves, smallest unit; absent where no issuer keeps a share. R28. */
  arrives?(inputs: Inputs, amount: bigint): bigint;
  /**
   * `replay` is the key that the account's allocator chose, where the chain has a counter (evm, xrp, xlm); on btc it
   * names the outpoints that other payments hold, which the build must not take (B19).
   */
  buildUnsigned(network: Network, inputs: Inputs, intent: Intent, replay: ReplayKey | null): Unsigned | Refusal;
  /**
   * Null when the signed bytes are this unsigned payload, signed by `from`, under this txid (G28). Refuses:
   * SIGNED_BATCH_REJECTED.
   */
  matchSigned(network: Network, unsigned: Unsigned, signed: Signed): Refusal | null;
  /** A new version that excludes the old one. Refuses: CONFLICT when the chain has no such means. */
  reprice(network: Network, unsigned: Unsigned, inputs: Inputs, isSigned?: boolean): Unsigned | Refusal;
  /**
   * What a payload pays whenever it lands, where its bytes fix it; null where they do not say (btc: coins less
   * outputs).
   */
  exactFee?(payload: string): bigint | null;
  /**
   * The same transaction under another counter, where the chain has one: nothing else changes but what must with it,
   * and an expiry that is renewed. Refuses: CONFLICT for a counter that the chain has used.
   */
  withCounter?(network: Network, unsigned: Unsigned, inputs: Inputs, replay: ReplayKey): Unsigned | Refusal;
  /** Next counter that the chain itself would take, or null where it has none. */
  nextReplayValue(inputs: Inputs): number | bigint | null;
  /** The same behind what waits in the node's own pool, where it reports that separately. */
  pendingReplayValue?(inputs: Inputs): number | bigint | null;
  /** What the inputs come to that two endpoints name for one intent. */
  agreeInputs?(network: Network, a: Inputs, b: Inputs, intent: Intent): Agreement<Inputs>;
  /** Same counter, nothing to oneself, a fee that displaces the old one. V38. */
  cancel?(network: Network, unsigned: Unsigned, inputs: Inputs): Unsigned | Refusal;
  /**
   * A block from recorded answers of a node, e.g. `{ block, receipts }`; JSON-RPC envelopes are opened. Throws:
   * MalformedReply.
   */
  blockFromAnswers?(network: Network, answers: Readonly<Record<string, unknown>>): Block<Raw>;
  createClient(network: Network, transport: Transport, catalogue: Catalogue): ChainClient<Raw, Inputs>;
}

// ── Transport ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One endpoint. Requests are bounded in time and answer size; what fails is a ChainUnavailable. */
export interface Endpoint {
  /** Shown in logs and metrics; never the URL, which may carry a key. */
  readonly name: string;
  request(call: {
    method: 'GET' | 'POST';
    path: string;
    body?: string;
    headers?: Record<string, string>;
    /** For the rare call that takes a node long (a scan of its whole state); else the endpoint's own. */
    timeoutMs?: number;
  }): Promise<HttpReply>;
}

/** G14: the network that a node must be of, and the one that it is of: chain id, genesis hash or passphrase. */
export interface NetworkSeen {
  readonly expected: string;
  readonly seen: string;
}

/** RPC_HEDGE_MS. `timer` calls back after a time; what it returns takes that back. */
export interface Hedge {
  readonly ms: number;
  timer(ms: number, then: () => void): () => void;
}

/**
 * Several endpoints of one chain, with health. `pick` prefers healthy ones and rotates; a client that must prove one
 * block reads it whole from one endpoint (G9) and asks another for the second opinion (G10).
 */
export interface Transport {
  readonly endpoints: readonly Endpoint[];
  /** How long one endpoint is waited for alone. */
  readonly hedge?: Hedge | undefined;
  pick(not?: readonly Endpoint[]): Endpoint;
  /** Tries `read` on one endpoint after another until one answers; collects the reasons. Throws: ChainUnavailable. */
  attempt<T>(read: (endpoint: Endpoint) => Promise<T>): Promise<T>;
  /** `network`: the network that a node of another network belongs to, for the monitor of endpoints. */
  report(
    endpoint: Endpoint,
    outcome: 'ok' | 'failed' | 'lagging' | 'wrong_network',
    headHeight?: number,
    network?: NetworkSeen,
  ): void;
  /** The highest head that the chain can have now. Absent: who asks judges heads by itself. */
  headMax?(): number;
  /** Reports that an endpoint stopped tracing blocks, or traces again; for the monitor of endpoints. V6. */
  reportTraces?(endpoint: Endpoint, offered: boolean): void;
}

// ── Failures ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Nothing was proven. Never a zero, never "no deposits". Becomes 503 CHAIN_UNAVAILABLE. */
export class ChainUnavailable extends Error {
  readonly chain: Chain;
  /** Short reason without URLs or keys. X2. */
  readonly reason: string;
  constructor(chain: Chain, reason: string, options?: ErrorOptions) {
    super(`${chain}: ${reason}`, options);
    this.name = 'ChainUnavailable';
    this.chain = chain;
    this.reason = reason;
  }
}

/** An answer that has not the shape the node promises. A fault: logged with the recorded excerpt. */
export class MalformedReply extends Error {
  readonly excerpt: string;
  constructor(what: string, excerpt: string, options?: ErrorOptions) {
    super(`malformed reply: ${what}`, options);
    this.name = 'MalformedReply';
    this.excerpt = excerpt.slice(0, 2_000);
  }
}

/** What two endpoints' inputs of one build come to. */
export type Agreement<Inputs> =
  | { readonly ok: true; readonly inputs: Inputs }
  /** Names of what the two contradict each other about. */
  | { readonly ok: false; readonly about: readonly string[] };
