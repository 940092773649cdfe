/** Liveness, readiness, metrics and the description of the API. */
import { refuse } from '../../../protocol/errors.ts';
import { noMetrics } from '../../../protocol/unknown-path.ts';
import {
  createMetricsAccess,
  createRefusedScrapes,
  METRICS_ALLOW_DEFAULT,
  NOT_LET_IN,
} from '../../../protocol/node/metrics-access.ts';
import type { Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { describeApi } from '../../pages/openapi.ts';
import { within } from '../../within.ts';

/** Who asks whether a node serves gives up soon: what is not known by then is not ready. Ecosystem X64. */
const READY_MS = 900;

export function healthHandlers({
  health,
  metrics,
  isDraining,
  config,
  log,
}: HandlerDeps): Pick<Handlers, 'getLive' | 'getReady' | 'getMetrics' | 'getDescription'> {
  const mayScrape = config.mayScrape ?? createMetricsAccess(METRICS_ALLOW_DEFAULT, null);
  const refusedScrapes = createRefusedScrapes();
  // Bytes, made once: anybody may ask, and the text of 3 MB would be encoded for each.
  let description: Buffer | null = null;
  return {
    getLive: async () => ({ status: 'live' as const }),
    async getReady() {
      const known = await within(health(), READY_MS);
      const checks = { ...(known ?? { database: false }), accepting: !isDraining() };
      if (Object.values(checks).every(Boolean)) return { status: 'ready' as const, checks };
      return refuse('SERVICE_UNAVAILABLE', { checks, retryAfterSeconds: 1 }, 'not ready');
    },
    async getMetrics({ scrape }) {
      if (mayScrape(scrape)) return metrics.text();
      const count = refusedScrapes();
      if (count !== null) log.warn({ count }, NOT_LET_IN);
      return noMetrics();
    },
    getDescription: async () => (description ??= Buffer.from(JSON.stringify(describeApi(config.publicUrl)))),
  };
}
