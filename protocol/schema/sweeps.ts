/** Sweep policies. Spec §2.10; treasury.md 5.1. */
import { z } from 'zod';
import { isRefusal } from '../errors.ts';
import { AMOUNT_DIGITS_MAX, parseAmount } from '../money.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../page.ts';
import { listQuery } from '../envelope.ts';
import {
  CHAINS,
  GAS_FUNDING_MODES,
  SWEEP_ENERGIES,
  SWEEP_JOB_STATES,
  SWEEP_OPERATION_STATES,
  SWEEP_TRIGGERS,
  TRIGGER_MODES,
} from '../slugs.ts';
import { between, count, countFromOne } from './numbers.ts';
import { amount, chain, freeText, instant, pageReply, pathId, pathUuid, replyAmount, tokenText } from './values.ts';

const RATIO_BPS_MAX = 10_000,
  FLOAT_MAX = 100,
  FAILURES_MAX = 100;

/** A count of the smallest unit, zero too. Refuses: INVALID_AMOUNT. */
const amountOrZero = z
  .string()
  .refine((text) => text === '0' || !isRefusal(parseAmount(text)), 'INVALID_AMOUNT')
  .meta({
    pattern: `^(0|[1-9][0-9]{0,${AMOUNT_DIGITS_MAX - 1}})$`,
    description: 'smallest unit',
    examples: ['1000000'],
  });

const settings = z.strictObject({
  chain,
  token: tokenText.nullish().meta({
    description:
      'contract, `CODE:ISSUER`, or a symbol of the catalogue that names one contract of the chain; null: the native coin',
  }),
  enabled: z.boolean().default(false),
  triggerMode: z.enum(TRIGGER_MODES).default('THRESHOLD_AND_SCHEDULE'),
  minAmount: amount.nullish().meta({ description: 'one address that reaches it fires a cycle; not below dustFloor' }),
  scheduleCron: freeText(200)
    .nullish()
    .meta({
      description: 'second minute hour day-of-month month day-of-week; at most once a minute',
      examples: ['0 0 3 * * *'],
    }),
  scheduleTimeZone: freeText(64)
    .default('UTC')
    .meta({ description: 'IANA name', examples: ['Europe/Rome'] }),
  treasuryWalletId: freeText(64),
  gasFundingMode: z
    .enum(GAS_FUNDING_MODES)
    .nullish()
    .meta({ description: 'what the chain and asset allow where it is left out' }),
  fundingWalletId: freeText(64).nullish().meta({ description: 'for FUNDING_WALLET and FEE_PAYER' }),
  dustFloor: amountOrZero.default('0'),
  maxFeeRatioBps: between(0, RATIO_BPS_MAX)
    .nullish()
    .meta({ description: 'cost in ten-thousandths of what an address gives' }),
  abortIfGasExceeds: amount.nullish().meta({ description: 'smallest native unit that one operation may cost' }),
  pauseOnConsecutiveFailures: between(1, FAILURES_MAX).default(3),
  retainGasFloat: between(0, FLOAT_MAX)
    .default(0)
    .meta({ description: 'fees of a native transfer that stay after a native sweep' }),
  closeTokenAccounts: z.boolean().default(false),
  energy: z.enum(SWEEP_ENERGIES).nullish(),
});

const previewHash = freeText(100).nullish().meta({
  description: 'of a preview of these settings; console users need one to enable a policy',
});
const example = {
  chain: 'eth',
  token: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  triggerMode: 'THRESHOLD_AND_SCHEDULE',
  minAmount: '50000000',
  scheduleCron: '0 0 3 * * *',
  treasuryWalletId: 'wal_24pgoiqjq2dgpoqhm7nuhjd5zi',
  gasFundingMode: 'FUNDING_WALLET',
  fundingWalletId: 'fwl_24pgoiqjq2dgpoqhm7nuhjd5zi',
  dustFloor: '1000000',
  maxFeeRatioBps: 500,
};
export const policyBody = settings.extend({ previewHash }).meta({ examples: [example] });
export const policyReplaceBody = settings
  .extend({
    previewHash,
    version: countFromOne.nullish().meta({ description: 'the version that was read: another one is CONFLICT' }),
  })
  .meta({ examples: [example] });
/** Where the pages of a preview end, of one row each. */
const PREVIEW_PAGES = 100_000;
export const previewBody = settings
  .extend({
    treasuryWalletId: freeText(64)
      .nullish()
      .meta({ description: 'null: the derived one, and the hash enables nothing' }),
    page: between(0, PREVIEW_PAGES).default(0),
    size: between(1, PAGE_SIZE_MAX).default(PAGE_SIZE_DEFAULT),
  })
  .meta({
    examples: [
      {
        chain: example.chain,
        token: example.token,
        dustFloor: example.dustFloor,
        maxFeeRatioBps: 500,
        page: 0,
        size: 20,
      },
    ],
  });
const previewRow = z.object({
  address: z.string(),
  userRef: z.string().nullable(),
  amount: replyAmount.meta({ description: 'what a sweep would move; with source ledger what is credited' }),
  uncredited: replyAmount.nullable().meta({ description: 'there and not credited: it stays' }),
  cost: replyAmount.nullable().meta({ description: 'the most that it can cost, smallest native unit' }),
  fundingNeeded: replyAmount.nullable().meta({ description: 'gas from the tank, smallest native unit' }),
  feeRatioBps: count.nullable().meta({ description: 'rounded up, at most a thousand million; null without a rate' }),
  decision: z.enum(['take', 'skip']),
  reason: z.string().nullable().meta({ description: 'null where it is taken' }),
  source: z.enum(['chain', 'ledger']),
});
const previewTotal = z.object({
  decision: z.string().meta({ description: '`take`, or the reason that the ledger alone knows' }),
  count,
  amount: replyAmount,
});
export const preview = z.object({
  token: z.string().nullable().meta({ description: 'contract; null: the native coin' }),
  totals: z
    .array(previewTotal)
    .meta({ description: 'of all addresses, from the ledger: the chain is asked for the page' }),
  totalElements: count,
  isComplete: z.boolean().meta({ description: 'false: totals and pages are the 100,000 largest' }),
  page: count,
  size: count,
  content: z.array(previewRow).meta({ description: 'taken, largest first' }),
  skipped: z.array(previewRow).meta({ description: 'of the same page' }),
  needsGas: z.object({ count, amount: replyAmount }).nullable().meta({ description: 'of the page, as the next three' }),
  cost: z
    .object({
      sweep: replyAmount,
      funding: replyAmount,
      activation: replyAmount.meta({ description: 'accounts that the tank makes' }),
      rent: replyAmount.meta({ description: 'the account that a sweep makes at the treasury' }),
      l1: replyAmount.meta({ description: 'what the chain under this one takes' }),
    })
    .nullable()
    .meta({ description: 'the most that it can cost, smallest native unit: the sum of its parts' }),
  required: z.object({ edgeSpendCap: replyAmount }).nullable(),
  edge: z.object({ cap: replyAmount, spent: replyAmount }).nullable().meta({
    description:
      'EDGE_SPEND_CAP of the chain at the leader, and what of it is spent within its window; null until it said so',
  }),
  fundingWallet: z.object({ available: replyAmount, enough: z.boolean() }).nullable(),
  rate: z
    .object({
      numerator: z.string(),
      denominator: z.string(),
      observedAt: instant
        .nullable()
        .meta({ description: 'null of the native coin, and of the fixed ones of a sandbox' }),
    })
    .nullable()
    .meta({ description: 'smallest units of the asset for one smallest native unit; null: `no_rate`' }),
  feeSample: z
    .object({
      sweep: replyAmount.meta({ description: 'the most that one sweep may cost' }),
      need: replyAmount.meta({ description: 'what must lie on an address for it' }),
      funding: replyAmount.meta({ description: 'the most that sending it that may cost' }),
      activation: replyAmount.meta({ description: 'more of it where the address is not on the chain' }),
      rent: replyAmount.meta({ description: 'more of the first sweep, where it makes an account at the treasury' }),
    })
    .nullable()
    .meta({ description: 'what the chain said now, by which the page is decided; null where the page is empty' }),
  asOf: z.object({ height: count, at: instant }).nullable().meta({ description: 'null where no chain was read' }),
  registryVersion: count,
  previewHash: z.string(),
  expiresAt: instant,
});

export const policyParams = z.strictObject({ policyId: pathUuid });

const lastCycle = z.object({
  at: instant,
  result: z.enum(['COMPLETED', 'PARTIAL', 'FAILED', 'nothing_due', 'deferred']),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'of a failure, of what was skipped, or of what a firing waits for' }),
  jobId: z.string().nullable(),
});
const blocked = z
  .object({
    reason: z.string(),
    setting: z.string().nullable().meta({ description: 'of the edge, as EDGE_SPEND_CAP_ETH' }),
    cap: z.string().nullable(),
    spent: z.string().nullable(),
    required: z.string().nullable(),
    windowSeconds: count.nullable(),
  })
  .meta({ description: 'the setting of the edge that keeps it from signing, what it is and what is needed' });

export const policy = z.object({
  id: z.uuid(),
  version: countFromOne,
  chain: z.enum(CHAINS),
  token: z.string().nullable().meta({ description: 'contract; null: the native coin' }),
  enabled: z.boolean(),
  triggerMode: z.enum(TRIGGER_MODES),
  minAmount: replyAmount.nullable(),
  scheduleCron: z.string().nullable(),
  scheduleTimeZone: z.string(),
  treasuryWalletId: z.string(),
  gasFundingMode: z.enum(GAS_FUNDING_MODES),
  fundingWalletId: z.string().nullable(),
  dustFloor: replyAmount,
  maxFeeRatioBps: count.nullable(),
  abortIfGasExceeds: replyAmount.nullable(),
  pauseOnConsecutiveFailures: count,
  retainGasFloat: count,
  closeTokenAccounts: z.boolean(),
  energy: z.enum(SWEEP_ENERGIES).nullable(),
  pausedAt: instant.nullable(),
  pausedReason: z.string().nullable().meta({ description: '`manual`, or the reason of the last failed cycle' }),
  consecutiveFailures: count,
  nextRunAt: instant.nullable().meta({ description: 'null while no schedule fires it' }),
  openJobId: z.string().nullable(),
  lastCycle: lastCycle.nullable(),
  blocked: blocked.nullable(),
  createdAt: instant,
  updatedAt: instant,
});
export const policyPage = pageReply(policy);

export const policyRun = z.object({
  jobId: z.string().nullable().meta({ description: 'the open job; null where nothing is due' }),
  result: z.enum(['running', 'nothing_due']),
  reason: z.string().nullable().meta({ description: 'why most addresses were skipped, where nothing is due' }),
});

export const jobParams = z.strictObject({ id: pathId('swj') });
export const jobsQuery = listQuery({ policyId: z.uuid().exactOptional() });
export const job = z.object({
  id: z.string(),
  policyId: z.string(),
  chain: z.enum(CHAINS),
  token: z.string().nullable(),
  trigger: z.enum(SWEEP_TRIGGERS),
  state: z.enum(SWEEP_JOB_STATES),
  run: count.meta({ description: '1, and one more with each retry' }),
  blocked: blocked.nullable(),
  createdAt: instant,
  updatedAt: instant,
  endedAt: instant.nullable(),
});
export const jobPage = pageReply(job);
export const operation = z.object({
  id: z.string(),
  address: z.string(),
  state: z.enum(SWEEP_OPERATION_STATES),
  reason: z.string().nullable(),
  attempt: count,
  amount: replyAmount,
  estimate: replyAmount.meta({ description: 'the most that it was planned to cost, smallest native unit' }),
  funding: replyAmount.nullable().meta({ description: 'gas from the tank; null where none was sent' }),
  paid: replyAmount.nullable().meta({ description: 'fees in blocks, smallest native unit' }),
  fundTransactionId: z.string().nullable(),
  sweepTransactionId: z.string().nullable().meta({ description: 'null before it is built' }),
  blocked: blocked.nullable(),
  updatedAt: instant,
});
const jobSettings = policy
  .pick({
    treasuryWalletId: true,
    fundingWalletId: true,
    gasFundingMode: true,
    dustFloor: true,
    maxFeeRatioBps: true,
    abortIfGasExceeds: true,
    retainGasFloat: true,
  })
  .meta({ description: 'of its policy when it was planned' });
export const jobWhole = job.extend({
  settings: jobSettings,
  amount: replyAmount.meta({ description: 'swept, smallest unit of the asset' }),
  estimate: replyAmount,
  paid: replyAmount,
  counts: z.record(z.enum(SWEEP_OPERATION_STATES), count).meta({
    description: 'operations in each state',
    examples: [{ PLANNED: 0, FUNDING: 0, SIGNING: 0, BROADCAST: 0, CONFIRMED: 15, FAILED: 0, SKIPPED: 5 }],
  }),
  operations: z.array(operation).meta({ description: 'all of them: a job has at most 500' }),
});
