/** What a deployment sets of payments: from which amounts on it takes them, how many addresses wait and how long. */
import { z } from 'zod';
import { MINIMUMS, type Minimums } from '../../../actors/payment/minimum.ts';
import { wholeNumber } from '../../../protocol/node/setting-shapes.ts';

/** The least of a dollar-pegged token, in whole units. */
const tokenMinimum = (usual: string) =>
  z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,2})?$/, 'is an amount such as 10 or 0.5, two decimals at most')
    .default(usual);
const { tokens: USUAL } = MINIMUMS;

export const CHECKOUT_SETTINGS = {
  /** Open pages of payers that a node follows; one more asks from time to time. payments H7. */
  CHECKOUT_STREAMS_MAX: wholeNumber(0, 100_000).default(5_000),
  /** Seconds that a lent address which nobody paid rests before it is lent on, or `never`. payments S13. */
  CHECKOUT_ADDRESS_REST: z.union([z.literal('never'), wholeNumber(1, 31_536_000)]).default(86_400),
  /** Unpaid lent addresses of a family that an account may have; by its plan where it is not set. payments S13. */
  CHECKOUT_UNPAID_MAX: wholeNumber(1, 1_000_000).optional(),
  /** Which share of a native amount its sweep may cost, of 10,000. payments P21. */
  CHECKOUT_MIN_FEE_RATIO_BPS: wholeNumber(1, 10_000).default(1_000),
  CHECKOUT_TOKEN_MINIMUM_ETH: tokenMinimum(USUAL.eth),
  CHECKOUT_TOKEN_MINIMUM_BSC: tokenMinimum(USUAL.bsc),
  CHECKOUT_TOKEN_MINIMUM_POLYGON: tokenMinimum(USUAL.polygon),
  CHECKOUT_TOKEN_MINIMUM_AVAX: tokenMinimum(USUAL.avax),
  CHECKOUT_TOKEN_MINIMUM_BASE: tokenMinimum(USUAL.base),
  CHECKOUT_TOKEN_MINIMUM_TRON: tokenMinimum(USUAL.tron),
};

type Read = z.infer<z.ZodObject<typeof CHECKOUT_SETTINGS>>;

/** As the gateway takes it. */
export const checkoutConfigOf = (config: Read) => ({
  addressRestMs: config.CHECKOUT_ADDRESS_REST === 'never' ? null : config.CHECKOUT_ADDRESS_REST * 1_000,
  ...(config.CHECKOUT_UNPAID_MAX === undefined ? {} : { unpaidMax: config.CHECKOUT_UNPAID_MAX }),
  streamsMax: config.CHECKOUT_STREAMS_MAX,
  minimums: minimumsOf(config),
});

const minimumsOf = (config: Read): Minimums => ({
  feeRatioBps: config.CHECKOUT_MIN_FEE_RATIO_BPS,
  tokens: {
    ...USUAL,
    eth: config.CHECKOUT_TOKEN_MINIMUM_ETH,
    bsc: config.CHECKOUT_TOKEN_MINIMUM_BSC,
    polygon: config.CHECKOUT_TOKEN_MINIMUM_POLYGON,
    avax: config.CHECKOUT_TOKEN_MINIMUM_AVAX,
    base: config.CHECKOUT_TOKEN_MINIMUM_BASE,
    tron: config.CHECKOUT_TOKEN_MINIMUM_TRON,
  },
});
