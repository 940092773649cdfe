/** The audit log. Console U. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import { count } from './numbers.ts';
import { freeText, instant, pathId } from './values.ts';

const when = z.iso.datetime({ offset: true });
export const auditQuery = listQuery({
  actor: freeText(40).optional().meta({ description: 'id of a user or key' }),
  action: freeText(60).optional().meta({ description: 'an operation of this description, as `mintApiKey`' }),
  target: freeText(80).optional().meta({ description: 'id of what it was about' }),
  outcome: z.enum(['done', 'refused', 'failed']).optional(),
  from: when.optional(),
  to: when.optional().meta({ description: 'before this instant' }),
});

const value = z.union([z.string(), count, z.boolean(), z.null(), z.array(z.string()).readonly()]);
export const auditEntry = z.object({
  seq: count,
  at: instant,
  actor: z.object({
    kind: z.enum(['user', 'key', 'edge', 'admin', 'system']),
    id: z.string().nullable(),
    name: z.string().nullable().meta({ description: 'email or label of then' }),
  }),
  via: z.enum(['console', 'api_key', 'edge', 'command_line', 'job']),
  action: z.string(),
  target: z.string().nullable(),
  environment: z.string().nullable(),
  outcome: z.enum(['done', 'refused', 'failed']),
  reason: z.string().nullable(),
  changes: z
    .record(z.string(), z.tuple([value, value]).readonly())
    .nullable()
    .meta({ description: 'old and new value of each field that changed' }),
  ip: z.string().nullable(),
  client: z.string().nullable(),
  requestId: z.string().nullable(),
  hash: z.string().meta({ description: 'SHA-256 of the hash before and this text, hex' }),
});
export const auditPage = z.object({
  content: z.array(auditEntry),
  next: z.string().nullable().meta({ description: 'cursor of what follows; a page with few entries may have one' }),
});

export const checkpoint = z.object({
  organization: z.string(),
  seq: count,
  hash: z.string(),
  at: instant,
  kid: z.string().meta({ description: 'key of `/.well-known/jwks.json`' }),
  signature: z.string().meta({ description: 'Ed25519, base64url' }),
});
export const verifyBody = z.strictObject({
  checkpoint: z
    .strictObject({
      organization: pathId('org'),
      seq: count,
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      at: freeText(40),
      kid: freeText(60),
      signature: freeText(120),
    })
    .optional()
    .meta({ description: 'one that was kept from earlier: a log that does not continue it was rewritten' }),
});
export const verified = z.object({
  ok: z.boolean(),
  checkpoint,
  problems: z.array(z.object({ seq: count, problem: z.enum(['missing', 'changed', 'reordered', 'cut', 'rewritten']) })),
});
/** What an edge asks with: null before it kept a checkpoint. */
export const continuationBody = z.strictObject({
  behind: count
    .nullable()
    .meta({ description: '`seq` up to which the edge knows the chain; null: the checkpoint alone' }),
});
export const continuation = z.object({
  checkpoint,
  entries: z
    .array(z.object({ seq: count, hash: z.string(), text: z.string().nullable() }))
    .meta({ description: 'in their order, behind `behind`; fewer than there are where they are many: ask again' }),
});
export const exportQuery = z.strictObject({ format: z.enum(['jsonl', 'csv']).default('jsonl') });
