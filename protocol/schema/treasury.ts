/** Treasury wallets. Spec §2.10; treasury.md W1–W4. */
import { z } from 'zod';
import { wholeQuery } from '../envelope.ts';
import { CHAINS } from '../slugs.ts';
import { balance } from './addresses.ts';
import { addressText, chain, freeText, instant, pageReply, pathId } from './values.ts';

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
  });

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
  createdAt: instant,
});
export const walletPage = pageReply(wallet);
export const walletParams = z.strictObject({ id: pathId('wal') });
export const walletBalancePage = pageReply(balance);
export const walletBalancesQuery = wholeQuery;
