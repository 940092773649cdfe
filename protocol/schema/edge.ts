/** Paths between edge and cloud, and what an application may read of them. Spec §2.8, §4.3; bodies in ../frames.ts. */
import { z } from 'zod';
import { ATTESTED_FAMILIES } from '../attestation.ts';
import { CHAINS, EDGE_ROLES, LIVENESS, READINESS } from '../slugs.ts';
import { freeText, instant, pageReply, pathId } from './values.ts';
import { addressIndex, count, epoch, instantMs, leaseTtlMs, percent, serial } from './numbers.ts';

export const edgeHealth = z.object({
  status: z.literal('ok'),
  webhooksBlocked: z
    .array(
      z.object({
        target: z.string().meta({ description: '`host:port` of the webhook' }),
        reason: z.string(),
        setting: z.string().nullable(),
        next: z.string(),
        count,
        since: instant,
      }),
    )
    .exactOptional()
    .meta({
      description: 'of an edge: where its own policy or name server keeps webhooks from; never sent to the cloud',
    }),
});

export const lease = z.object({
  state: z.enum(['held', 'vacant']),
  epoch,
  holder: z.string().nullable(),
  expiresAt: instant.nullable(),
});
export const outbox = z.object({
  outboxDepth: count,
  outboxPoisoned: z.boolean(),
  outboxMode: z.string().nullable(),
  poisonedBy: z
    .object({ subject: z.string(), kind: z.string(), code: z.string(), tries: count })
    .nullable()
    .exactOptional()
    .meta({ description: 'at the edge only: the write that holds the queue, and why' }),
  setAside: count
    .exactOptional()
    .meta({ description: 'at the edge only: writes that an operator took out of the queue' }),
});
export const readiness = z.object({
  chain: z.enum(CHAINS),
  state: z.enum(READINESS),
  reason: z.string().nullable(),
  xpub: z.string().nullable().meta({ description: 'first eight and last four characters' }),
  poolLevelPercent: percent.nullable(),
});
export const readinessPage = pageReply(readiness);
export const session = z.object({
  id: z.string(),
  role: z.enum(EDGE_ROLES),
  edgeVersion: z.string(),
  liveness: z.enum(LIVENESS),
  leaseEpoch: epoch,
  outboxMode: z.string(),
  outboxDepth: count,
  outboxPoisoned: z.boolean(),
  registryVersion: serial.nullable().meta({ description: 'of the token registry that it has; null until it said so' }),
  podHint: z.string().nullable(),
  lastHeartbeatAt: instant,
  startedAt: instant,
  endedAt: instant.nullable(),
});
export const sessionPage = pageReply(session);
export const gasTankPage = pageReply(
  z.object({
    chain: z.enum(CHAINS),
    address: z.string(),
    derivationPath: z.string(),
  }),
);

export const syncReply = z.object({ outcome: z.enum(['enrolled', 'keys_added']), readiness: z.array(readiness) });
export const resumeReply = z.object({ readiness: z.array(readiness) });
export const heartbeatReply = z.object({
  role: z.enum(EDGE_ROLES),
  leaseEpoch: epoch,
  leaseTtlMs,
  serverTimeMs: instantMs,
});
export const poolReply = z.object({ size: count, unused: count });
export const attestationsReply = z.object({
  wanted: z
    .array(z.object({ family: z.enum(ATTESTED_FAMILIES), from: addressIndex, count }))
    .meta({ description: 'indexes of customers whose addresses have no statement, or one that ends soon' }),
});

/** Edge side only: local keys. Spec §2.8. */
export const localKeyBody = z.strictObject({
  label: freeText(120),
  expiresAt: instant.optional().meta({
    description: 'when the key stops to be good; not after the key that mints it, whose expiry it has when left out',
  }),
});
export const localKeyParams = z.strictObject({ id: pathId('ek') });
const mintedBy = z
  .string()
  .nullable()
  .meta({ description: 'the local key by which it was minted; null for the command line' });
const expiresAt = instant.nullable();
export const localKey = z.object({
  id: z.string(),
  label: z.string(),
  prefix: z.string().meta({ description: 'masked' }),
  mintedBy,
  createdAt: instant,
  expiresAt,
  revokedAt: instant.nullable(),
});
export const localKeyCreated = z.object({
  id: z.string(),
  label: z.string(),
  key: z.string().meta({ description: 'shown once; begins `loc_live_` or `loc_test_`' }),
  prefix: z.string(),
  mintedBy,
  expiresAt,
});
export const localKeyRevoked = localKey.extend({
  alsoRevoked: z.array(z.string()).meta({ description: 'keys that it minted, and that those minted: revoked with it' }),
});
export const localKeyPage = pageReply(localKey);
