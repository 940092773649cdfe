/** From which amounts on a deployment takes payments, as its environment says it. payments P21. */
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

export const MINIMUM_SETTINGS = {
  /** Which share of a native amount its sweep may cost, of 10,000. */
  CHECKOUT_MIN_FEE_RATIO_BPS: wholeNumber(1, 10_000).default(MINIMUMS.feeRatioBps),
  CHECKOUT_TOKEN_MINIMUM_ETH: tokenMinimum(USUAL.eth),
  CHECKOUT_TOKEN_MINIMUM_BSC: tokenMinimum(USUAL.bsc),
  CHECKOUT_TOKEN_MINIMUM_POLYGON: tokenMinimum(USUAL.polygon),
  CHECKOUT_TOKEN_MINIMUM_AVAX: tokenMinimum(USUAL.avax),
  CHECKOUT_TOKEN_MINIMUM_BASE: tokenMinimum(USUAL.base),
  CHECKOUT_TOKEN_MINIMUM_TRON: tokenMinimum(USUAL.tron),
};

type Read = { readonly [Name in keyof typeof MINIMUM_SETTINGS]: z.infer<(typeof MINIMUM_SETTINGS)[Name]> };

export const minimumsOf = (config: Read): Minimums => ({
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
