/**
 * Movements of a Solana block, read from the balances before and after each transaction: what instructions, inner
 * instructions and logs say is never needed, and what they say of a failed transaction never happened.
 * Spec: chains.md 7.3 (L1 to L17), L22, G2, G3, G22, G23.
 */
import {
  ChainUnavailable,
  type Block,
  type Catalogue,
  type Decoded,
  type Network,
  type Outcome,
  type Transfer,
} from '../chain.ts';
import { countIn, integerIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { SOL_DECIMALS } from './network.ts';
import { isTokenProgram } from './programs.ts';
import { doubtOfBalances, doubtOfSides } from './token-moves.ts';

/** The answer of `getBlock` in `json` or `jsonParsed` encoding with full details, parsed without loss. */
export type SolBlock = Answer;

/** Versions that this code reads; a block from before versions existed names none. Spec: chains.md L22. */
const KNOWN_VERSIONS: readonly unknown[] = [undefined, 'legacy', 0, 1];

interface Entry {
  /** Base58 of the first signature. */
  readonly txid: string;
  readonly meta: Answer;
  readonly failed: boolean;
  readonly transaction: Answer;
}

function entriesOf(block: SolBlock): readonly Entry[] {
  const entries = listIn(block['transactions'], 'transactions of a block').map((value) => {
    const outer = objectIn(value, 'transaction');
    if (!KNOWN_VERSIONS.includes(outer['version'])) {
      // Left out, it would be a payment lost; the height waits until this code reads the version.
      throw new ChainUnavailable(
        'sol',
        `transaction version ${JSON.stringify(outer['version']).slice(0, 40)} is not known`,
      );
    }
    const transaction = objectIn(outer['transaction'], 'transaction');
    const txid = textIn(listIn(transaction['signatures'], 'signatures')[0], 'signature');
    if (outer['meta'] === null || outer['meta'] === undefined) {
      throw new ChainUnavailable('sol', `transaction ${txid} has no metadata`);
    }
    const meta = objectIn(outer['meta'], 'meta');
    if (!('err' in meta)) malformed('metadata without a result', meta);
    const failed = meta['err'] !== null,
      doubt = doubtOfResult(meta, failed);
    if (doubt !== null) throw new ChainUnavailable('sol', `transaction ${txid}: ${doubt}`);
    return { txid, meta, failed, transaction };
  });
  const distinct = new Set(entries.map(({ txid }) => txid));
  if (distinct.size !== entries.length) malformed('the block lists a transaction twice', block);
  return entries;
}

const FAILED_LINE = /^Program [1-9A-HJ-NP-Za-km-z]{32,44} failed: /;

/**
 * What else a node says about whether a transaction succeeded: `status`, its last log line, and balances that moved.
 * G8.
 */
function doubtOfResult(meta: Answer, failed: boolean): string | null {
  const { status, logMessages: logs, preBalances: before, postBalances: after } = meta;
  if (typeof status === 'object' && status !== null && 'Err' in status !== failed)
    return 'its error and its status disagree';
  const last: unknown = Array.isArray(logs) ? logs.at(-1) : undefined;
  if (!failed && typeof last === 'string' && FAILED_LINE.test(last)) return 'its logs say that it failed';
  if (!failed || !Array.isArray(before) || !Array.isArray(after)) return null;
  // The payer of the fee is the first account; nothing else moves in a transaction that failed.
  const moved = before.some((value, index) => index > 0 && String(value) !== String(after[index]));
  return moved || tokenAmounts(meta['preTokenBalances']) !== tokenAmounts(meta['postTokenBalances'])
    ? 'it failed and moved balances'
    : null;
}

/** Amounts by account, as text. */
function tokenAmounts(balances: unknown): string {
  if (!Array.isArray(balances)) return '';
  return balances
    .map(
      (one: { accountIndex?: unknown; uiTokenAmount?: { amount?: unknown } } | null) =>
        `${String(one?.accountIndex)}:${String(one?.uiTokenAmount?.amount)}`,
    )
    .sort()
    .join();
}

/**
 * All account keys in the order of the balances: static ones, then those loaded through lookup tables, writable before
 * readonly (L1). In `jsonParsed` the list is complete already.
 */
function keysOf({ transaction, meta }: Entry, count: number): readonly string[] {
  const message = objectIn(transaction['message'], 'message');
  const named = listIn(message['accountKeys'], 'accountKeys').map((key) =>
    typeof key === 'string' ? key : textIn(objectIn(key, 'account key')['pubkey'], 'pubkey'),
  );
  if (named.length === count) return named;
  const loaded = objectIn(meta['loadedAddresses'] ?? {}, 'loadedAddresses');
  const keys = [
    ...named,
    ...['writable', 'readonly'].flatMap((part) =>
      listIn(loaded[part] ?? [], 'loaded addresses').map((key) => textIn(key, 'loaded address')),
    ),
  ];
  return keys.length === count ? keys : malformed('keys and balances differ in number', message);
}

/**
 * Every account that is richer after a transaction: lamports by key, tokens by owner and mint. Throws: MalformedReply,
 * ChainUnavailable for a transaction of an unknown version or without metadata.
 */
export function transfersIn(network: Network, block: Block<SolBlock>, catalogue: Catalogue): Decoded {
  const transfers: Transfer[] = [];
  const ignored: Ignored[] = [];
  for (const entry of entriesOf(block.raw)) {
    const { txid, meta } = entry;
    if (entry.failed) {
      ignored.push({ txid, reason: 'failed: only the fee moved' });
      continue;
    }
    const before = listIn(meta['preBalances'], 'preBalances');
    const after = listIn(meta['postBalances'], 'postBalances');
    if (before.length !== after.length) malformed('balances before and after differ in number', meta);
    const keys = keysOf(entry, before.length);
    const tokens = tokenBalancesOf(entry, keys);
    const holders = new Set(tokens.map(({ accountIndex }) => accountIndex));
    const doubt =
      doubtOfBalances(entry.transaction, meta, keys, holders) ?? doubtOfSides(entry.transaction, meta, keys, catalogue);
    if (doubt !== null) throw new ChainUnavailable('sol', `transaction ${txid}: ${doubt}`);
    const lamports = lamportChanges(meta, before, after);
    const payers = lamports
      .filter(({ index, change }) => change < 0n && !holders.has(index))
      .map(({ index }) => keys[index]!);
    for (const { index, change } of lamports) {
      if (change <= 0n) continue;
      if (holders.has(index)) {
        ignored.push({ txid, reason: `account ${index}: rent or wrapped SOL of a token account` });
        continue;
      }
      transfers.push({
        txid,
        outputIndex: index,
        to: keys[index]!,
        amount: change,
        decimals: SOL_DECIMALS,
        tokenContract: null,
        tokenSymbol: network.nativeSymbol,
        tag: null,
        from: payers,
      });
    }
    readTokens(txid, tokens, catalogue, transfers, ignored);
  }
  return { transfers, ignored };
}

interface LamportChange {
  readonly index: number;
  readonly change: bigint;
}

/** Balances that changed; the fee is given back to the account that paid it, the first one (L3). */
function lamportChanges(meta: Answer, before: readonly unknown[], after: readonly unknown[]): LamportChange[] {
  const changes: LamportChange[] = [];
  for (const [index, value] of before.entries()) {
    if (value === after[index] && index > 0) continue;
    const change = integerIn(after[index], 'balance') - integerIn(value, 'balance');
    changes.push({ index, change: index === 0 ? change + integerIn(meta['fee'], 'fee') : change });
  }
  return changes;
}

interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  /** Null in blocks from before nodes recorded it. */
  readonly owner: string | null;
  /** Positive for a balance after, negative for one before: their sum is the change (L7). */
  readonly amount: bigint;
}

/**
 * Token balances before and after. In blocks from before nodes recorded them a transaction that names no token program
 * moved no tokens; what one that does moved is unknown. Throws: MalformedReply, ChainUnavailable.
 * Source: anza-xyz/agave `collect_token_balances`, which looks for the program too.
 */
function tokenBalancesOf({ txid, meta }: Entry, keys: readonly string[]): readonly TokenBalance[] {
  const { preTokenBalances: before, postTokenBalances: after } = meta;
  const isRecorded = (before ?? after ?? null) !== null;
  if (!isRecorded) {
    if (keys.some(isTokenProgram))
      throw new ChainUnavailable('sol', `transaction ${txid}: token balances not recorded`);
    return [];
  }
  return (
    [
      ['preTokenBalances', -1n],
      ['postTokenBalances', 1n],
    ] as const
  ).flatMap(([name, sign]) =>
    listIn(meta[name], name).map((value) => {
      const balance = objectIn(value, 'token balance');
      const { owner } = balance;
      return {
        accountIndex: countIn(balance['accountIndex'], 'accountIndex'),
        mint: textIn(balance['mint'], 'mint'),
        owner: owner === undefined || owner === null ? null : textIn(owner, 'owner'),
        amount: sign * integerIn(objectIn(balance['uiTokenAmount'], 'uiTokenAmount')['amount'], 'token amount'),
      };
    }),
  );
}

interface Holding {
  readonly owner: string;
  readonly mint: string;
  total: bigint;
  readonly byAccount: Map<number, bigint>;
}

/** Sums by owner and mint: an owner's accounts count together, whichever of them received the tokens (L4, L12). */
function holdingsOf(txid: string, balances: readonly TokenBalance[], catalogue: Catalogue): readonly Holding[] {
  const holdings = new Map<string, Holding>();
  for (const { accountIndex, mint, owner, amount } of balances) {
    if (owner === null) {
      if (catalogue.has(mint)) throw new ChainUnavailable('sol', `${txid}: a token balance without its owner`);
      continue;
    }
    const key = `${owner} ${mint}`;
    const holding = holdings.get(key) ?? { owner, mint, total: 0n, byAccount: new Map<number, bigint>() };
    holding.total += amount;
    holding.byAccount.set(accountIndex, (holding.byAccount.get(accountIndex) ?? 0n) + amount);
    holdings.set(key, holding);
  }
  return [...holdings.values()];
}

type Ignored = { txid: string; reason: string };

function readTokens(
  txid: string,
  balances: readonly TokenBalance[],
  catalogue: Catalogue,
  transfers: Transfer[],
  ignored: Ignored[],
): void {
  const holdings = holdingsOf(txid, balances, catalogue);
  for (const holding of holdings) {
    if (holding.total <= 0n) continue;
    const outputIndex = richestAccount(holding);
    const token = catalogue.get(holding.mint);
    if (token === undefined) {
      ignored.push({ txid, reason: `account ${outputIndex}: mint not in the catalogue` });
      continue;
    }
    transfers.push({
      txid,
      outputIndex,
      to: holding.owner,
      amount: holding.total,
      decimals: token.decimals,
      tokenContract: token.contract,
      tokenSymbol: token.symbol,
      tag: null,
      from: holdings.filter(({ mint, total }) => mint === holding.mint && total < 0n).map(({ owner }) => owner),
    });
  }
}

/** Index of the token account that gained most, the lowest one on ties. Choice: chains.md L5. */
function richestAccount({ byAccount }: Holding): number {
  return [...byAccount].reduce((best, next) =>
    next[1] > best[1] || (next[1] === best[1] && next[0] < best[0]) ? next : best,
  )[0];
}

/** What the wanted transactions did, with the fee in lamports. Throws: MalformedReply, ChainUnavailable. */
export function outcomesIn(_network: Network, block: Block<SolBlock>, wanted: ReadonlySet<string>): readonly Outcome[] {
  return entriesOf(block.raw)
    .filter(({ txid }) => wanted.has(txid))
    .map(({ txid, failed, meta }) => ({
      txid,
      success: !failed,
      reason: failed ? JSON.stringify(meta['err']).slice(0, 200) : null,
      fee: integerIn(meta['fee'], 'fee'),
    }));
}
