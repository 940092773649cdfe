/** Events of sweeps and of bridge transfers. Treasury S25, H11. */
import { z } from 'zod';
import { CHAINS } from '../slugs.ts';
import { count } from './numbers.ts';

export const bridge = z.object({
  transferId: z.string(),
  policyId: z.string(),
  fromChain: z.enum(CHAINS),
  toChain: z.enum(CHAINS),
  asset: z.string(),
  tokenContract: z.string().meta({ description: 'of the chain that it is burnt on' }),
  state: z.string(),
  amount: z.string().meta({ description: 'burnt, smallest unit of the asset' }),
  received: z.string().nullable().meta({ description: 'minted, smallest unit; null before it arrived' }),
  recipient: z.string(),
  burnTransactionId: z.string(),
  mintTransactionId: z.string().nullable(),
  reason: z.string().nullable().meta({ description: 'why it does not go on; null where it arrived' }),
});
export const bridgeExample = {
  transferId: 'brt_24pgoiqw3bskzmtq2fhbqkfudu',
  policyId: '0198c0de-0000-7000-8000-000000000002',
  fromChain: 'eth',
  toChain: 'base',
  asset: 'USDC',
  tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  state: 'COMPLETED',
  amount: '1000000000',
  received: '1000000000',
  recipient: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  burnTransactionId: 'txn_24pgoiqw3bskzmtq2fhbqkfudu',
  mintTransactionId: 'txn_24pgoiqw3bskzmtq2fhbqkfuee',
  reason: null,
} satisfies z.output<typeof bridge>;

export const sweep = z.object({
  jobId: z.string(),
  policyId: z.string(),
  chain: z.enum(CHAINS),
  asset: z.string(),
  tokenContract: z.string().nullable(),
  state: z.string(),
  amount: z.string().meta({ description: 'swept, smallest unit of the asset' }),
  feeEstimated: z.string().meta({ description: 'smallest native unit' }),
  feePaid: z.string().meta({ description: 'smallest native unit' }),
  operations: z.object({ confirmed: count, failed: count, skipped: count }),
  run: count.meta({ description: '1, and one more with each retry' }),
  reason: z.string().nullable().meta({ description: 'why operations failed; null where none did' }),
});
export const sweepExample = {
  jobId: 'swj_24pgoiqw3bskzmtq2fhbqkfudu',
  policyId: '0198c0de-0000-7000-8000-000000000001',
  chain: 'eth',
  asset: 'USDC',
  tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  state: 'COMPLETED',
  amount: '25000000',
  feeEstimated: '120000000000000',
  feePaid: '90000000000000',
  operations: { confirmed: 5, failed: 0, skipped: 1 },
  run: 1,
  reason: null,
} satisfies z.output<typeof sweep>;
