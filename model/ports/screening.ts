/** Whether a destination may be paid. Console A47. */
import type { Chain } from '../../protocol/slugs.ts';

export interface Screening {
  /** The rule that a destination is refused by, in its canonical text; null where it may be paid. */
  ruleOf(chain: Chain, address: string): Promise<string | null>;
}
