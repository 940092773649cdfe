/** Addresses, balances and fees. Spec §2.3, §2.4, §4.2. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import { ADDRESS_STATUSES, CHAINS, ENVIRONMENTS } from '../slugs.ts';
import {
  addressText,
  amount,
  chain,
  freeText,
  instant,
  money,
  pageReply,
  pathId,
  pathText,
  replyAmount,
  tokenText,
} from './values.ts';
import { decimals, shown } from './numbers.ts';

/** Decisions 3. */
const USER_REF_CHARS_MAX = 255;
export const userRef = freeText(USER_REF_CHARS_MAX);
export const tag = freeText(100);

export const createAddressBody = z.strictObject({
  chain,
  userRef: userRef.meta({ description: "the caller's customer id, 1–255 characters; opaque, echoed on every webhook" }),
  tag: tag.nullish(),
  label: freeText(200).nullish(),
});

export const address = z.object({
  id: z.string(),
  chain: z.enum(CHAINS),
  address: z.string(),
  derivationPath: z.string().nullable().meta({
    description:
      'absolute; enough to recover the address from the recovery phrase; null: adopted, and nobody has its key',
  }),
  environment: z.enum(ENVIRONMENTS),
  userRef: z.string().nullable().meta({ description: 'null for an own address, as of a treasury' }),
  tag: z.string().nullable().meta({ description: 'null where none was given' }),
  label: z.string().nullable().meta({ description: 'null where none was given' }),
  status: z.enum(ADDRESS_STATUSES),
  reserveDrops: z.string().optional().meta({ description: 'smallest first deposit of an `xlm` address, in stroops' }),
  createdAt: instant,
  projectId: z
    .string()
    .optional()
    .meta({ description: 'only of addresses that a migration adopted, like what follows' }),
  batchId: z.string().optional(),
  mode: z.enum(['observe', 'active']).optional(),
  spendable: z
    .boolean()
    .optional()
    .meta({ description: 'whether an edge of the account signs for it: once its project is active' }),
});

export const addressParams = z.strictObject({ id: pathId('adr') });
export const addressPage = pageReply(address);
export const listAddressesQuery = listQuery({
  chain: chain.exactOptional(),
  userRef: userRef.exactOptional(),
  tag: tag.exactOptional(),
  status: z.enum(ADDRESS_STATUSES).exactOptional(),
});

export const trustlineParams = z.strictObject({ address: addressText });
export const trustlineBody = z.strictObject({ chain, asset: tokenText });

export const balance = money.extend({
  chain: z.enum(CHAINS),
  address: z.string(),
  tokenContract: z.string().nullable().meta({ description: "null for the chain's native coin" }),
  tokenSymbol: z.string(),
  reserved: replyAmount.meta({ description: 'locked minimum: reserve, rent, minimum balance' }),
  available: replyAmount.meta({ description: 'amount minus reserved' }),
  accountExists: z.boolean(),
});
export const balancePage = pageReply(balance);
export const listBalancesQuery = listQuery({
  chain: chain.exactOptional(),
  userRef: userRef.exactOptional(),
  tag: tag.exactOptional(),
});
export const balanceParams = z.strictObject({ chain, address: addressText });
export const tokenBalanceParams = balanceParams.extend({ token: pathText(160) });

export const feeParams = z.strictObject({ chain });
export const feeQuery = z.strictObject({
  from: addressText.optional(),
  to: addressText.optional(),
  amount: amount.optional(),
  tokenContract: tokenText.optional(),
});
export const fee = z.object({
  chain: z.enum(CHAINS),
  symbol: z.string(),
  decimals,
  fee: replyAmount.meta({ description: 'expected fee, smallest native unit' }),
  feeFormatted: z.string(),
  feeMax: replyAmount.meta({ description: 'highest fee, smallest native unit' }),
  feeMaxFormatted: z.string(),
  parts: z.record(z.string(), z.union([z.string(), shown])),
});
