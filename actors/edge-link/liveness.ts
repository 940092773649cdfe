/**
 * Edge liveness of an account. Spec §3.2.
 *
 *   never_connected → live     a first heartbeat            no event
 *   live → down                none for 120 s               edge_offline
 *   down → live                a heartbeat                  edge_online
 *
 * `stale` (none for 60 s) is presence: the edge-stream room shows it, nothing is written.
 */
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { eventIdAt, publish } from '../account/events-body.ts';

/** Notes a transition, once. */
export function noteLiveness({
  state,
  command: { liveness },
  nowMs,
}: Deciding<'note_liveness'>): AccountDecision<'note_liveness'> {
  const before = state.edge.liveness;
  const nothingNew =
    liveness === before ||
    liveness === 'stale' ||
    liveness === 'never_connected' ||
    (before === 'never_connected' && liveness === 'down');
  if (nothingNew) return accept({ liveness: before });
  const event = liveness === 'down' ? 'edge_offline' : 'edge_online';
  const published =
    before === 'never_connected'
      ? []
      : [
          publish(state, {
            event,
            id: eventIdAt(state, 1, event),
            confirmations: null,
            threshold: null,
            atMs: nowMs + state.aheadMs,
            orderKey: '',
            data: { liveness },
          }),
        ];
  return accept({ liveness }, [{ type: 'edge_liveness_changed', liveness }], published);
}
