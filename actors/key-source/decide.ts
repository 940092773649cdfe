/**
 * Key sources: phrases and keys from elsewhere whose addresses this account takes over. The edge pushes public keys and
 * addresses; every address is derived again here, and one that differs refuses the whole registration. Spec §4.8.
 *
 *   (none) → active    registered: its EVM addresses are monitored and can be signed for
 *   active → active    registered again: new keys and addresses are added, what is there stays
 *   active → purged    its key is gone: addresses stay monitored and are watch-only; the record stays
 *   purged             KEY_SOURCE_PURGED
 *
 * An address of a source has no index; its derivation path is its origin, `[fingerprint/path]`.
 */
import { HDKey } from '@scure/bip32';
import secp256k1 from 'secp256k1';
import { addressOfPublicKey } from '../../chains/evm/derive.ts';
import { deriveUncompressedPublicKey, HARDENED, parseXpub } from '../../chains/secp256k1.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { KeySourceSees, RowWrite } from '../../model/account/capabilities.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../protocol/errors.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import { FAMILY_OF, type Chain, type Family } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { pinnedIdentity, suspended } from '../account/guards.ts';
import { issuedRow } from '../address/issued.ts';
import { turnOfDay } from '../address/peak.ts';
import { addressLimit, noSubscription, tierLimit } from '../plan/limits.ts';
import { notReady } from '../edge-link/readiness.ts';
import type { KeySource, PushedSourceKey, SourceKey } from '../../model/account/key-source.ts';

/** Keys of all sources of one account: they are part of its snapshot, which is written with every append. */
export const SOURCE_KEYS_MAX = 256;
/** Steps below an extended key that an address may be. */
const STEPS_BELOW_MAX = 4;

type Registering = Deciding<'register_key_source'>;

/**
 * A source with its keys and addresses.
 * Refuses: IDENTITY_ROTATION_PENDING, RESYNC_REQUIRED, EDGE_SIGNATURE_INVALID, ACCOUNT_SUSPENDED, INVALID_INPUT,
 * KEY_MATERIAL_REJECTED, NO_SUBSCRIPTION, TIER_FEATURE_LOCKED, CHAIN_NOT_READY, ADDRESS_LIMIT_EXCEEDED,
 * KEY_SOURCE_MISMATCH, KEY_SOURCE_PURGED, CONFLICT.
 */
export function registerKeySource(deciding: Registering): AccountDecision<'register_key_source'> {
  const { state, command, nowMs } = deciding;
  const no = firstRefusal(
    pinnedIdentity(state, command.publicKey),
    suspended(state),
    hsmLimit(state, command.keystore),
  );
  if (no !== null) return no;
  const known = Object.values(sourcesOf(state)).find(({ fingerprint }) => fingerprint === command.fingerprint);
  if (known !== undefined && known.purgedAtMs !== null) return refuse('KEY_SOURCE_PURGED', { keySourceId: known.id });
  const keys = mergedKeys(state, known ?? null, command);
  if (isRefusal(keys)) return keys;
  const wrong = checkAddresses(command, keys);
  if (wrong !== null) return wrong;
  const have = new Set(command.known);
  const fresh = command.addresses.filter(({ address }) => !have.has(address));
  const room = fresh.length === 0 ? null : roomFor(state, fresh, nowMs);
  if (room !== null) return room;
  const source: KeySource = {
    ...(known ?? { id: command.id, fingerprint: command.fingerprint, registeredAtMs: nowMs, purgedAtMs: null }),
    label: command.label,
    kind: command.kind,
    keystore: command.keystore,
    keys,
    chains: [...new Set([...(known?.chains ?? []), ...command.chains])],
    addresses: (known?.addresses ?? 0) + fresh.length,
  };
  const reply = { source, added: fresh.length, skipped: command.addresses.length - fresh.length };
  if (known !== undefined && fresh.length === 0 && JSON.stringify(source) === JSON.stringify(known))
    return accept(reply);
  const used = [...new Set(fresh.map(({ chain }) => chain))];
  const turn = turnOfDay(state, nowMs);
  return accept(
    reply,
    [...turn.events, { type: 'key_source_registered', source, added: fresh.length, chains: used }],
    [
      ...turn.rows,
      ...fresh.map((address, at): RowWrite => ({
        table: 'address',
        row: rowOf(deciding, address, command.addressIds[at]!),
      })),
    ],
  );
}

/**
 * Its addresses become watch-only and stay monitored. Purged again it changes nothing. Refuses: NOT_FOUND, as
 * `pinnedIdentity`.
 */
export function purgeKeySource({
  state,
  command,
  nowMs,
}: Deciding<'purge_key_source'>): AccountDecision<'purge_key_source'> {
  const source = sourceOf(state, command.id);
  const no = firstRefusal(
    pinnedIdentity(state, command.publicKey),
    source === undefined ? notFound('key source', command.id) : null,
  );
  if (no !== null) return no;
  if (source!.purgedAtMs !== null) return accept(source!);
  return accept({ ...source!, purgedAtMs: nowMs }, [{ type: 'key_source_purged', id: command.id, atMs: nowMs }]);
}

/** Sources by id. */
export function sourcesOf({ keySources }: Pick<KeySourceSees, 'keySources'>): Readonly<Record<string, KeySource>> {
  return keySources;
}

/** The source of an id that somebody wrote: `constructor` is none. */
export function sourceOf(state: Pick<KeySourceSees, 'keySources'>, id: string): KeySource | undefined {
  const sources = sourcesOf(state);
  return Object.hasOwn(sources, id) ? sources[id] : undefined;
}

/**
 * Refuses: ADDRESS_WATCH_ONLY for an address that nobody has a key for (`[]`, or anything that is no path), or whose
 * source or retired identity cannot sign for it; null for the account's own paths. Spec §2.12, migration M-X1.
 */
export function watchOnly(
  state: Pick<KeySourceSees, 'keySources' | 'retired'>,
  chain: Chain,
  derivationPath: string,
): Refusal | null {
  if (derivationPath.startsWith('m/')) return null;
  const [, fingerprint] = /^\[([0-9a-f]{16})[/\]]/.exec(derivationPath) ?? [];
  if (fingerprint === undefined) return refuse('ADDRESS_WATCH_ONLY', { reason: 'no_key' });
  const source = Object.values(sourcesOf(state)).find((one) => one.fingerprint === fingerprint);
  const retired = state.retired.some((identity) => identity.fingerprint === fingerprint);
  const reason = source !== undefined ? whyNotSigned(source, chain) : retired ? 'identity_retired' : 'no_source';
  return reason === null ? null : refuse('ADDRESS_WATCH_ONLY', { reason });
}

/**
 * Why a source does not sign on a chain; null where it does. Spec §4.8: "Registered-source signing covers EVM chains
 * only".
 */
export function whyNotSigned(
  { purgedAtMs }: Pick<KeySource, 'purgedAtMs'>,
  chain: Chain,
): 'source_purged' | 'family_not_signed' | null {
  if (purgedAtMs !== null) return 'source_purged';
  return FAMILY_OF[chain] === 'evm' ? null : 'family_not_signed';
}

/** Spec §8.2: a keystore in a module is of the highest tier. */
function hsmLimit({ environment, plan }: KeySourceSees, keystore: KeySource['keystore']): Refusal | null {
  if (keystore === 'file' || environment === 'sandbox' || plan.tier === 'ultimate') return null;
  return refuse('TIER_FEATURE_LOCKED', { feature: 'hsmKeystore', tier: plan.tier, requiredTier: 'ultimate' });
}

function roomFor(state: KeySourceSees, fresh: readonly { chain: Chain }[], nowMs: number): Refusal | null {
  const chains = [...new Set(fresh.map(({ chain }) => chain))].filter((chain) => !state.chains.includes(chain));
  const full = { ...state, activeAddresses: state.activeAddresses + fresh.length - 1 };
  return firstRefusal(
    noSubscription(state, nowMs),
    addressLimit(full),
    chains.length === 0
      ? null
      : tierLimit(state, 'chains', state.chains.length + chains.length - 1, TIER_TERMS[state.plan.tier].chains),
    notReady(state, fresh[0]!.chain),
  );
}

/**
 * Keys of a source with those that are new. Refuses: INVALID_INPUT, KEY_MATERIAL_REJECTED, KEY_SOURCE_MISMATCH,
 * CONFLICT.
 */
function mergedKeys(
  state: KeySourceSees,
  known: KeySource | null,
  { keys: pushed }: { keys: readonly PushedSourceKey[] },
): SourceKey[] | Refusal {
  const keys = [...(known?.keys ?? [])];
  const enrolled = new Set(Object.values(state.enrolment?.keys ?? {}).map(({ xpub }) => xpub));
  for (const push of pushed) {
    const key = readKey(push);
    if (isRefusal(key)) return key;
    if (key.xpub !== null && enrolled.has(key.xpub))
      return refuse('CONFLICT', { reason: 'enrolled_key', chain: push.chain });
    const there = keys.find(
      ({ family, path, publicKey }) =>
        family === key.family && path === key.path && (publicKey === null) === (key.publicKey === null),
    );
    if (there === undefined) keys.push(key);
    else if (there.xpub !== key.xpub || there.publicKey !== key.publicKey) {
      return refuse('KEY_SOURCE_MISMATCH', {
        chain: push.chain,
        index: null,
        reason: 'another key is registered at this path',
      });
    }
  }
  const others = Object.values(sourcesOf(state))
    .filter(({ id }) => id !== known?.id)
    .reduce((sum, source) => sum + source.keys.length, 0);
  return others + keys.length <= SOURCE_KEYS_MAX
    ? keys
    : refuse('CONFLICT', { reason: 'key_limit', limit: SOURCE_KEYS_MAX });
}

function readKey(pushed: PushedSourceKey): SourceKey | Refusal {
  const family = FAMILY_OF[pushed.chain];
  const wrong = (reason: string) => refuse('INVALID_INPUT', { field: 'keys', chain: pushed.chain, reason });
  if (!('xpub' in pushed)) {
    const { publicKey } = pushed;
    if (publicKey.startsWith('ed'))
      return family === 'xrp' ? { family, path: null, xpub: null, publicKey } : wrong('an Ed25519 key');
    return secp256k1.publicKeyVerify(Buffer.from(publicKey, 'hex'))
      ? { family, path: null, xpub: null, publicKey }
      : wrong('not on the curve');
  }
  const key = parseXpub(pushed.xpub);
  if (!key.ok) return key;
  const steps = pushed.path.split('/').slice(1),
    last = steps.at(-1)!;
  const index = Number(last.replace("'", '')) + (last.endsWith("'") ? HARDENED : 0);
  if (key.depth !== steps.length || key.index !== index) return wrong('the extended key is not of this path');
  return { family, path: pushed.path, xpub: key.xpub, publicKey: null };
}

/** Derives every pushed address again. Refuses: INVALID_INPUT, KEY_SOURCE_MISMATCH with `chain` and `index`. */
function checkAddresses({ addresses }: Registering['command'], keys: readonly SourceKey[]): Refusal | null {
  const seen = new Set<string>();
  for (const { chain, index, path, address } of addresses) {
    if (FAMILY_OF[chain] !== 'evm')
      return refuse('INVALID_INPUT', {
        field: 'addresses',
        chain,
        index,
        reason: 'this chain registers a key and no addresses',
      });
    if (seen.has(address)) return refuse('INVALID_INPUT', { field: 'addresses', chain, index, reason: 'given twice' });
    seen.add(address);
    if (
      derived(
        keys.filter(({ family }) => family === 'evm'),
        path,
      ) !== address
    )
      return refuse('KEY_SOURCE_MISMATCH', { chain, index });
  }
  return null;
}

/** The EVM address at a path, or of the single key where it is null; null where no key of these leads there. */
export function derived(keys: readonly SourceKey[], path: string | null): string | null {
  if (path === null) {
    const single = keys.find(({ publicKey }) => publicKey !== null);
    return single === undefined ? null : evmAddress(Buffer.from(single.publicKey!, 'hex'));
  }
  for (const key of keys) {
    if (key.path === null || !path.startsWith(`${key.path}/`)) continue;
    const below = path.slice(key.path.length + 1).split('/');
    if (below.length > STEPS_BELOW_MAX || below.some((step) => !/^[0-9]+$/.test(step) || Number(step) >= HARDENED))
      continue;
    const [change, index] = below.map(Number);
    // The usual shape, `0/i`, goes by the parsed keys that are kept; the others are rare.
    return below.length === 2 && (change === 0 || change === 1)
      ? addressOfPublicKey(deriveUncompressedPublicKey(key.xpub!, change, index!))
      : evmAddress(HDKey.fromExtendedKey(key.xpub!).derive(`m/${below.join('/')}`).publicKey!);
  }
  return null;
}

const evmAddress = (publicKey: Uint8Array): string => addressOfPublicKey(secp256k1.publicKeyConvert(publicKey, false));

const rowOf = (
  { state, command: { fingerprint }, book, nowMs }: Registering,
  { chain, path, address }: Registering['command']['addresses'][number],
  id: string,
): AddressRow => {
  const nobody = { index: null, userRef: null, tag: null, label: null },
    known = `[${fingerprint}${path === null ? '' : path.slice(1)}]`;
  return issuedRow(state, book, { id, chain, ...nobody, address, path: known }, nowMs);
};

/** Families whose sources register a key and no addresses. */
export const KEY_ONLY_FAMILIES: readonly Family[] = ['btc', 'tron', 'xrp'];
