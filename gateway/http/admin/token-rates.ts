/** What administrators say that native coins are worth in tokens. Treasury W12. */
import { rateEndsAtMs, statedRate } from '../../../actors/sweep/rates.ts';
import type { KeptRate } from '../../../model/ports/rate-store.ts';
import { isRefusal, refuse } from '../../../protocol/errors.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { bearerOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';

type Deps = Pick<HandlerDeps, 'log' | 'chains' | 'nowMs'> & { readonly stores: Pick<HandlerDeps['stores'], 'rates'> };

export function tokenRateHandlers({
  log,
  chains,
  nowMs,
  stores: { rates },
}: Deps): Pick<Handlers, 'setTokenRate' | 'listTokenRates'> {
  return {
    async setTokenRate(asked) {
      const rate = statedRate(asked.body, chains.tokens.current, nowMs());
      if (isRefusal(rate)) return rate;
      const { userId } = bearerOf(asked),
        { chain, contract } = rate;
      if (!(await rates.save(rate, userId)))
        return refuse(
          'CONFLICT',
          { reason: 'rate_newer', chain, tokenContract: contract },
          'a rate that was observed later is kept: read GET /v1/admin/rates',
        );
      const names = [`${chain}:${contract}`];
      log.warn({ requestId: asked.requestId, userId, names }, 'an administrator set the rate of a token');
      return rateView({ ...rate, setBy: userId, setAtMs: nowMs() });
    },
    async listTokenRates() {
      return { content: (await rates.rates()).map(rateView) };
    },
  };
}

function rateView({
  contract,
  numerator,
  denominator,
  observedAtMs,
  setAtMs,
  ...rate
}: KeptRate): ReplyOf<'setTokenRate'> {
  return {
    ...rate,
    tokenContract: contract,
    numerator: String(numerator),
    denominator: String(denominator),
    observedAt: instantOf(observedAtMs),
    validUntil: instantOf(rateEndsAtMs({ observedAtMs })),
    setAt: instantOf(setAtMs),
  };
}
