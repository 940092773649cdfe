/** The caps of every replica of a story, and the window that they hold for. */
import type { SpendCaps } from '../../edge/spend/caps.ts';

export const SPEND_CAPS: SpendCaps = {
  spendCaps: new Map([['eth', 600n]]),
  withdrawalCaps: new Map([['eth', 1_000n]]),
  spendWindowMs: 600_000,
};
