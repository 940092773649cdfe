/**
 * Frames of the edge stream (Socket.IO) and bodies of the edge-only REST paths, as zod schemas: both ends parse.
 * Every frame from the cloud that acts carries the lease epoch; the edge drops one below its own, the cloud answers
 * an old one with LEASE_EPOCH_STALE and closes the stream (spec §7).
 *
 * Handshake: `auth` is a `handshakeAuth`; its `headers` are the RFC 9421 headers of a signed GET on STREAM_PATH (no
 * query) plus `X-API-Key`. A refused handshake is a `connect_error` whose `data` is `{ code, message, details }`.
 * The edge renews its lease: the leader sends `heartbeat` every tenth of the TTL and may act until a little less than
 * the grace (not the TTL) after it SENT the last one that was answered, by its own monotonic clock: the cloud cannot
 * distinguish a killed leader from a stream that ended on the cloud's side alone. A follower sends it every
 * HEARTBEAT_MS. Cloud → edge: `welcome`, `lease`, `deliver`, `sign`, `operate`, `registry`, `replenish`, `keys`,
 * `key_set`, `revoke_keys`, `instructions`, `closing`. Edge → cloud (each with an acknowledgement): `heartbeat`,
 * `attempts`, `local_keys`, `key_set`, `instructions`, `release`. `key_set` is sent only to a cloud whose welcome says
 * `keySets`; an edge that does not know the frame ignores it. A frame above the stream's rate is answered
 * RATE_LIMIT_EXCEEDED and nothing else; it may be sent again.
 */
import { z } from 'zod';
import { ATTESTATIONS_MAX, ATTESTED_FAMILIES } from './attestation.ts';
import { shortText } from './schema/values.ts';
import { unsigned } from './schema/transactions.ts';
import { CHAINS, EDGE_ROLES, FAMILIES, OPERATION_ROLES, POOLED_CHAINS } from './slugs.ts';
import { VERSION } from './version.ts';
import {
  epoch,
  instantMs,
  addressIndex,
  count,
  countFromOne,
  durationMs,
  leaseTtlMs,
  serial,
  statusCode,
  timeoutMs,
} from './schema/numbers.ts';

export const STREAM_PATH = '/v1/edge/stream';

/** Decisions 3. Milliseconds. */
export const HEARTBEAT_MS = 30_000;
export const LEASE_TTL_MS = 30_000;
/** The leader renews every tenth of the TTL that it was given: two renewals may be lost within the grace. */
export const leaseRenewMs = (ttlMs: number): number => Math.floor(ttlMs / 10);
/**
 * A closed leader stream may come back within a third of the TTL and keep the lease; no leader acts longer without an
 * answer.
 */
export const leaseGraceMs = (ttlMs: number): number => Math.floor(ttlMs / 3);
export const LIVENESS_STALE_MS = 60_000;
export const LIVENESS_DOWN_MS = 120_000;
export const SESSION_REAP_MS = 3_600_000;
export const SIGNATURE_SKEW_SECONDS = 300;
/** Nonces are kept longer than any timestamp can be accepted twice. Decisions 2. */
export const NONCE_KEEP_SECONDS = 660;
/** Limit of deliveries in one frame, and of frames that wait for their attempts. */
export const DELIVERIES_PER_FRAME = 256;
/** Characters of bodies and URLs in one frame, above which the rest goes with the next; one delivery is always sent. */
export const DELIVERY_CHARACTERS_PER_FRAME = 1_000_000;
/**
 * A larger frame closes the stream of an edge. The largest that it is sent is a key set, a record of an instruction or
 * deliveries, two thirds of it.
 */
export const FRAME_BYTES_TO_EDGE_MAX = 2 * 1_024 * 1_024;
/** A message of CCTP without a hook has 376 bytes, an attestation 65 for each signature. */
const MESSAGE_CHARACTERS_MAX = 2_000;
const ATTESTATION_CHARACTERS_MAX = 4_000;
/** Characters of a version of the token registry; today's has 20,000. */
const REGISTRY_CHARACTERS_MAX = 1_500_000;
/** A larger frame closes the stream of its edge: 1,000 local keys, a key set or a record are the largest. */
export const FRAME_BYTES_TO_CLOUD_MAX = 2 * 1_024 * 1_024;
/** Attempts of one frame: small, and each frame is one commit of the database. */
export const ATTEMPTS_PER_FRAME = 1_024;

export const EDGE_VERSION = VERSION;
/** The oldest edge that this cloud understands. Spec §9.4. */
export const EDGE_VERSION_MIN = '1.0.0';

const hex = (bytes: number) =>
  z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`), `expected ${bytes * 2} hex digits, lower case`);
const path = z
  .string()
  .max(64)
  .regex(/^m(\/[0-9]{1,10}'?){1,10}$/, "expected a path as m/44'/60'/0'");

const attestedAt = z
  .string()
  .max(20)
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'expected an instant as 2026-11-30T10:00:00Z');
const attestationSignature = z
  .string()
  .max(86)
  .regex(/^[A-Za-z0-9_-]{86}$/, 'expected 64 bytes in base64url');

// ── REST bodies ──────────────────────────────────────────────────────────────────────────────────────────────────

export const pushedKey = z.strictObject({ family: z.enum(FAMILIES), xpub: shortText(120), accountPath: path });
export const pushedPool = z.strictObject({
  chain: z.enum(POOLED_CHAINS),
  addresses: z.array(z.strictObject({ index: addressIndex, address: shortText(64), path })).max(5_000),
  gasTank: z.strictObject({ address: shortText(64), path }),
});
export const syncBody = z.strictObject({
  edgeVersion: shortText(20),
  sessionId: shortText(40),
  keys: z.array(pushedKey).max(8),
  pools: z.array(pushedPool).max(POOLED_CHAINS.length),
});
export const resumeBody = z.strictObject({ edgeVersion: shortText(20), sessionId: shortText(40) });
export const heartbeatBody = z.strictObject({
  sessionId: shortText(40),
  edgeVersion: shortText(20),
  outboxDepth: count,
  outboxPoisoned: z.boolean(),
  outboxMode: z.enum(['durable', 'memory']),
  podHint: shortText(120).nullable(),
});
export const poolsBody = z.strictObject({ pool: pushedPool });
/** Statements about addresses, of one family, made at one instant; an edge that only asks sends none. payments E5. */
export const attestationsBody = z
  .strictObject({
    batch: z
      .strictObject({
        family: z.enum(ATTESTED_FAMILIES),
        issuedAt: attestedAt,
        validUntil: attestedAt,
        statements: z
          .array(z.strictObject({ index: addressIndex, signature: attestationSignature }))
          .min(1)
          .max(ATTESTATIONS_MAX),
      })
      .nullable(),
    /** Whether those that end soon, and addresses that were lent without one, are asked for too. */
    renew: z.boolean(),
  })
  .meta({
    examples: [
      {
        batch: {
          family: 'evm',
          issuedAt: '2026-11-30T10:00:00Z',
          validUntil: '2026-12-30T10:00:00Z',
          statements: [{ index: 0, signature: 'A'.repeat(86) }],
        },
        renew: false,
      },
    ],
  });
export const signedBody = z.strictObject({
  signedPayload: shortText(400_000),
  txid: shortText(120),
  sessionId: shortText(40),
  leaseEpoch: epoch,
});

/** `gaveUp`: builds whose counter this edge bound before and will not sign now. */
export const bindBody = z.strictObject({ gaveUp: z.array(shortText(40)).max(16) });

/** A local key as replicas see it: signed by the edge's identity, so that the cloud can relay but not invent one. */
export const localKeyRecord = z.strictObject({
  id: z.string().regex(/^ek_[a-z2-7]{26}$/),
  environment: z.enum(['live', 'sandbox']),
  hash: hex(32),
  label: shortText(120),
  prefix: shortText(40),
  createdAtMs: instantMs,
  revokedAtMs: instantMs.nullable(),
  /** Ed25519 over the UTF-8 text `flock-local-key-v1\n` + the fields above joined by `\n` in this order. */
  signature: hex(64),
});

/** A random name of an edge's data directory. */
const replicaName = z.string().regex(/^rep_[a-z2-7]{26}$/);
/** Replicas that a key set names. */
export const KEY_SET_REPLICAS_MAX = 64;

/**
 * All local keys as one replica knows them, signed by the edge's identity: the cloud can relay or withhold, but not
 * invent, alter or mix.
 */
export const keySetRecord = z.strictObject({
  environment: z.enum(['live', 'sandbox']),
  replica: replicaName,
  /** Grows with each document, above every version that its replica had seen. */
  version: countFromOne,
  issuedAtMs: instantMs,
  /** After this nobody takes a key for good because this document states it. */
  validUntilMs: instantMs,
  /** The newest version of each other replica that this document contains. */
  covers: z.array(z.strictObject({ replica: replicaName, version: countFromOne })).max(KEY_SET_REPLICAS_MAX),
  /** Text of the edge's own; the cloud does not read it. edge/local-keys/key-set.ts. */
  keys: shortText(1_500_000),
  /**
   * Ed25519 over `flock-local-key-set-v1`, environment, replica, version, issuedAtMs, validUntilMs, SHA-256 of `replica
   * version` of what it covers joined by commas, SHA-256 of `keys`, joined by `\n`.
   */
  signature: hex(64),
});

/**
 * What a replica's own caller asked for, as the other replicas see it: signed by the edge's identity, so that the cloud
 * can relay or withhold but not invent or alter one.
 */
export const instructionRecord = z.strictObject({
  transactionId: z.string().regex(/^txn_[a-z2-7]{26}$/),
  environment: z.enum(['live', 'sandbox']),
  /** Texts of the edge's own; the cloud does not read them. */
  instruction: shortText(10_000),
  unsigned: shortText(900_000),
  /** When a holder of a local key built, repriced or broadcast it last. */
  askedAtMs: instantMs,
  /** When a holder of a local key broadcast any version of it last; null: nobody did, and no frame has it signed. */
  broadcastAtMs: instantMs.nullable().default(null),
  /** SHA-256 of the `unsigned` that was broadcast then. */
  broadcastUnsigned: hex(32).nullable().default(null),
  /**
   * Ed25519 over `flock-instruction-v2`, environment, transactionId, askedAtMs, SHA-256 of both texts, broadcastAtMs
   * and broadcastUnsigned (empty where null), joined by `\n`.
   */
  signature: hex(64),
});

/** The session id is the edge's own, one for each start of its process: a stream that comes back keeps it. */
export const handshakeAuth = z.strictObject({
  headers: z.record(z.string(), shortText(2_048)),
  sessionId: z.string().regex(/^ses_[a-z2-7]{26}$/),
  edgeVersion: shortText(20),
  podHint: shortText(120).nullable(),
});

// ── Stream frames ────────────────────────────────────────────────────────────────────────────────────────────────

export const welcomeFrame = z.object({
  sessionId: z.string(),
  role: z.enum(EDGE_ROLES),
  leaseEpoch: epoch,
  leaseTtlMs,
  heartbeatMs: timeoutMs,
  serverTimeMs: instantMs,
  /** The first thousand; others follow in `keys`. */
  localKeys: z.array(localKeyRecord).max(1_000),
  /** The cloud carries key sets. */
  keySets: z.boolean().optional(),
  /** The cloud takes `treasury` in heartbeats. */
  treasury: z.boolean().optional(),
});
export const leaseFrame = z.object({ role: z.enum(EDGE_ROLES), leaseEpoch: epoch, leaseTtlMs });

export const deliverFrame = z.object({
  leaseEpoch: epoch,
  deliveries: z
    .array(
      z.object({
        deliveryId: z.string(),
        attempt: serial,
        url: z.string(),
        headers: z.record(z.string(), z.string()),
        /** Sent unchanged: the signature is over these bytes. */
        body: z.string(),
        timeoutMs,
      }),
    )
    .max(DELIVERIES_PER_FRAME),
});
export const attemptsFrame = z.object({
  sessionId: z.string(),
  leaseEpoch: epoch,
  attempts: z
    .array(
      z.object({
        deliveryId: z.string(),
        attempt: serial,
        /** Null when no answer came. Only status and duration go back: never body, headers or error text. */
        statusCode: statusCode.nullable(),
        durationMs,
        retryAfterSeconds: count.nullable(),
        /**
         * `refused`: no connection, for whatever reason. `unverified`: nothing was posted, the customer's own node does
         * not confirm the deposit, or the body can be read in two ways.
         */
        outcome: z.enum(['answered', 'timeout', 'refused', 'failed', 'unverified']),
      }),
    )
    .max(ATTEMPTS_PER_FRAME),
});
const digits = z.string().regex(/^(?:0|[1-9][0-9]{0,77})$/);
/** Digests of allowed treasuries that fit into a heartbeat. */
export const ALLOWED_MAX = 200;
/** What an edge says of itself to the treasury: a cap of zero, the default, is left out. Treasury K15, S27. */
export const edgeTreasury = z.strictObject({
  registryVersion: serial,
  windowSeconds: count,
  caps: z.array(z.strictObject({ chain: z.enum(CHAINS), cap: digits, spent: digits })).max(CHAINS.length),
  /** Entries of EDGE_SWEEP_TREASURY_ALLOWLIST as digests; left out where there are too many. W3. */
  allowed: z
    .array(z.string().regex(/^[0-9a-f]{16}$/))
    .max(ALLOWED_MAX)
    .exactOptional(),
  /** EDGE_SWEEP_FEE_RATIO_BPS. */
  sweepFeeRatioBps: count.exactOptional(),
});
export const heartbeatFrame = heartbeatBody.extend({
  leaseEpoch: epoch,
  /** Now and then, to a cloud whose welcome says `treasury`. */
  treasury: edgeTreasury.exactOptional(),
});
export const heartbeatReply = z.object({
  ok: z.boolean(),
  code: z.string().optional(),
  role: z.enum(EDGE_ROLES),
  leaseEpoch: epoch,
  leaseTtlMs,
});
/** The cloud was asked to broadcast; the edge answers `{ ok: true }` after it submitted, or a refusal. */
export const signFrame = z.object({
  leaseEpoch: epoch,
  transactionId: z.string(),
  /** The record that a replica shared, if one did: the leader may be another one, or came later. */
  record: instructionRecord.nullish(),
});
/** What a bridge's transaction is about beside its own chain. Treasury E5. */
const bridgePart = z.strictObject({
  /** Of an approval and a burn the chain of the mint, of a mint the chain of the burn. */
  otherChain: z.enum(CHAINS),
  /** Who is minted to, and the path of the derived treasury there; null for an allow-listed one. */
  recipient: shortText(120),
  recipientPath: shortText(200).nullable(),
  /** Smallest unit that the burn may keep. */
  maxFee: z.string().regex(/^(?:0|[1-9][0-9]{0,77})$/),
  /** Of a mint, 0x hex. */
  message: shortText(MESSAGE_CHARACTERS_MAX).nullable(),
  attestation: shortText(ATTESTATION_CHARACTERS_MAX).nullable(),
});

/**
 * The cloud asks the leader to sign a transaction of a treasury operation. The edge makes the instruction itself from
 * role and paths; the texts here are only compared with it. It answers `{ ok: true }` after it submitted, or a refusal.
 */
export const operateFrame = z.object({
  leaseEpoch: epoch,
  operationId: z.string().regex(/^(?:swo|brt)_[a-z2-7]{26}$/),
  transactionId: z.string().regex(/^txn_[a-z2-7]{26}$/),
  role: z.enum(OPERATION_ROLES),
  chain: z.enum(CHAINS),
  fromPath: shortText(200),
  from: shortText(120),
  /** Path of the treasury or of the funded address; null for an external treasury. */
  toPath: shortText(200).nullable(),
  to: shortText(120),
  /** Tag of an external treasury whose address has one. */
  tag: shortText(40).nullable(),
  /** Canonical contract; null for the native coin. */
  token: shortText(120).nullable(),
  /** Smallest unit. */
  amount: z.string().regex(/^(?:0|[1-9][0-9]{0,77})$/),
  /** Everything that the address has; a later version may pay less. */
  sendAll: z.boolean(),
  /** Of the roles of a bridge, and of no other. */
  bridge: bridgePart.optional(),
  unsigned,
});
/** A version of the token registry, at connection and at publication: its canonical text, and who signed it. */
export const registryFrame = z.object({
  version: countFromOne,
  content: shortText(REGISTRY_CHARACTERS_MAX),
  signatures: z.array(z.strictObject({ key: hex(32), signature: hex(64) })).max(16),
});
export const instructionsFrame = z.object({ records: z.array(instructionRecord).max(16) });
/** The leader stops: its lease is free at once. */
export const releaseFrame = z.object({ leaseEpoch: epoch });
export const replenishFrame = z.object({
  leaseEpoch: epoch,
  chain: z.enum(POOLED_CHAINS),
  from: addressIndex,
  count: countFromOne,
});
/**
 * Another identity came: until the owner decided and the stream is opened anew, the pinned edge signs nothing. Spec
 * §5.7.
 */
export const rotationFrame = z.object({ rotationId: shortText(40) });
export const localKeysFrame = z.object({ records: z.array(localKeyRecord).max(1_000) });
/** Keys of a `revoke_keys` frame. */
export const REVOKED_AT_ONCE_MAX = 100;
/**
 * An owner asked the cloud to have these local keys revoked. The leader revokes those that it knows and shares their
 * records; it is asked again until the cloud has them. Console A34.
 */
export const revokeKeysFrame = z.object({
  ids: z.array(z.string().regex(/^ek_[a-z2-7]{26}$/)).max(REVOKED_AT_ONCE_MAX),
});
export const keySetFrame = z.object({ set: keySetRecord });
export const acknowledgement = z.object({
  ok: z.boolean(),
  code: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});

export type AttestationsBody = z.output<typeof attestationsBody>;
export type SyncBody = z.infer<typeof syncBody>;
export type EdgeTreasury = z.infer<typeof edgeTreasury>;
export type HeartbeatBody = z.infer<typeof heartbeatBody>;
export type HandshakeAuth = z.infer<typeof handshakeAuth>;
export type HeartbeatReply = z.infer<typeof heartbeatReply>;
export type LeaseFrame = z.infer<typeof leaseFrame>;
export type LocalKeyRecord = z.infer<typeof localKeyRecord>;
export type KeySetRecord = z.infer<typeof keySetRecord>;
export type InstructionRecord = z.infer<typeof instructionRecord>;
export type RegistryFrame = z.infer<typeof registryFrame>;
export type DeliverFrame = z.infer<typeof deliverFrame>;
export type OperateFrame = z.infer<typeof operateFrame>;
export type AttemptsFrame = z.infer<typeof attemptsFrame>;
export type WelcomeFrame = z.infer<typeof welcomeFrame>;
export type Acknowledgement = z.infer<typeof acknowledgement>;
export type ChainSlug = (typeof CHAINS)[number];
