/**
 * What an edge opens before it talks to anybody, in the order of construction:
 *
 *   part                       needs, beside configuration, identity and clocks
 *   storage, token registry    –
 *   spend clock, ledger        storage
 *   shared spend               storage, spend clock
 *   local keys, key share      storage, shared spend
 *   instructions, their share  storage
 *   timers, upstream, lease, own addresses, issued addresses   –
 *   outbox                     storage
 */
import { openIssuedAddresses, type IssuedAddresses } from './answers/issued-addresses.ts';
import { ConfigurationError, type EdgeConfig } from './config.ts';
import { publicKeyOf, type Identity } from './link/identity.ts';
import { InstructionShare } from './signing/instruction-share.ts';
import { Instructions } from './signing/instructions.ts';
import type { Keystore } from './keystore/keystore.ts';
import { KeySets } from './local-keys/key-sets.ts';
import { createKeyShelf } from './local-keys/key-shelf.ts';
import { Lease } from './link/lease.ts';
import { LocalKeyShare } from './local-keys/share.ts';
import { LocalKeys } from './local-keys/local-keys.ts';
import type { EdgeLog } from './process/log.ts';
import { Outbox } from './link/outbox.ts';
import { openFormerIdentities, type FormerIdentities } from './signing/former-identities.ts';
import { OwnAddresses } from './signing/own-addresses.ts';
import { openTokenRegistry, type TokenRegistry } from './link/token-registry.ts';
import { openSpendClock, type SpendClock, type SpendClockPorts } from './spend/clock.ts';
import { newestSpendMs, SpendLedger } from './spend/ledger.ts';
import { openSharedSpend, SCOPE_SETTING, spendReplicaOf } from './spend/shared-spend.ts';
import type { SharedSpend } from './spend/replica.ts';
import { ENVIRONMENT_SETTING, openStorage, type Storage } from './storage/storage.ts';
import { createTimers, type Timers } from './process/timers.ts';
import { createUpstream, type Upstream } from './link/upstream.ts';
import { openVouchTime } from './local-keys/vouch-time.ts';
import type { Resolve } from './webhooks/connector.ts';

/** Clocks, and the resolver of webhook hosts (the system's when absent). */
export interface EdgePorts extends SpendClockPorts {
  readonly resolve?: Resolve;
}

export interface EdgeParts {
  readonly storage: Storage;
  readonly registry: TokenRegistry;
  readonly timers: Timers;
  readonly upstream: Upstream;
  readonly lease: Lease;
  readonly outbox: Outbox;
  readonly spendClock: SpendClock;
  readonly ledger: SpendLedger;
  /** EDGE_SPEND_LEDGER; null where each replica counts for itself. */
  readonly sharedSpend: SharedSpend | null;
  readonly instructions: Instructions;
  readonly instructionShare: InstructionShare;
  readonly localKeys: LocalKeys;
  readonly keyShare: LocalKeyShare;
  readonly own: OwnAddresses;
  readonly issued: IssuedAddresses;
}

interface Opening {
  readonly config: EdgeConfig;
  readonly identity: Identity;
  readonly log: EdgeLog;
  readonly ports: EdgePorts;
  readonly storage: Storage;
}

/** Throws: ConfigurationError when the data directory is another edge's, StorageFailed. */
export async function openParts(
  config: EdgeConfig,
  keystore: Keystore,
  log: EdgeLog,
  ports: EdgePorts,
): Promise<EdgeParts> {
  const { identity } = keystore;
  const { storage, registry, former } = openOwnStorage(config, keystore, log);
  const opening: Opening = { config, identity, log, ports, storage };
  const spend = await openSpend(opening);
  const keys = openLocalKeys(opening, spend.sharedSpend);
  const instructions = new Instructions(storage, ports.wallMs);
  return {
    storage,
    registry,
    ...spend,
    ...keys,
    instructions,
    instructionShare: new InstructionShare({
      instructions,
      environment: config.environment,
      identity,
      identityKey: publicKeyOf(identity.publicKey),
      nowMs: ports.wallMs,
      ttlMs: config.instructionTtlMs,
      log,
    }),
    timers: createTimers(),
    upstream: createUpstream({ cloudUrl: config.cloudUrl, apiKey: config.apiKey, identity, nowMs: ports.wallMs }),
    lease: new Lease(ports.monotonicMs),
    outbox: new Outbox(storage, { capacity: config.outboxCapacity, nowMs: ports.wallMs }),
    own: new OwnAddresses(keystore, former),
    issued: openIssuedAddresses({
      directory: config.spendLedger?.kind === 'directory' ? config.spendLedger.path : config.dataDir,
      owner: ownerOf(opening),
      gap: config.addressGap,
    }),
  };
}

/** The data directory, when it is this edge's. Throws: ConfigurationError, StorageFailed. */
function openOwnStorage(
  config: EdgeConfig,
  keystore: Keystore,
  log: EdgeLog,
): Pick<EdgeParts, 'storage' | 'registry'> & { readonly former: FormerIdentities } {
  const storage = openStorage(config.dataDir);
  const foreign = claimEnvironment(storage, config),
    registry = openTokenRegistry({ storage, keys: config.registryKeys, log }),
    // What is another edge's is not written to.
    former = foreign ?? openFormerIdentities(storage, keystore);
  if (typeof former !== 'string' && typeof registry !== 'string') return { storage, registry, former };
  const problems = new Set([foreign, registry, former].filter((problem) => typeof problem === 'string'));
  storage.close();
  throw new ConfigurationError([...problems].map((problem) => `EDGE_DATA_DIR: ${problem}`));
}

/** Whose spends and addresses these are, where several edges share a place. */
function ownerOf({ config, identity }: Pick<Opening, 'config' | 'identity'>): string {
  return `${config.environment} ${identity.publicKey}`;
}

async function openSpend(opening: Opening): Promise<Pick<EdgeParts, 'spendClock' | 'ledger' | 'sharedSpend'>> {
  const { config, ports, storage } = opening;
  const spendClock = openSpendClock(storage, newestSpendMs(storage), ports);
  const ledger = new SpendLedger(storage, config, spendClock);
  if (config.spendLedger === null) return { spendClock, ledger, sharedSpend: null };
  const scope = ownerOf(opening);
  storage.setSetting(SCOPE_SETTING, scope);
  const sharedSpend = await openSharedSpend({
    ...ports,
    place: config.spendLedger,
    caps: config,
    scope,
    clock: spendClock,
    replica: spendReplicaOf(storage),
  });
  return { spendClock, ledger, sharedSpend };
}

function openLocalKeys(
  { config, identity, log, ports, storage }: Opening,
  sharedSpend: SharedSpend | null,
): Pick<EdgeParts, 'localKeys' | 'keyShare'> {
  const identityKey = publicKeyOf(identity.publicKey);
  const time = openVouchTime(storage, ports);
  const localKeys = new LocalKeys(storage, config.environment, ports.wallMs, time.nowMs);
  const sets = new KeySets({
    storage,
    keys: localKeys,
    environment: config.environment,
    identity,
    identityKey,
    ttlMs: config.keySetTtlMs,
    time,
    isShelved: sharedSpend !== null,
  });
  const shelf = sharedSpend === null ? null : createKeyShelf(sharedSpend, log);
  const keyShare = new LocalKeyShare({
    keys: localKeys,
    sets,
    identity,
    identityKey,
    log,
    nowMs: ports.monotonicMs,
    shelf,
  });
  return { localKeys, keyShare };
}

/** Live and sandbox must not share a directory: caps, keys and journal of one do not apply to the other. */
function claimEnvironment(storage: Storage, { environment }: EdgeConfig): string | null {
  const kept = storage.setting(ENVIRONMENT_SETTING);
  if (kept !== null && kept !== environment) return `belongs to a ${kept} edge, and API_KEY is of ${environment}`;
  storage.setSetting(ENVIRONMENT_SETTING, environment);
  return null;
}
