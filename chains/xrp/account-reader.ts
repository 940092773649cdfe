/** Accounts and trust lines of one server. `actNotFound` is an answer: the ledger has no such account (8.2). */
import { ChainUnavailable, type Balance, type Endpoint, type Token, type Transport } from '../chain.ts';
import { countIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { balanceOf, tokenBalanceOf } from './balance.ts';
import { assetOf, issuedAmountOf, parseCurrency } from './currency.ts';
import type { Heads } from './heads.ts';
import type { LineState } from './inputs.ts';
import { refusedBy, tryAsk } from './node.ts';

/**
 * The open ledger, for what an own payment that waits there has changed; the validated one, or one by its number, else.
 */
export type AtLedger = 'validated' | 'current' | number;

/** Lines and objects of a page, and pages that are followed. Source: xrpl.org, the servers' own limits. */
const PAGE = 400;
const PAGES_MAX = 250;

/** Flags of an AccountRoot. Source: xrpl.org "AccountRoot Flags". */
export const ACCOUNT_FLAGS = {
  requireDestTag: 0x0002_0000,
  requireAuth: 0x0004_0000,
  disallowXrp: 0x0008_0000,
  globalFreeze: 0x0040_0000,
  depositAuth: 0x0100_0000,
} as const;

export function hasFlag(account: Answer, flag: keyof typeof ACCOUNT_FLAGS): boolean {
  return (countIn(account['Flags'] ?? 0, 'Flags') & ACCOUNT_FLAGS[flag]) !== 0;
}

/**
 * `account_data` of an account; null is `actNotFound`, a real "there is none". Throws: ChainUnavailable,
 * MalformedReply.
 */
export async function readAccount(
  transport: Transport,
  endpoint: Endpoint,
  address: string,
  at: AtLedger = 'validated',
): Promise<Answer | null> {
  const answer = await tryAsk(transport, endpoint, 'account_info', { account: address, ledger_index: at });
  if (!answer.ok) {
    if (answer.error.token === 'actNotFound') return null;
    throw refusedBy('account_info', answer.error);
  }
  if (at !== 'current' && answer.result['validated'] !== true) {
    throw new ChainUnavailable('xrp', 'account_info: not of a validated ledger');
  }
  const account = objectIn(answer.result['account_data'], 'account_data');
  if (account['Account'] !== address) throw new ChainUnavailable('xrp', 'account_info: another account');
  return account;
}

/** All entries of a paged answer; null is `actNotFound`. Throws: ChainUnavailable, MalformedReply. */
async function readPages(
  transport: Transport,
  endpoint: Endpoint,
  ask: { method: string; list: string; params: Answer },
): Promise<readonly Answer[] | null> {
  const found: Answer[] = [];
  let marker: unknown;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const params = { ...ask.params, limit: PAGE, ...(marker === undefined ? {} : { marker }) };
    const answer = await tryAsk(transport, endpoint, ask.method, params);
    if (!answer.ok) {
      if (answer.error.token === 'actNotFound') return null;
      throw refusedBy(ask.method, answer.error);
    }
    if (answer.result['account'] !== ask.params['account']) {
      throw new ChainUnavailable('xrp', `${ask.method}: another account`);
    }
    found.push(...listIn(answer.result[ask.list], ask.list).map((entry) => objectIn(entry, ask.list)));
    marker = answer.result['marker'];
    if (marker === undefined) return found;
  }
  throw new ChainUnavailable('xrp', `${ask.method}: more than ${PAGES_MAX} pages`);
}

/** The lines that an account has with an issuer; null: there is no such account. */
export function readLines(
  transport: Transport,
  endpoint: Endpoint,
  address: string,
  { issuer, at }: { issuer: string; at: AtLedger },
): Promise<readonly Answer[] | null> {
  return readPages(transport, endpoint, {
    method: 'account_lines',
    list: 'lines',
    params: { account: address, peer: issuer, ledger_index: at },
  });
}

/** Numbers of an account's unused tickets. */
export async function readTickets(
  transport: Transport,
  endpoint: Endpoint,
  address: string,
): Promise<readonly number[]> {
  const tickets = await readPages(transport, endpoint, {
    method: 'account_objects',
    list: 'account_objects',
    params: { account: address, type: 'ticket', ledger_index: 'validated' },
  });
  return (tickets ?? []).map((ticket) => countIn(ticket['TicketSequence'], 'TicketSequence')).sort((a, b) => a - b);
}

/** The state of the line for one currency, or null without one. */
export function lineIn(lines: readonly Answer[] | null, currency: string, issuer: string): LineState | null {
  const isTheirs = (one: Answer) => one['account'] === issuer;
  const line = lines?.find((one) => isTheirs(one) && parseCurrency(textIn(one['currency'], 'currency')) === currency);
  if (line === undefined) return null;
  const units = (name: 'balance' | 'limit') =>
    (issuedAmountOf(line[name]) ?? malformed(`${name} of a line`, line)).toString();
  return {
    balance: units('balance'),
    limit: units('limit'),
    frozen: line['freeze_peer'] === true,
    deepFrozen: line['deep_freeze_peer'] === true,
    authorized: line['peer_authorized'] === true,
    noRippleAtIssuer: line['no_ripple_peer'] === true,
  };
}

/**
 * A balance at the newest validated ledger of a server that is not behind, or at a number. An answer without one is no
 * zero (G8).
 */
export async function readBalance(
  transport: Transport,
  heads: Heads,
  endpoint: Endpoint,
  address: string,
  token: Token | null,
  at: AtLedger = 'validated',
): Promise<Balance> {
  const { reserves } = await heads.feesOf(endpoint);
  if (token === null) return balanceOf(await readAccount(transport, endpoint, address, at), reserves);
  const { currency, issuer } = assetOf(token.contract);
  const lines = await readLines(transport, endpoint, address, { issuer, at });
  return tokenBalanceOf(lines ?? [], currency, issuer);
}
