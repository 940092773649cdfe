/** Answers about accounts: `account_info`, `account_lines`, `account_objects`, `account_tx`, `deposit_authorized`. */
import {
  ACCOUNT,
  accountKey,
  bytesOfAccount,
  flagsOf,
  hasFlag,
  preauthKey,
  type Entry,
  type State,
} from './entries.ts';
import type { Showing } from './faults.ts';
import { valueOf } from './issued.ts';
import { heldBy } from './lines.ts';
import { MethodError, ledgerOf, type Asked, type Context } from './method.ts';
import { historyEntry } from './shapes.ts';
import { accountOf, slotOf, type Json } from './transactions.ts';

const PAGE_MAX = 400;

function accountIn(params: Json, name = 'account'): string {
  const account = params[name];
  if (typeof account !== 'string') throw new MethodError('invalidParams', `Missing field '${name}'.`);
  try {
    bytesOfAccount(account);
  } catch {
    throw new MethodError('actMalformed', 'Account malformed.');
  }
  return account;
}

/** The account, or the error that names the ledger in which there is none. */
function rootIn({ state, where }: { state: State; where: Json }, account: string): Entry {
  const root = state.get(accountKey(account));
  if (root === undefined) throw new MethodError('actNotFound', 'Account not found.', { account, ...where });
  return root;
}

export function accountInfo(context: Context): Json {
  const { params, showing } = context,
    account = accountIn(params),
    place = ledgerOf(context);
  const root = rootIn(place, account);
  const queued =
    place.where['ledger_current_index'] === undefined || params['queue'] !== true
      ? {}
      : { queue_data: queueOf(showing, account) };
  return {
    account_data: { ...root, index: accountKey(account) },
    account_flags: {
      defaultRipple: hasFlag(root, ACCOUNT.defaultRipple),
      depositAuth: hasFlag(root, ACCOUNT.depositAuth),
      disallowIncomingXRP: hasFlag(root, ACCOUNT.disallowXrp),
      globalFreeze: hasFlag(root, ACCOUNT.globalFreeze),
      requireAuthorization: hasFlag(root, ACCOUNT.requireAuth),
      requireDestinationTag: hasFlag(root, ACCOUNT.requireDest),
    },
    ...place.where,
    ...queued,
  };
}

function queueOf({ network }: Showing, account: string): Json {
  const waiting = network.queue.of(account);
  if (waiting.length === 0) return { txn_count: 0 };
  const numbers = waiting.map(({ json }) => slotOf(json).number);
  return { txn_count: waiting.length, lowest_sequence: Math.min(...numbers), highest_sequence: Math.max(...numbers) };
}

/** A page of a list, with the marker of the next one. */
function paged<T>(all: readonly T[], params: Json): { page: readonly T[]; marker: Json } {
  const limit = Math.min(Number(params['limit'] ?? 200), PAGE_MAX),
    from = Number(params['marker'] ?? 0);
  const next = from + limit;
  return { page: all.slice(from, next), marker: next < all.length ? { marker: String(next), limit } : {} };
}

export function accountLines(context: Context): Json {
  const { params } = context,
    account = accountIn(params),
    place = ledgerOf(context);
  rootIn(place, account);
  const lines = [...place.state]
    .filter(
      ([, entry]) =>
        entry.LedgerEntryType === 'RippleState' &&
        ['LowLimit', 'HighLimit'].some((limit) => (entry[limit] as { issuer: string }).issuer === account),
    )
    .map(([key, entry]) => heldBy(account, key, entry))
    .filter(({ peer }) => params['peer'] === undefined || peer === params['peer']);
  const { page, marker } = paged(lines, params);
  return { account, lines: page.map(lineJson), ...marker, ...place.where };
}

/** The two accounts of a line; none for other entries. */
function endsOf(entry: Entry): readonly string[] {
  return ['LowLimit', 'HighLimit'].flatMap((limit) => (entry[limit] as { issuer: string } | undefined)?.issuer ?? []);
}

function lineJson(held: ReturnType<typeof heldBy>): Json {
  const { peer, balance, currency, limit, entry, side } = held;
  const limitPeer = (entry[side === 0 ? 'HighLimit' : 'LowLimit'] as { value: string }).value;
  const when = (name: string, is: boolean) => (is ? { [name]: true } : {});
  return {
    account: peer,
    balance: valueOf(balance),
    currency,
    limit: valueOf(limit),
    limit_peer: limitPeer,
    quality_in: 0,
    quality_out: 0,
    no_ripple: held.flag('noRipple', 'own'),
    no_ripple_peer: held.flag('noRipple', 'peer'),
    ...when('authorized', held.flag('auth', 'own')),
    ...when('peer_authorized', held.flag('auth', 'peer')),
    ...when('freeze', held.flag('freeze', 'own')),
    ...when('freeze_peer', held.flag('freeze', 'peer')),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  ticket: 'Ticket',
  state: 'RippleState',
  deposit_preauth: 'DepositPreauth',
};

export function accountObjects(context: Context): Json {
  const { params } = context,
    account = accountIn(params),
    place = ledgerOf(context);
  rootIn(place, account);
  const type = params['type'] === undefined ? null : TYPES[String(params['type'])];
  const isOwn = (entry: Entry): boolean => entry['Account'] === account || endsOf(entry).includes(account);
  const owned = [...place.state].filter(
    ([, entry]) =>
      entry.LedgerEntryType !== 'AccountRoot' && (type === null || entry.LedgerEntryType === type) && isOwn(entry),
  );
  const { page, marker } = paged(owned, params);
  return {
    account,
    account_objects: page.map(([key, entry]) => ({ ...entry, index: key })),
    ...marker,
    ...place.where,
  };
}

/** Transactions that touched an account, of the ledgers that the server has of what was asked. */
export function accountTx({ params, showing, version }: Context): Json {
  const account = accountIn(params),
    newest = showing.complete.at(-1);
  if (newest === undefined) throw new MethodError('lgrIdxsInvalid', 'Ledger indexes invalid.');
  const bound = (name: string, otherwise: number) =>
    Number(params[name] ?? -1) < 0 ? otherwise : Number(params[name]);
  const first = Math.max(bound('ledger_index_min', newest.first), newest.first);
  const last = Math.min(bound('ledger_index_max', newest.last), newest.last);
  if (first > last) throw new MethodError('lgrIdxsInvalid', 'Ledger indexes invalid.');
  const found = [];
  for (let height = first; height <= last; height += 1) {
    const ledger = showing.ledgerAt(height);
    for (const tx of ledger?.transactions ?? []) {
      if (touches(tx.meta, account) || accountOf(tx.json) === account) found.push({ tx, ledger: ledger! });
    }
  }
  if (params['forward'] !== true) found.reverse();
  const { page, marker } = paged(found, params);
  return {
    account,
    ledger_index_min: first,
    ledger_index_max: last,
    limit: Number(params['limit'] ?? 200),
    validated: true,
    ...marker,
    transactions: page.map(({ tx, ledger }) => historyEntry(tx, ledger, version)),
  };
}

function touches(meta: Json, account: string): boolean {
  return JSON.stringify(meta['AffectedNodes']).includes(`"${account}"`);
}

export function depositAuthorized(context: Context): Json {
  const { params } = context;
  const source = accountIn(params, 'source_account');
  const destination = accountIn(params, 'destination_account');
  const place = ledgerOf(context);
  const missing = [
    ['source', source],
    ['destination', destination],
  ].find(([, account]) => !place.state.has(accountKey(account!)));
  if (missing !== undefined) {
    throw new MethodError(
      missing[0] === 'source' ? 'srcActNotFound' : 'dstActNotFound',
      'Account not found.',
      place.where,
    );
  }
  const root = place.state.get(accountKey(destination))!;
  const authorised =
    (flagsOf(root) & ACCOUNT.depositAuth) === 0 ||
    source === destination ||
    place.state.has(preauthKey(destination, source));
  return { deposit_authorized: authorised, source_account: source, destination_account: destination, ...place.where };
}

export const ACCOUNT_METHODS: Readonly<Record<string, Asked>> = {
  account_info: accountInfo,
  account_lines: accountLines,
  account_objects: accountObjects,
  account_tx: accountTx,
  deposit_authorized: depositAuthorized,
};
