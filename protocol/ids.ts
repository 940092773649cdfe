/** Ids as text: what they look like and what they name. Those that are made or hashed: `protocol/node/ids.ts`. */
import { ENVIRONMENTS, type Chain, type Environment } from './slugs.ts';

/** Prefixes of generated ids. Decisions 1. */
export const ID_PREFIXES = [
  'org',
  'usr',
  'adr',
  'txn',
  'dep',
  'dlv',
  'lnk',
  'pay',
  'inv',
  'wal',
  'fwl',
  'swj',
  'swo',
  'brt', // bridge transfer
  'tkr',
  'rgp', // proposal of a version of the token registry
  'stm',
  'col',
  'ks',
  'mig',
  'scn',
  'rvw',
  'upl',
  'imp',
  'dry',
  'rot',
  'ses',
  'ek',
  'key',
  'req',
  'lgn',
  'ivt',
  'sup',
  'wip',
  'psk',
  'frs', // reset of factors
  'dvc', // login of a command line
  'sso',
  'dmn',
] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];
export type Id<P extends IdPrefix = IdPrefix> = `${P}_${string}`;

/** True for `prefix_` followed by 26 characters of the id alphabet. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return (
    text.length === prefix.length + 27 &&
    text.startsWith(`${prefix}_`) &&
    /^[a-z2-7]{26}$/.test(text.slice(prefix.length + 1))
  );
}

/** An account is (organization, environment) and is one actor. Decisions 1. */
export type AccountId = `org_${string}_${Environment}`;

export function accountIdOf(organizationId: string, environment: Environment): AccountId {
  return `${organizationId}_${environment}` as AccountId;
}

/** True for `org_…_live` and `org_…_sandbox`. */
export function isAccountId(text: string): text is AccountId {
  const end = text.lastIndexOf('_');
  return isId('org', text.slice(0, end)) && ENVIRONMENTS.some((environment) => environment === text.slice(end + 1));
}

/** The tenant that an account belongs to. */
export function organizationOf(accountId: AccountId): string {
  return accountId.slice(0, accountId.lastIndexOf('_'));
}

export function environmentOf(accountId: AccountId): Environment {
  return accountId.endsWith('_live') ? 'live' : 'sandbox';
}

/**
 * A ledger is one history of blocks that a watcher follows: `eth` for the live chain, `eth@org_…_sandbox` for the
 * simulated one of a sandbox account, so that no sandbox tenant moves another's confirmations.
 */
export type LedgerId = Chain | `${Chain}@${string}`;

export function ledgerOf(chain: Chain, accountId: AccountId): LedgerId {
  return environmentOf(accountId) === 'live' ? chain : `${chain}@${accountId}`;
}

export function chainOfLedger(ledger: LedgerId): Chain {
  const at = ledger.indexOf('@');
  return (at === -1 ? ledger : ledger.slice(0, at)) as Chain;
}

/** The sandbox account whose own ledger this is; null for a live chain, which all live accounts share. */
export function accountOfLedger(ledger: LedgerId): AccountId | null {
  const at = ledger.indexOf('@');
  return at === -1 ? null : (ledger.slice(at + 1) as AccountId);
}
