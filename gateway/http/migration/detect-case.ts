/** Case assessment: a question with a body. It creates and stores nothing. Spec §2.12, §4.8. */
import { capacityOf, type Capacity } from '../../../actors/migration/capacity.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { assess } from '../../../protocol/migration/assessment.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

export function detectCaseHandler(deps: Pick<HandlerDeps, 'accounts'>): Pick<Handlers, 'detectCase'> {
  return {
    async detectCase(asked) {
      const { standardWallet = null, ...answers } = asked.body;
      const capacity = capacityOf(await stateOf(deps, accountOf(asked)), answers.addressCount);
      const assessment = assess({ ...answers, standardWallet }, capacity);
      if (isRefusal(assessment)) return assessment;
      const { assumed, chains, steps, warnings, ...found } = assessment;
      return {
        ...found,
        assumed: [...assumed],
        chains: [...chains],
        steps: [...steps],
        warnings: warnings.map((warning) => ({ ...warning, chains: [...warning.chains] })),
        capacity: capacityView(capacity),
      };
    },
  };
}

/** Capacity as it is shown: fees in US dollars. */
export function capacityView({ monthlyFeeCents, ...counts }: Capacity): ReplyOf<'detectCase'>['capacity'] {
  const { current, required } = monthlyFeeCents;
  return { ...counts, monthlyFee: { current: dollars(current), required: dollars(required) } };
}

/** 9900 cents are `99.00`. */
const dollars = (cents: number | null): string | null =>
  cents === null ? null : `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
