/** Scans for used addresses below the keys of a source. Spec §2.12, §4.8. */
import { z } from 'zod';
import {
  EVIDENCE,
  SCAN_ENDS,
  SCAN_MAX,
  SCAN_REVIEWS,
  SCAN_STATES,
  SCAN_TEMPLATES,
  SCAN_WARNINGS,
} from '../migration/words.ts';
import { CHAINS } from '../slugs.ts';
import { between, count, height } from './numbers.ts';
import { chain, instant, pageReply, pathId, shortText } from './values.ts';

/** Bytes of a list of references. */
export const MAPPING_CHARS_MAX = 1_048_576;
const TOKENS_MAX = 20;

export const scanParams = z.strictObject({ scanId: pathId('scn') });
export const discoverBody = z.strictObject({
  keySourceId: shortText(64),
  chain,
  gapLimit: between(1, 1_000).exactOptional().meta({
    description: 'unused indexes in a row after which it ends: 20, or 1,000 where spent outputs are not seen',
  }),
  maxScan: between(1, SCAN_MAX)
    .exactOptional()
    .meta({ description: 'indexes that are read at most: 10,000; more waits for an administrator' }),
  probeTokens: z
    .array(z.string().min(1).max(64))
    .max(TOKENS_MAX)
    .exactOptional()
    .meta({ description: 'symbols of tokens whose balances count as use' }),
  userRefMappingCsv: z.string().max(MAPPING_CHARS_MAX).exactOptional().meta({
    description: 'two columns, `derivation_index,user_ref`',
    contentMediaType: 'text/csv',
    example: 'derivation_index,user_ref\n0,customer-1',
  }),
  branches: z
    .array(between(0, 1))
    .min(1)
    .max(2)
    .exactOptional()
    .meta({ description: '0 are receiving addresses, 1 is change: both on btc, 0 elsewhere' }),
  template: z
    .enum(SCAN_TEMPLATES)
    .exactOptional()
    .meta({ description: '`each`: every extended key of the source is an account with one address' }),
});

export const scan = z.object({
  id: z.string(),
  scanId: z.string(),
  projectId: z.string(),
  keySourceId: z.string(),
  chain: z.enum(CHAINS),
  networks: z.array(z.enum(CHAINS)).meta({ description: 'those that are read' }),
  state: z.enum(SCAN_STATES),
  gapLimit: count,
  maxScan: count,
  requestedMaxScan: count.nullable(),
  review: z.enum(SCAN_REVIEWS).nullable(),
  scanned: count,
  found: count,
  lastUsedIndex: count.nullable(),
  largestGap: count.meta({ description: 'unused indexes in a row between two used ones' }),
  unread: count.meta({ description: 'indexes that could not be read yet: none of them is taken for unused' }),
  truncated: z.boolean().meta({ description: 'it ended at `maxScan`: there may be more' }),
  stoppedBy: z.enum(SCAN_ENDS).nullable(),
  evidence: z.enum(EVIDENCE).nullable(),
  headHeight: height.nullable(),
  etaSeconds: count.nullable().meta({ description: 'until `maxScan`, at the pace so far' }),
  warnings: z.array(z.enum(SCAN_WARNINGS)),
  reason: z.string().nullable().meta({ description: 'why it waits, or failed' }),
  estimate: z
    .object({ indexes: count, requests: count, seconds: count })
    .meta({ description: 'up to `maxScan`, by what the chain costs' }),
  createdAt: instant,
  endedAt: instant.nullable(),
});
export const scanAddress = z.object({
  index: count,
  branch: between(0, 1),
  address: z.string(),
  derivationPath: z.string(),
  used: z.boolean(),
  userRef: z.string().nullable(),
});
export const scanAddressPage = pageReply(scanAddress);
export const scanLimits = z.object({
  content: z.array(scan.extend({ accountId: z.string() })),
  next: z.string().nullable(),
});
