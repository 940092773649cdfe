/** Values that a scrape of /metrics asks for. Issue 2 point 11. */
import type { ActorSystem } from '../actors/kernel/index.ts';
import type { GaugeReader } from '../gateway/telemetry/gauges.ts';
import type { Stores } from '../persistence/postgres/stores.ts';
import type { Chain } from '../protocol/slugs.ts';

export interface GaugeParts {
  readonly stores: Pick<Stores, 'deliveries' | 'mail' | 'watch' | 'operators' | 'inbox'>;
  readonly system: Pick<ActorSystem, 'counts'>;
  readonly liveChains: () => readonly Chain[];
  readonly streamCount: () => number;
  readonly nowMs: () => number;
}

export function createGaugeReader({ stores, system, liveChains, streamCount, nowMs }: GaugeParts): GaugeReader {
  return {
    async read() {
      const chains = liveChains();
      const [publicationsIncomplete, mailUnsent, factsSetAside, nonceGaps, ...coverage] = await Promise.all([
        stores.deliveries.incompletePublications(),
        stores.mail.unsent(),
        stores.inbox.countSetAside(),
        stores.operators.counterGaps(),
        ...chains.map((chain) => stores.watch.coverage(chain)),
      ]);
      const { waiting, residents, deadLetters } = system.counts();
      const byChain = (value: (index: number) => number): Record<string, number> =>
        Object.fromEntries(chains.map((chain, index) => [chain, value(index)]));
      return {
        publicationsIncomplete, mailUnsent, factsSetAside, nonceGaps,
        blocksUnresolved: byChain((index) => coverage[index]!.unresolved.length),
        headAgeSeconds: byChain((index) => Math.max(0, (nowMs() - (coverage[index]!.headAtMs ?? 0)) / 1_000)),
        mailboxDepth: waiting, residentAccounts: residents,
        deadLetters: Object.values(deadLetters).reduce((sum, count) => sum + count, 0),
        edgeStreams: streamCount(),
      };
    },
  };
}
