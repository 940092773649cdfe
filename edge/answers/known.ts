/**
 * What the edge knows by itself, beside an answer of the cloud: its keys, its registry, what it issued and what it was
 * asked.
 */
import type { Catalogue } from '../../chains/chain.ts';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { formatAmount } from '../../protocol/money.ts';
import { FAMILY_OF, type Chain, type Environment } from '../../protocol/slugs.ts';
import type { Instructions } from '../signing/instructions.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { OwnAddresses } from '../signing/own-addresses.ts';
import type { IssuedAddresses } from './issued-addresses.ts';

export interface Known {
  readonly environment: Environment;
  readonly own: OwnAddresses;
  readonly keystore: Pick<Keystore, 'accountXpub'>;
  readonly instructions: Pick<
    Instructions,
    'get' | 'signaturesOf' | 'mayBeSignedElsewhere' | 'amountsOf' | 'amountOfSigned'
  >;
  readonly issued: IssuedAddresses;
  /** Of the registry in use. */
  readonly catalogueOf: (chain: Chain) => Catalogue;
}

/** What a caller asked, as far as an answer repeats it. */
export interface Ask {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Name of the first field that does not hold, or null. */
export function firstFalse(...fields: readonly (readonly [name: string, holds: boolean])[]): string | null {
  return fields.find(([, holds]) => !holds)?.[0] ?? null;
}

const COUNT = /^(?:0|[1-9][0-9]{0,77})$/;
export const DECIMALS_MAX = 77;

/** Whether a text is an amount that a chain can have: whole, not negative, at most 78 digits. */
export const isCount = (text: string): boolean => COUNT.test(text);

/** Whether a text is an address of the chain, in the one spelling that this service gives it. */
export function isCanonical(chain: Chain, address: string): boolean {
  const parsed = factsOf(chain).parseAddress(networkOf(chain), address);
  return !isRefusal(parsed) && parsed.canonical === address;
}

interface Money {
  readonly amount: string;
  readonly amountFormatted: string;
  readonly decimals: number;
}
interface Asset {
  readonly chain: Chain;
  readonly tokenContract: string | null;
  readonly tokenSymbol: string;
}

/**
 * Symbol, decimals and text of an amount, by the registry in use. Of a token that is not in it (a newer registry, a
 * test network) only the text can be computed. An event and a record say the symbol of when they were made, and
 * another registry may name a token otherwise (treasury K8): false is only the symbol of something else (`isRenamed`
 * for the rest).
 */
export function falseMoney(
  { amount, amountFormatted, decimals }: Money,
  { chain, tokenContract, tokenSymbol }: Asset,
  catalogue: Catalogue,
): string | null {
  if (!isCount(amount)) return 'amount';
  if (!(decimals <= DECIMALS_MAX)) return 'decimals';
  const known = tokenContract === null ? networkOf(chain).nativeDecimals : catalogue.get(tokenContract)?.decimals;
  return firstFalse(
    ['decimals', known === undefined || known === decimals],
    ['tokenSymbol', !isSymbolOfAnother({ chain, tokenContract, tokenSymbol }, catalogue)],
    ['amountFormatted', amountFormatted === formatAmount(BigInt(amount), decimals)],
  );
}

/** Whether an asset is called as another one of its chain is, by the registry in use. */
export function isSymbolOfAnother({ chain, tokenContract, tokenSymbol }: Asset, catalogue: Catalogue): boolean {
  const { nativeSymbol } = networkOf(chain);
  if (tokenContract === null) return tokenSymbol !== nativeSymbol;
  return (
    tokenSymbol === nativeSymbol ||
    [...catalogue.values()].some(({ contract, symbol }) => symbol === tokenSymbol && contract !== tokenContract)
  );
}

/** Whether a listed token has another symbol by now, or never had this one. */
export function isRenamed({ tokenContract, tokenSymbol }: Omit<Asset, 'chain'>, catalogue: Catalogue): boolean {
  const listed = tokenContract === null ? undefined : catalogue.get(tokenContract);
  return listed !== undefined && listed.symbol !== tokenSymbol;
}

/** Whether a link leads to the page of this very transaction: the public explorer, or the sandbox's own page. */
export function isExplorerUrl(
  environment: Environment,
  chain: Chain,
  txid: string | null,
  url: string | null,
): boolean {
  if (url === null) return txid === null || environment === 'sandbox';
  if (txid === null) return false;
  if (environment === 'live') return url === networkOf(chain).explorer.tx.replace('{id}', txid);
  const page = `/sandbox/explorer/${chain}/${encodeURIComponent(txid)}`;
  return (
    url === page ||
    (URL.canParse(url) &&
      /^https?:$/.test(new URL(url).protocol) &&
      new URL(url).pathname === page &&
      new URL(url).search === '')
  );
}

/**
 * First eight and last four characters of the edge's own extended key, as the cloud masks it; null for an Ed25519
 * chain.
 */
export function maskedXpub({ keystore }: Pick<Known, 'keystore'>, chain: Chain): string | null {
  const xpub = keystore.accountXpub(FAMILY_OF[chain]);
  return xpub === null ? null : `${xpub.slice(0, 8)}…${xpub.slice(-4)}`;
}

/** Of whatever is in the path its own id: another one's answer would be taken for it. */
export const itself =
  (param: string) =>
  ({ id }: { readonly id: string }, { params }: Ask): string | null =>
    firstFalse(['id', id === params[param]]);

/** Whether a contract is the one that a caller named by its text or its symbol; null: the native coin. */
export function isTokenAsked(
  chain: Chain,
  { asked, said }: { readonly asked: unknown; readonly said: string | null },
  catalogue: Catalogue,
): boolean {
  const network = networkOf(chain);
  if (typeof asked !== 'string' || asked === network.nativeSymbol) return said === null;
  if (said === null) return false;
  const parsed = factsOf(chain).parseToken(network, asked);
  if (!isRefusal(parsed)) return said === parsed;
  // A newer registry than this edge's may list it.
  const listed = catalogue.get(said);
  return listed === undefined
    ? ![...catalogue.values()].some(({ symbol }) => symbol === asked)
    : listed.symbol === asked;
}

/** No field of the answer is the edge's to compute. */
export const nothing = () => null;
/** Fields that are the cloud's word alone. */
export const word = (...fields: readonly string[]): { falseField: () => null; word: readonly string[] } => ({
  falseField: nothing,
  word: fields,
});
