/**
 * Publications: the body of an event is built and serialised once, in the decision that causes it; the same bytes are
 * stored, signed and sent. Spec §6.
 */
import type { AccountCore, RowWrite } from '../../model/account/capabilities.ts';
import { eventId } from '../../protocol/node/ids.ts';
import type { EventData } from '../../protocol/schema/events.ts';
import type { EventName } from '../../protocol/slugs.ts';

/** An event with the `data` that is its own. */
export type Announced = { readonly [E in EventName]: { readonly event: E; readonly data: EventData[E] } }[EventName];

export type Announcement = Announced & {
  readonly id: string;
  /** Null where the event is about no transaction on a chain. */
  readonly confirmations: number | null;
  readonly threshold: number | null;
  readonly atMs: number;
  /** First attempts to one endpoint leave in order per key: the address, or '' for the account's own. */
  readonly orderKey: string;
  readonly toAll?: boolean;
};

/**
 * Id of an event that is no deposit's: by stream, version and kind. `position` is the place of its cause among the
 * events of the decision, from one. Decisions 1.
 */
export function eventIdAt(
  state: Pick<AccountCore, 'accountId' | 'version'>,
  position: number,
  event: EventName,
): string {
  return eventId(state.accountId, state.version + position, event);
}

/** The publication row. Envelope: event, id, environment, confirmations, threshold, timestamp, data. */
export function publish(
  state: Pick<AccountCore, 'accountId' | 'environment'>,
  { event, id, confirmations, threshold, atMs, data, orderKey, toAll = false }: Announcement,
): RowWrite {
  const body = JSON.stringify({
    event,
    id,
    environment: state.environment,
    confirmations,
    threshold,
    timestamp: new Date(atMs).toISOString(),
    data,
  });
  return {
    table: 'publication',
    row: { eventId: id, accountId: state.accountId, event, body, orderKey, toAll, createdAtMs: atMs },
  };
}
