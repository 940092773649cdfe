/**
 * Trust lines: what a holder has, may receive and may send, and `TrustSet`. Source: xrpl.org "Trust Lines",
 * "TrustSet".
 */
import {
  ACCOUNT,
  hasFlag,
  LINE,
  lineKey,
  NO_ISSUER,
  sideOf,
  type Entry,
  type LineAmount,
  type Side,
} from './entries.ts';
import { unitsOf, valueOf } from './issued.ts';
import { own, ownerCountOf, reserveOf, type Fees } from './reserves.ts';
import type { View } from './view.ts';

const LIMITS = ['LowLimit', 'HighLimit'] as const;
const amountOf = (value: unknown): LineAmount => value as LineAmount;
const other = (side: Side): Side => (side === 0 ? 1 : 0);

/** A line seen by one of its accounts. */
export interface Held {
  readonly key: string;
  readonly entry: Entry;
  readonly side: Side;
  /** Units that the account has; negative: owes. */
  readonly balance: bigint;
  readonly limit: bigint;
  readonly peer: string;
  readonly currency: string;
  flag(kind: keyof typeof LINE, whose: 'own' | 'peer'): boolean;
}

/** The line between two accounts, or null. */
export function lineOf(view: Pick<View, 'get'>, account: string, peer: string, currency: string): Held | null {
  const key = lineKey(account, peer, currency),
    entry = view.get(key);
  return entry === undefined ? null : heldBy(account, key, entry);
}

/** A line entry from the side of one of its accounts. */
export function heldBy(account: string, key: string, entry: Entry): Held {
  const side: Side = amountOf(entry['LowLimit']).issuer === account ? 0 : 1;
  const low = unitsOf(amountOf(entry['Balance']).value);
  return {
    key,
    entry,
    side,
    balance: side === 0 ? low : -low,
    limit: unitsOf(amountOf(entry[LIMITS[side]]).value),
    peer: amountOf(entry[LIMITS[other(side)]]).issuer,
    currency: amountOf(entry['Balance']).currency,
    flag: (kind, whose) => hasFlag(entry, LINE[kind][whose === 'own' ? side : other(side)]),
  };
}

/** Moves units over a line, from the account's side. A line that is back in its default state and empty goes away. */
export function move(view: View, { key, side, entry, balance }: Held, units: bigint): void {
  const after = side === 0 ? balance + units : -(balance + units);
  view.change(key, { Balance: { ...amountOf(entry['Balance']), value: valueOf(after) } });
  settle(view, key);
}

export interface TrustSet {
  readonly Account: string;
  readonly LimitAmount: LineAmount;
  readonly Flags?: number;
}

const SET = {
  auth: 0x0001_0000,
  noRipple: 0x0002_0000,
  clearNoRipple: 0x0004_0000,
  freeze: 0x0010_0000,
  clearFreeze: 0x0020_0000,
};

/** Applies a `TrustSet`; the sender's fee is paid already, `priorBalance` is what it had before. */
export function trustSet(view: View, fees: Fees, tx: TrustSet, priorBalance: bigint): string {
  const { Account: account, LimitAmount: limit, Flags: flags = 0 } = tx;
  if (limit.issuer === account) return 'temDST_IS_SRC';
  const root = view.account(account)!,
    peerRoot = view.account(limit.issuer);
  if (peerRoot === undefined) return 'tecNO_DST';
  if ((flags & SET.auth) !== 0 && !hasFlag(root, ACCOUNT.requireAuth)) return 'tefNO_AUTH_REQUIRED';
  const side = sideOf(account, limit.issuer),
    existing = view.get(lineKey(account, limit.issuer, limit.currency));
  const objects = ownerCountOf(root);
  // The first two objects are free, so that somebody with little XRP can hold a token.
  const isPoor = objects >= 2 && priorBalance < reserveOf(fees, objects + 1);
  if (existing === undefined && isPoor) return 'tecNO_LINE_INSUF_RESERVE';
  if (existing === undefined && unitsOf(limit.value) === 0n && flags === 0) return 'tecNO_LINE_REDUNDANT';
  const key = lineKey(account, limit.issuer, limit.currency);
  const entry = existing ?? emptyLine(account, limit, peerRoot);
  const reservesAnew = existing !== undefined && !hasFlag(existing, LINE.reserve[side]);
  const next = {
    ...entry,
    [LIMITS[side]]: { currency: limit.currency, issuer: account, value: limit.value },
    Flags: flagged(Number(entry['Flags'] ?? 0), side, flags),
  };
  if (reservesAnew && isPoor && !isDefault(next, side, root)) return 'tecINSUF_RESERVE_LINE';
  view.put(key, next);
  settle(view, key);
  return 'tesSUCCESS';
}

/** A new line: the peer lets nothing ripple unless it said that it does so by default. */
function emptyLine(account: string, { currency, issuer }: LineAmount, peerRoot: Entry): Entry {
  const side = sideOf(account, issuer),
    zero = (holder: string) => ({ currency, issuer: holder, value: '0' });
  const [low, high] = side === 0 ? [account, issuer] : [issuer, account];
  return {
    LedgerEntryType: 'RippleState',
    Balance: { currency, issuer: NO_ISSUER, value: '0' },
    LowLimit: zero(low),
    HighLimit: zero(high),
    Flags: hasFlag(peerRoot, ACCOUNT.defaultRipple) ? 0 : LINE.noRipple[other(side)],
    LowNode: '0',
    HighNode: '0',
  };
}

function flagged(before: number, side: Side, flags: number): number {
  const set = (kind: keyof typeof LINE, on: number, off: number) => (now: number) =>
    (flags & on) !== 0 ? now | LINE[kind][side] : (flags & off) !== 0 ? now & ~LINE[kind][side] : now;
  return [
    set('auth', SET.auth, 0),
    set('noRipple', SET.noRipple, SET.clearNoRipple),
    set('freeze', SET.freeze, SET.clearFreeze),
  ].reduce((now, step) => step(now), before);
}

/** True when a side asks nothing of a line. */
function isDefault(entry: Entry, side: Side, root: Entry): boolean {
  const held = heldBy(amountOf(entry[LIMITS[side]]).issuer, '', entry);
  const ripplesAsUsual = held.flag('noRipple', 'own') !== hasFlag(root, ACCOUNT.defaultRipple);
  return held.limit === 0n && held.balance <= 0n && ripplesAsUsual && !held.flag('freeze', 'own');
}

/** Gives each side the reserve that it needs, or takes it; removes a line that neither side needs. */
function settle(view: View, key: string): void {
  let entry = view.get(key)!;
  for (const side of [0, 1] as const) {
    const account = amountOf(entry[LIMITS[side]]).issuer,
      root = view.account(account);
    if (root === undefined) continue;
    const needs = !isDefault(entry, side, root),
      has = hasFlag(entry, LINE.reserve[side]);
    if (needs === has) continue;
    own(view, account, needs ? 1 : -1);
    const flags = Number(entry['Flags'] ?? 0);
    view.change(key, { Flags: needs ? flags | LINE.reserve[side] : flags & ~LINE.reserve[side] });
    entry = view.get(key)!;
  }
  const isEmpty = unitsOf(amountOf(entry['Balance']).value) === 0n;
  if (isEmpty && !hasFlag(entry, LINE.reserve[0]) && !hasFlag(entry, LINE.reserve[1])) view.remove(key);
}
