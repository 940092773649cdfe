/**
 * Accounts as one server has them at one ledger. An account that is not there is a real zero only because the server
 * says so at a ledger that is not behind (G8, G10).
 *   RPC      getLedgerEntries(keys ≤ 200) → entries that exist, latestLedger
 *   Horizon  GET /accounts/{id} → the account, or 404
 */
import {
  LedgerEntryData,
  LedgerKey,
  LedgerKeyAccount,
  LedgerKeyData,
  LedgerKeyTrustLine,
  TrustLineAsset,
  type Asset,
} from '@stellar/stellar-sdk/xdr';
import { ChainUnavailable, type Endpoint, type Token } from '../chain.ts';
import { countIn, listIn, objectIn, textIn } from '../node-answer.ts';
import { askHorizon } from './horizon.ts';
import type { Heads } from './heads.ts';
import {
  accountOfEntries,
  accountOfRecord,
  lineOfEntry,
  MEMO_REQUIRED_NAME,
  type LedgerAccount,
  type TrustLine,
} from './ledger-account.ts';
import { askRpc } from './rpc.ts';
import type { Source } from './sources.ts';
import { accountKey, accountText, assetOf, decodeXdr } from './xdr.ts';

export interface AccountsRead {
  /** Ledger at which they were read. */
  readonly height: number;
  /** By address; null where the ledger has no such account. */
  readonly accounts: Readonly<Record<string, LedgerAccount | null>>;
}

/**
 * Accounts with their line for a token, all from one server at one ledger. Throws: ChainUnavailable, MalformedReply.
 */
export function readAccounts(
  heads: Heads,
  source: Source,
  addresses: readonly string[],
  token: Token | null,
): Promise<AccountsRead> {
  const wanted = [...new Set(addresses)];
  return source.kind === 'rpc'
    ? readEntries(heads, source.endpoint, wanted, token)
    : readRecords(heads, source, wanted);
}

/** Reads that a closing ledger may spoil before it is left to another server. */
const READ_TRIES = 3;

/** Horizon has no one answer for several accounts: the ledger must not move between them. */
async function readRecords(heads: Heads, source: Source, addresses: readonly string[]): Promise<AccountsRead> {
  for (let tries = 0; tries < READ_TRIES; tries += 1) {
    const { height } = await heads.standingOf(source);
    const records = await Promise.all(addresses.map((address) => readRecord(source.endpoint, address)));
    const isOfOneLedger = addresses.length === 1 || (await heads.standingOf(source)).height === height;
    if (isOfOneLedger) return { height, accounts: Object.fromEntries(records.map((one, i) => [addresses[i]!, one])) };
  }
  throw new ChainUnavailable('xlm', 'ledgers closed while accounts were read');
}

async function readRecord(endpoint: Endpoint, address: string): Promise<LedgerAccount | null> {
  const record = await askHorizon(endpoint, `/accounts/${address}`);
  if (record === null) return null;
  if (record['account_id'] !== address) throw new ChainUnavailable('xlm', 'another account than was asked for');
  return accountOfRecord(record);
}

interface Keys {
  readonly account: string;
  readonly memo: string;
  readonly line: string | null;
}

async function readEntries(
  heads: Heads,
  endpoint: Endpoint,
  addresses: readonly string[],
  token: Token | null,
): Promise<AccountsRead> {
  const keys = addresses.map((address) => keysOf(address, token));
  const asked = keys.flatMap(({ account, memo, line }) => [account, memo, ...(line === null ? [] : [line])]);
  const answer = await askRpc(endpoint, 'getLedgerEntries', { keys: asked });
  const height = countIn(answer['latestLedger'], 'latestLedger');
  heads.accept(endpoint, height);
  const entries = new Map(
    listIn(answer['entries'] ?? [], 'entries').map((one) => {
      const { key, xdr } = objectIn(one, 'ledger entry');
      return [textIn(key, 'key'), decodeXdr(LedgerEntryData, xdr, 'ledger entry')] as const;
    }),
  );
  const strange = [...entries.keys()].find((key) => !asked.includes(key));
  if (strange !== undefined) throw new ChainUnavailable('xlm', 'an entry that was not asked for');
  const accounts = keys.map((own, i) => [addresses[i]!, accountAmong(entries, addresses[i]!, own, token)] as const);
  return { height, accounts: Object.fromEntries(accounts) };
}

function keysOf(address: string, token: Token | null): Keys {
  const accountId = accountKey(address);
  const memo = LedgerKey.data(new LedgerKeyData({ accountId, dataName: MEMO_REQUIRED_NAME }));
  // An issuer has no line for its own asset, and none can be asked for.
  const hasLine = token !== null && token.contract.split(':')[1] !== address;
  return {
    account: base64Of(LedgerKey.account(new LedgerKeyAccount({ accountId }))),
    memo: base64Of(memo),
    line: hasLine
      ? base64Of(LedgerKey.trustline(new LedgerKeyTrustLine({ accountId, asset: lineAsset(token.contract) })))
      : null,
  };
}

const base64Of = (key: LedgerKey): string => Buffer.from(key.toXdr()).toString('base64');

function lineAsset(contract: string): TrustLineAsset {
  const asset: Asset = assetOf(contract);
  switch (asset.type) {
    case 'assetTypeNative':
      return TrustLineAsset.assetTypeNative();
    case 'assetTypeCreditAlphanum4':
      return TrustLineAsset.assetTypeCreditAlphanum4(asset.alphaNum4);
    case 'assetTypeCreditAlphanum12':
      return TrustLineAsset.assetTypeCreditAlphanum12(asset.alphaNum12);
  }
}

function accountAmong(
  entries: ReadonlyMap<string, LedgerEntryData>,
  address: string,
  keys: Keys,
  token: Token | null,
): LedgerAccount | null {
  const entry = entries.get(keys.account),
    memo = entries.get(keys.memo);
  const line = keys.line === null ? undefined : entries.get(keys.line);
  if (entry === undefined) {
    // What an account owns cannot be without it: such an answer is not of one ledger.
    if (memo !== undefined || line !== undefined)
      throw new ChainUnavailable('xlm', 'entries of an account that is not there');
    return null;
  }
  if (entry.type !== 'account' || accountText(entry.account.accountId) !== address) {
    throw new ChainUnavailable('xlm', 'another account than was asked for');
  }
  const lines: Record<string, TrustLine> =
    line?.type === 'trustline' && token !== null ? { [token.contract]: lineOfEntry(line.trustLine) } : {};
  return accountOfEntries(entry.account, memo?.type === 'data' ? memo.data.dataValue.toBytes() : null, lines);
}
