/** Deciding a batch of commands one after another on the evolving state. Pure. */
import { futile, type Outcome } from './envelope.ts';
import { faultOf } from './fault.ts';
import { PoisonousEvent, type Entity } from '../../model/entity.ts';

/** What a batch would change, and the reply to each member once that is durable. */
export interface BatchPlan<State, Event, Row, Reply> {
  /** By member, in order. */
  readonly outcomes: readonly Outcome<Reply>[];
  /** Of all accepted members, in order. */
  readonly events: readonly Event[];
  readonly rows: readonly Row[];
  readonly state: State;
  /** What `decide` threw, member by member; such a member changes nothing and the others go on. */
  readonly faults: readonly unknown[];
}

/**
 * Decides each command on the state that the ones before it leave. All see the same instant. Nothing may be answered
 * before the events are durable, refusals included: a refusal may rest on a member that is not yet written.
 * Throws: PoisonousEvent when an event of an accepted decision cannot be folded.
 */
export function decideBatch<State, Command, Event, Row, Reply>(
  entity: Entity<State, Command, Event, readonly Row[], Reply>,
  before: State,
  commands: readonly Command[],
  nowMs: number,
): BatchPlan<State, Event, Row, Reply> {
  let state = before;
  const outcomes: Outcome<Reply>[] = [],
    events: Event[] = [],
    rows: Row[] = [],
    faults: unknown[] = [];
  for (const command of commands) {
    let decision;
    try {
      decision = entity.decide(state, command, nowMs);
    } catch (error) {
      faults.push(error);
      outcomes.push(futile('undecidable', faultOf(error, nowMs).message));
      continue;
    }
    if (!decision.ok) {
      outcomes.push(decision);
      continue;
    }
    for (const event of decision.events) {
      state = folded(entity, state, event);
      events.push(event);
    }
    for (const row of decision.rows) rows.push(row);
    outcomes.push({ ok: true, reply: decision.reply });
  }
  return { outcomes, events, rows, state, faults };
}

function folded<State, Event>(
  entity: { readonly kind: string; evolve(state: State, event: Event): State },
  state: State,
  event: Event,
): State {
  try {
    return entity.evolve(state, event);
  } catch (error) {
    throw new PoisonousEvent(entity.kind, error);
  }
}
