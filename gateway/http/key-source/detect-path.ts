/**
 * Which path leads from an extended public key to an address that is known: the shapes that wallets use below a key,
 * and for each the path of the whole wallet that it may be. Nothing is stored. Spec §4.8, migration M-P1 to M-P7.
 *
 * A key says how deep it is and its last step; the steps above that are guessed, and the answer says so. One address at
 * `0/0` may be the first of an account or the account of one address each (Ledger Live); a second one decides.
 */
import { shapesOf, INDEXES_TRIED, type Found } from '../../../actors/migration/derivation/search.ts';
import { derive } from '../../../actors/migration/derivation/thread.ts';
import { parseAddress } from '../../../chains/reading.ts';
import { HARDENED, parseXpub, type ExtendedPublicKey } from '../../../chains/secp256k1.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { standardBase, WALLET_PATHS, type WalletPath } from '../../../chains/wallet-paths.ts';
import type { ReplyOf, SentOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, type Family } from '../../../protocol/slugs.ts';
import { accountOf, type Handlers } from '../context.ts';

type Reply = ReplyOf<'detectPath'>;
type Candidate = Reply['candidates'][number];

/** m / purpose' / coin' / account'. */
const ACCOUNT_DEPTH = 3;

export const detectPathHandler: Pick<Handlers, 'detectPath'> = {
  async detectPath(asked) {
    const read = readBody(asked.body);
    if (isRefusal(read)) return read;
    const { family, key, addresses } = read;
    const [found, other] = await derive(accountOf(asked), { kind: 'search', family, xpub: key.xpub, addresses });
    const tried = { indexesTried: INDEXES_TRIED, shapesTried: shapesOf(family, key).map((shape) => shape || 'key') };
    if (found == null) return { candidates: [], ...tried, hints: hintsOf(family, key, addresses[0]!) };
    return { ...tried, ...interpreted(family, key, found, other) };
  },
};

interface Asked {
  readonly family: Family;
  readonly key: ExtendedPublicKey;
  readonly addresses: readonly string[];
}

function readBody({ chain, xpub, knownAddress, secondAddress }: SentOf<'detectPath', 'body'>): Asked | Refusal {
  const family = FAMILY_OF[chain];
  if (family === 'sol' || family === 'xlm')
    return refuse('INVALID_CHAIN', { field: 'chain', chain, reason: 'no_extended_keys' });
  const key = parseXpub(xpub.trim());
  if (!key.ok) return key.code === 'INVALID_INPUT' ? refuse('INVALID_INPUT', { ...key.details, field: 'xpub' }) : key;
  const known = parseAddress(chain, knownAddress);
  if (isRefusal(known)) return refuse('INVALID_ADDRESS', { ...known.details, field: 'knownAddress' });
  if (secondAddress == null) return { family, key, addresses: [known.canonical] };
  const second = parseAddress(chain, secondAddress);
  if (isRefusal(second)) return refuse('INVALID_ADDRESS', { ...second.details, field: 'secondAddress' });
  if (second.canonical === known.canonical)
    return refuse('INVALID_INPUT', { field: 'secondAddress', reason: 'the same address' });
  return { family, key, addresses: [known.canonical, second.canonical] };
}

/** `other`: where the second address is; null where it is not below the key, undefined where none was given. */
function interpreted(
  family: Family,
  key: ExtendedPublicKey,
  found: Found,
  other: Found | null | undefined,
): Pick<Reply, 'candidates' | 'hints'> {
  const counted = (one: Found, confirmed: boolean) => candidateOf(family, key, one, confirmed, false);
  if (other != null)
    return other.shape === found.shape && other.script === found.script
      ? { candidates: [counted(found, true)], hints: [] }
      : { candidates: [counted(found, true), counted(other, true)], hints: ['two_branches'] };
  const mayBeEach = accountIndex(key) !== null && found.below === '0/0';
  const each = candidateOf(family, key, found, false, true);
  if (other === null)
    return mayBeEach
      ? { candidates: [each], hints: [] }
      : { candidates: [counted(found, false)], hints: ['second_not_found'] };
  return { candidates: [counted(found, false), ...(mayBeEach ? [each] : [])], hints: [] };
}

/** The account of a key at account depth, null for any other. */
function accountIndex({ depth, index }: ExtendedPublicKey): number | null {
  return depth === ACCOUNT_DEPTH && index >= HARDENED ? index - HARDENED : null;
}

/** `each`: the wallet has one account for each address, so that the index is the account's. */
function candidateOf(
  family: Family,
  key: ExtendedPublicKey,
  { shape, below, script }: Found,
  confirmed: boolean,
  each: boolean,
): Candidate {
  const account = accountIndex(key);
  const base = account === null ? null : standardBase(family, script);
  const root = key.depth === 0 ? 'm' : account === null ? 'M' : `${base}/${account}'`;
  // A branch is counted by its last step; the key itself by its account.
  const counted = shape === '' ? (account === null ? root : `${base}/i'`) : `${root}/${templateBelow(below)}`;
  return {
    belowKey: below,
    template: each ? `${base}/i'/0/0` : counted,
    path: below === '' ? root : `${root}/${below}`,
    guessed: key.depth === 0 ? [] : account === null ? ['all'] : ['purpose', 'coin'],
    script,
    standard: account !== null && (shape === '0/i' || shape === '1/i') && agrees(key.version, script),
    wallets: walletsOf(family, key, { shape, below, script }, each),
    confirmed,
  };
}

/** `0/7` is counted as `0/i`. */
const templateBelow = (below: string): string => below.replace(/[0-9]+$/, 'i');

/** Whether the version bytes, which some wallets choose by the script, say another one. */
function agrees(version: ExtendedPublicKey['version'], script: Found['script']): boolean {
  if (script === null || version === 'xpub') return true;
  return script === (version === 'ypub' ? 'p2sh-p2wpkh' : 'p2wpkh');
}

/** Wallets of the catalogue that such a key and such steps below it may be of. */
function walletsOf(
  family: Family,
  key: ExtendedPublicKey,
  found: Pick<Found, 'shape' | 'below' | 'script'>,
  each: boolean,
): string[] {
  const fitting = WALLET_PATHS.filter(
    (path) => path.family === family && path.script === found.script && fits(path, key, found, each),
  );
  return [...new Set(fitting.flatMap(({ wallets }) => wallets))];
}

function fits(
  { template, key: tested }: WalletPath,
  key: ExtendedPublicKey,
  { shape, below }: Pick<Found, 'shape' | 'below'>,
  each: boolean,
): boolean {
  if (tested === 'each') return each;
  if (each) return false;
  if (tested === 'self')
    return shape === '' && template.startsWith('m') && template.split('/').length - 1 === key.depth;
  if (typeof tested !== 'number' || tested !== key.depth || shape === '') return false;
  const steps = template.split('/').slice(1);
  const last = steps[tested - 1];
  if (last !== undefined && !stepFits(last, key.index)) return false;
  const given = below.split('/').map(Number);
  const rest = steps.slice(tested);
  return rest.length === given.length && rest.every((step, at) => stepFits(step, given[at]!));
}

/** `a'` is any hardened step, `i` any other; a number is itself. */
function stepFits(step: string, index: number): boolean {
  const hardened = step.endsWith("'");
  if (hardened !== index >= HARDENED) return false;
  const name = step.replace("'", '');
  return /^[0-9]+$/.test(name) ? Number(name) === (hardened ? index - HARDENED : index) : true;
}

/** Why an address may not be below a key although it is of the same wallet. */
function hintsOf(family: Family, key: ExtendedPublicKey, address: string): Reply['hints'] {
  const mayBeMultisig =
    family === 'btc' && (address.startsWith('3') || (address.startsWith('bc1q') && address.length > 42));
  return [
    ...(key.depth > 0 ? (['another_account'] as const) : []),
    'hardened_index',
    'beyond_indexes',
    ...(mayBeMultisig ? (['multisig'] as const) : []),
    'ask_the_edge',
  ];
}
