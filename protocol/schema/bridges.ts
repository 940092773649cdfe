/** Bridge policies and their transfers. Spec §2.10; treasury.md H2–H5. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import { BRIDGE_STATES, CHAINS } from '../slugs.ts';
import { between, count, countFromOne } from './numbers.ts';
import { amount, chain, freeText, instant, pageReply, pathId, pathUuid, replyAmount, tokenText } from './values.ts';

const IN_FLIGHT_MAX = 100;

const settings = z.strictObject({
  fromChain: chain,
  toChain: chain,
  token: tokenText.default('USDC').meta({
    description: 'contract of the chain that it is burnt on, or a symbol of the catalogue',
  }),
  sourceWalletId: freeText(64).meta({ description: 'a derived treasury wallet of `fromChain`' }),
  destinationWalletId: freeText(64).meta({
    description:
      'a treasury wallet of `toChain`; an external one needs an entry that names its chain in EDGE_SWEEP_TREASURY_ALLOWLIST',
  }),
  maxSingleTransfer: amount,
  maxInFlightValue: amount,
  maxInFlightCount: between(1, IN_FLIGHT_MAX),
  enabled: z.boolean().default(false),
});
const example = {
  fromChain: 'eth',
  toChain: 'base',
  token: 'USDC',
  sourceWalletId: 'wal_24pgoiqjq2dgpoqhm7nuhjd5zi',
  destinationWalletId: 'wal_24pgoiqjq2dgpoqhm7nuhjd5zj',
  maxSingleTransfer: '1000000000',
  maxInFlightValue: '3000000000',
  maxInFlightCount: 3,
  enabled: true,
};
export const bridgePolicyBody = settings.meta({ examples: [example] });
export const bridgePolicyReplaceBody = settings
  .extend({
    version: countFromOne.nullish().meta({ description: 'the version that was read: another one is CONFLICT' }),
  })
  .meta({ examples: [example] });
export const bridgePolicyParams = z.strictObject({ policyId: pathUuid });

export const bridgePolicy = z.object({
  id: z.string(),
  version: count,
  fromChain: z.enum(CHAINS),
  toChain: z.enum(CHAINS),
  token: z.string().meta({ description: 'contract of the chain that it is burnt on' }),
  sourceWalletId: z.string(),
  destinationWalletId: z.string(),
  maxSingleTransfer: replyAmount,
  maxInFlightValue: replyAmount,
  maxInFlightCount: count,
  enabled: z.boolean(),
  inFlightCount: count.meta({ description: 'accepted, and neither arrived nor proven never burnt' }),
  inFlightValue: replyAmount,
  createdAt: instant,
  updatedAt: instant,
});
export const bridgePolicyPage = pageReply(bridgePolicy);

export const bridgeTransferBody = z
  .strictObject({ policyId: z.uuid(), amount })
  .meta({ examples: [{ policyId: '0198c0de-0000-7000-8000-000000000002', amount: '1000000000' }] });
export const bridgeTransferParams = z.strictObject({ id: pathId('brt') });
export const bridgeTransfersQuery = listQuery({ policyId: z.uuid().exactOptional() });

const blocked = z.object({
  reason: z.string(),
  setting: z.string().nullable().meta({ description: 'of the edge' }),
  cap: z.string().nullable(),
  spent: z.string().nullable(),
  required: z.string().nullable(),
});
export const bridgeTransfer = z.object({
  id: z.string(),
  policyId: z.string(),
  fromChain: z.enum(CHAINS),
  toChain: z.enum(CHAINS),
  token: z.string(),
  source: z.string(),
  recipient: z.string(),
  amount: replyAmount,
  maxFee: replyAmount.nullable().meta({ description: 'what the burn lets the bridge keep; null before it is read' }),
  received: replyAmount.nullable().meta({ description: 'null before it arrived' }),
  state: z.enum(BRIDGE_STATES),
  reason: z.string().nullable().meta({ description: 'why it failed: nothing was burnt' }),
  stalled: z
    .object({ since: instant, reason: z.string() })
    .nullable()
    .meta({ description: 'it is burnt and does not go on; it is asked for until it does' }),
  blocked: blocked.nullable().meta({ description: 'what the edge said when it signed nothing' }),
  approveTransactionId: z.string().nullable().meta({ description: 'null before it is built' }),
  burnTransactionId: z.string().nullable(),
  mintTransactionId: z.string().nullable(),
  createdAt: instant,
  updatedAt: instant,
  endedAt: instant.nullable(),
});
export const bridgeTransferPage = pageReply(bridgeTransfer);
