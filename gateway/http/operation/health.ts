/** Liveness, readiness, metrics and the description of the API. */
import { refuse } from '../../../protocol/errors.ts';
import type { Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { describeApi } from '../../pages/openapi.ts';

export function healthHandlers({
  health,
  metrics,
  isDraining,
  config,
}: HandlerDeps): Pick<Handlers, 'getLive' | 'getReady' | 'getMetrics' | 'getDescription'> {
  let description: string | null = null;
  return {
    getLive: async () => ({ status: 'live' as const }),
    async getReady() {
      const checks = { ...(await health()), accepting: !isDraining() };
      if (Object.values(checks).every(Boolean)) return { status: 'ready' as const, checks };
      return refuse('SERVICE_UNAVAILABLE', { checks, retryAfterSeconds: 1 }, 'not ready');
    },
    getMetrics: () => metrics.text(),
    getDescription: async () => (description ??= JSON.stringify(describeApi(config.publicUrl))),
  };
}
