/**
 * Levers around the ledgers (ecosystem X76): edges that are away, endpoints that fail. Each is a timer of the store:
 * all nodes see it, and time ends it, or a reset.
 */
import type { EndpointFailure, SandboxControl } from '../../model/ports/sandbox-control.ts';
import type { SandboxStore } from '../../model/ports/sandbox-store.ts';
import type { AccountId } from '../../protocol/ids.ts';

/** What is left of the failures of an endpoint ends then. */
const FAILURES_LAST_MS = 86_400_000;

interface Away {
  readonly kind: 'edge_offline';
  readonly untilMs: number;
}

interface Failing {
  readonly kind: 'endpoint_failure';
  readonly failure: EndpointFailure;
  readonly attempts: number;
  /** The attempts that were taken, `delivery/attempt`: one that is asked for again is the same. */
  readonly taken: readonly string[];
}

export type SurroundingTask = Away | Failing;

type Levers = Pick<
  SandboxControl,
  'simulateEdgeOffline' | 'edgeOfflineUntilMs' | 'simulateEndpointFailure' | 'takeEndpointFailures'
>;

const awayId = (accountId: AccountId): string => `edge-offline-${accountId}`;
const failingId = (webhookId: string): string => `endpoint-failure-${webhookId}`;

export function surroundingLevers(store: SandboxStore, nowMs: () => number): Levers {
  return {
    async simulateEdgeOffline(accountId, seconds) {
      const untilMs = nowMs() + seconds * 1_000;
      const id = awayId(accountId);
      if (seconds === 0) await store.finish(id);
      else await store.schedule({ id, accountId, dueAtMs: untilMs, task: { kind: 'edge_offline', untilMs } });
      return { untilMs };
    },
    async edgeOfflineUntilMs(accountId) {
      const task = (await store.task(awayId(accountId))) as Away | null;
      return task !== null && nowMs() < task.untilMs ? task.untilMs : null;
    },
    async simulateEndpointFailure(accountId, { webhookId, attempts, status, delaySeconds = 0 }) {
      const id = failingId(webhookId);
      if (attempts === 0) {
        await store.finish(id);
        return { webhookId, attempts };
      }
      const failure = status === undefined ? { delayMs: delaySeconds * 1_000 } : { status };
      const task: Failing = { kind: 'endpoint_failure', failure, attempts, taken: [] };
      await store.schedule({ id, accountId, dueAtMs: nowMs() + FAILURES_LAST_MS, task });
      return { webhookId, attempts };
    },
    async takeEndpointFailures(asked) {
      const failures = new Map<string, EndpointFailure>();
      for (const webhookId of new Set(asked.map((one) => one.webhookId))) {
        const own = asked.filter((one) => one.webhookId === webhookId);
        for (const [id, failure] of await takeOf(store, webhookId, own)) failures.set(id, failure);
      }
      return failures;
    },
  };
}

async function takeOf(
  store: SandboxStore,
  webhookId: string,
  asked: readonly { readonly deliveryId: string; readonly attempt: number }[],
): Promise<[string, EndpointFailure][]> {
  for (;;) {
    const task = (await store.task(failingId(webhookId))) as Failing | null;
    if (task === null) return [];
    const taken = [...task.taken];
    const mine: [string, EndpointFailure][] = [];
    for (const { deliveryId, attempt } of asked) {
      const key = `${deliveryId}/${attempt}`;
      if (!taken.includes(key)) {
        if (taken.length === task.attempts) continue;
        taken.push(key);
      }
      mine.push([deliveryId, task.failure]);
    }
    if (taken.length === task.taken.length) return mine;
    if (await store.changeTask(failingId(webhookId), task, { ...task, taken })) return mine;
  }
}
