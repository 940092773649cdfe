/** Compiled by `tsc`, never run: an event is published with the `data` of its schema and no other. House rule 7. */
import { publish } from '../../../actors/account/events-body.ts';
import type { AccountCore, RowWrite } from '../../../model/account/capabilities.ts';
import type { EventData } from '../../../protocol/schema/events.ts';

const around = { id: 'evt_1', confirmations: null, threshold: null, atMs: 0, orderKey: '' };

export function typesOfEvents(state: AccountCore, deposit: EventData['deposit_detected']): RowWrite[] {
  return [
    publish(state, { ...around, event: 'edge_online', data: { liveness: 'live' } }),
    publish(state, { ...around, event: 'deposit_detected', data: deposit }),
    publish(state, { ...around, event: 'deposit_reversed', data: { ...deposit, reversedFrom: 'detected', depth: 2 } }),
    // @ts-expect-error a reversal says what it reverses
    publish(state, { ...around, event: 'deposit_reversed', data: deposit }),
    // @ts-expect-error no such liveness is announced
    publish(state, { ...around, event: 'edge_online', data: { liveness: 'stale' } }),
    // @ts-expect-error data of another event
    publish(state, { ...around, event: 'pool_low', data: { liveness: 'live' } }),
    // @ts-expect-error an amount is decimal text
    publish(state, { ...around, event: 'deposit_detected', data: { ...deposit, amount: 1_500_000n } }),
    // @ts-expect-error no such event
    publish(state, { ...around, event: 'edge_stale', data: { liveness: 'live' } }),
  ];
}
