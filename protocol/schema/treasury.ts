/** Treasury and funding wallets. Spec §2.10; treasury.md W1–W8. */
import { z } from 'zod';
import { wholeQuery } from '../envelope.ts';
import { CHAINS, WALLET_WARNINGS } from '../slugs.ts';
import { balance } from './addresses.ts';
import { count } from './numbers.ts';
import { addressText, amount, chain, freeText, instant, pageReply, pathId, replyAmount } from './values.ts';

export const WALLET_SOURCES = ['derived', 'external'] as const;

export const walletBody = z
  .strictObject({
    chain,
    source: z.enum(WALLET_SOURCES),
    address: addressText.nullish().meta({
      description:
        'of an external wallet only; an X-address or a muxed account carries its tag. The edge sweeps there only if EDGE_SWEEP_TREASURY_ALLOWLIST names it',
    }),
    label: freeText(200).nullish(),
  })
  .refine(({ source, address }) => (source === 'external') === (address != null), {
    path: ['address'],
    error: 'an external wallet names its address, a derived one has none',
  })
  .meta({ examples: [{ chain: 'eth', source: 'derived', label: 'main' }] });

export const wallet = z.object({
  id: z.string(),
  chain: z.enum(CHAINS),
  source: z.enum(WALLET_SOURCES),
  address: z.string().nullable().meta({
    description: 'null of a derived wallet while no key of its chain is registered; it follows the pinned identity',
  }),
  tag: z.string().nullable().meta({ description: 'the tag inside an external address; null for none' }),
  derivationPath: z.string().nullable().meta({ description: 'null of an external wallet' }),
  label: z.string().nullable(),
  allowlisted: z.boolean().nullable().meta({
    description: 'whether the leader edge sweeps there; null until it said so, and where its list is very long',
  }),
  warnings: z.array(z.enum(WALLET_WARNINGS)).meta({
    description:
      '`contract_elsewhere`: when it was registered, an EVM address with code on another network and none on this one',
  }),
  createdAt: instant,
});
export const walletPage = pageReply(wallet);
export const walletParams = z.strictObject({ id: pathId('wal') });
export const walletBalancePage = pageReply(balance);
export const walletBalancesQuery = wholeQuery;

export const fundingWalletBody = z.strictObject({
  chain,
  label: freeText(200).nullish(),
  lowBalance: amount.nullish().meta({
    description:
      'smallest native unit below which the tank is low; twenty sweeps at the fees of the moment where it is left out',
  }),
});

export const TANK_REASONS = ['chain_unavailable', 'not_needed', 'not_ready'] as const;

export const fundingWallet = z.object({
  id: z.string(),
  chain: z.enum(CHAINS),
  address: z
    .string()
    .nullable()
    .meta({ description: 'the gas tank; null while no key or pool of its chain is registered' }),
  derivationPath: z.string().nullable(),
  label: z.string().nullable(),
  balance: replyAmount
    .nullable()
    .meta({ description: 'null while the chain cannot be read: never a zero in its place' }),
  available: replyAmount.nullable().meta({ description: "balance minus the chain's reserve" }),
  lowBalance: replyAmount.nullable().meta({ description: 'null where none was set and none can be estimated' }),
  isLow: z.boolean().nullable().meta({ description: 'null while it cannot be said' }),
  estimatedSweepsRemaining: count.nullable().meta({
    description: 'token sweeps that the tank pays for at the fees of the moment; null with a reason',
  }),
  reason: z.enum(TANK_REASONS).nullable().meta({
    description:
      '`not_needed`: sweeps of the chain pay for themselves; `chain_unavailable`, `not_ready`: nothing can be said now',
  }),
  asOf: instant,
  createdAt: instant,
});
export const fundingWalletPage = pageReply(fundingWallet);
