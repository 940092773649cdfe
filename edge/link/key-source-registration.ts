/**
 * What is reported to the cloud of a source: public keys and the addresses that the operator chose, in requests that
 * the edge's identity signed. What the cloud took is noted in the keystore after each request, so that a command that
 * was cut off is simply given again. Spec §4.8.
 */
import { refuse, isRefusal, type Refusal } from '../../protocol/errors.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { SentOf } from '../../protocol/routes.ts';
import { CHAINS, FAMILY_OF, type Chain, type Environment } from '../../protocol/slugs.ts';
import type { KeyFile } from '../keystore/key-file.ts';
import { KeystoreError } from '../keystore/keystore-error.ts';
import { addressOfSourceKey } from '../keystore/source-address.ts';
import type { RegisteredAddress, SignedBranch, SourceKey, SourceRecord } from '../keystore/source-record.ts';
import { accountKeyOf } from '../keystore/source-secret.ts';
import type { Upstream } from './upstream.ts';

/** As the cloud takes them in one request. */
const ADDRESSES_PER_REQUEST = 500;
const KEYS_PER_REQUEST = 64;

type Body = SentOf<'registerKeySource', 'body'>;

export interface Registration {
  readonly environment: Environment;
  readonly chains: readonly Chain[];
  /** Absolute paths of EVM addresses; a single key has one address at null. */
  readonly paths: readonly (string | null)[];
  readonly keystore: Body['keystore'];
  /** EVM branches that the edge signs under; their keys are registered, and no addresses. Without `paths`. */
  readonly branches?: readonly SignedBranch[];
}

export interface Registered {
  readonly sourceId: string;
  readonly added: number;
  readonly skipped: number;
}

/**
 * Registers a source with the cloud. Refuses: what the cloud refuses.
 * Throws: KeystoreError SOURCE_UNKNOWN, SOURCE_PURGED, OTHER_ENVIRONMENT, KEY_NOT_UNDERSTOOD (a path whose last step is
 * hardened).
 */
export async function registerSource(
  file: KeyFile,
  upstream: Pick<Upstream, 'signed'>,
  fingerprint: string,
  { environment, chains, paths, keystore, branches = [] }: Registration,
): Promise<Registered | Refusal> {
  checkEnvironment(file.find(fingerprint), environment);
  const source = await withKeysFor(file, fingerprint, [...paths, ...branches.map(({ path }) => `${path}/0`)]);
  const evm = chains.find((chain) => FAMILY_OF[chain] === 'evm');
  const addresses = evm === undefined ? [] : paths.map((path) => addressFor(source, evm, path));
  let sum = null as Registered | null;
  for (const { keys, part } of requestsOf(source, chains, addresses)) {
    const reply = await upstream.signed.call('registerKeySource', {
      body: {
        fingerprint,
        label: source.label,
        kind: source.kind,
        keystore,
        chains: [...chains],
        keys: keys.map(pushed),
        addresses: part.map((address) => ({ ...address, index: indexOf(address.path) })),
      },
    });
    if (isRefusal(reply)) return reply;
    failpoint('edge.sources.registered');
    sum = { sourceId: reply.id, added: (sum?.added ?? 0) + reply.added, skipped: (sum?.skipped ?? 0) + reply.skipped };
    await note(file, fingerprint, { sourceId: reply.id, environment }, part);
  }
  if (sum !== null && branches.length > 0) await noteBranches(file, fingerprint, branches);
  return sum ?? refuse('INVALID_INPUT', { field: 'chains', reason: 'the source has no key of these chains' });
}

/**
 * Reports to the cloud that a source was purged, once. Refuses: what the cloud refuses.
 * Throws: KeystoreError OTHER_ENVIRONMENT.
 */
export async function reportPurge(
  file: KeyFile,
  upstream: Pick<Upstream, 'signed'>,
  source: SourceRecord,
  environment: Environment,
): Promise<Refusal | null> {
  const { fingerprint, sourceId, purgeTold } = source;
  checkEnvironment(source, environment);
  if (sourceId === null || purgeTold) return null;
  const reply = await upstream.signed.call('purgeKeySource', { params: { id: sourceId } });
  if (isRefusal(reply)) return reply;
  failpoint('edge.sources.purge_told');
  await file.note(fingerprint, { purgeTold: true });
  return null;
}

function checkEnvironment(source: SourceRecord | null, environment: Environment): void {
  const known = source?.environment ?? null;
  if (known !== null && known !== environment) throw new KeystoreError('OTHER_ENVIRONMENT', known);
}

/** The source with an extended key for each path; those it lacks are derived and kept. */
async function withKeysFor(
  file: KeyFile,
  fingerprint: string,
  paths: readonly (string | null)[],
): Promise<SourceRecord> {
  const source = file.find(fingerprint);
  if (source === null) throw new KeystoreError('SOURCE_UNKNOWN');
  if (source.own)
    throw new KeystoreError('SOURCE_UNKNOWN', "it is this edge's own phrase, which is registered by the edge itself");
  if (source.purgedAt !== null) throw new KeystoreError('SOURCE_PURGED');
  const wanted = new Set(paths.filter((path) => path !== null).map(hardenedPart));
  const lacking = [...wanted].filter((path) => !source.keys.some((key) => key.family === 'evm' && key.path === path));
  if (lacking.length === 0) return source;
  const more = file.withSecret(fingerprint, (seed) => lacking.map((path) => accountKeyOf(seed, 'evm', path)));
  return file.note(fingerprint, { keys: [...source.keys, ...more] });
}

/** The part of a path that ends with its last hardened step: where an extended key has to be. */
function hardenedPart(path: string): string {
  const end = path.lastIndexOf("'");
  if (end === path.length - 1)
    throw new KeystoreError(
      'KEY_NOT_UNDERSTOOD',
      'a path whose last step is hardened: import the key of that address alone',
    );
  return end === -1 ? 'm' : path.slice(0, end + 1);
}

function addressFor({ keys }: SourceRecord, chain: Chain, path: string | null): RegisteredAddress {
  for (const key of keys.filter(({ family }) => family === 'evm')) {
    const address = addressOfSourceKey(key, path);
    if (address !== null) return { chain, path, address };
  }
  throw new KeystoreError('KEY_NOT_UNDERSTOOD', 'the source has no address at this path');
}

interface Request {
  readonly keys: SourceKey[];
  readonly part: RegisteredAddress[];
}

/** The keys without addresses first, then addresses with the keys that they are below. */
function requestsOf(
  { keys }: SourceRecord,
  chains: readonly Chain[],
  addresses: readonly RegisteredAddress[],
): Request[] {
  const families = new Set(chains.map((chain) => FAMILY_OF[chain]));
  const chosen = keys.filter(({ family }) => families.has(family));
  const holds = (key: SourceKey, { path }: RegisteredAddress) => addressOfSourceKey(key, path) !== null;
  const requests: Request[] = [];
  const keysAlone = chosen.filter((key) => key.family !== 'evm' || addresses.length === 0);
  if (keysAlone.length > 0) requests.push({ keys: keysAlone, part: [] });
  let open: Request = { keys: [], part: [] };
  for (const address of addresses) {
    const key = chosen.find((candidate) => candidate.family === 'evm' && holds(candidate, address))!;
    const isNew = !open.keys.includes(key);
    if (open.part.length === ADDRESSES_PER_REQUEST || (isNew && open.keys.length === KEYS_PER_REQUEST)) {
      requests.push(open);
      open = { keys: [], part: [] };
    }
    if (!open.keys.includes(key)) open.keys.push(key);
    open.part.push(address);
  }
  return open.part.length === 0 ? requests : [...requests, open];
}

function pushed({ family, path, xpub, publicKey }: SourceKey): Body['keys'][number] {
  const chain = CHAINS.find((slug) => FAMILY_OF[slug] === family)!;
  return path === null ? { chain, publicKey: publicKey! } : { chain, path, xpub: xpub! };
}

/** The last step of a path. */
function indexOf(path: string | null): number {
  return path === null ? 0 : Number(/([0-9]+)'?$/.exec(path)![1]);
}

async function note(
  file: KeyFile,
  fingerprint: string,
  registered: Pick<SourceRecord, 'sourceId' | 'environment'>,
  part: readonly RegisteredAddress[],
): Promise<void> {
  const { addresses } = file.find(fingerprint)!;
  const have = new Set(addresses.map(({ address }) => address));
  await file.note(fingerprint, {
    ...registered,
    addresses: [...addresses, ...part.filter(({ address }) => !have.has(address))],
  });
}

/** A branch that is there already gets the newer bound. */
async function noteBranches(file: KeyFile, fingerprint: string, branches: readonly SignedBranch[]): Promise<void> {
  const { branches: known = [] } = file.find(fingerprint)!;
  const others = known.filter(({ path }) => branches.every((branch) => branch.path !== path));
  await file.note(fingerprint, { branches: [...others, ...branches] });
}
