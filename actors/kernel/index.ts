/**
 * The actor kernel: supervised actors on nact's scheduler. This file only re-exports; entities import `protocol.ts`.
 *
 *   const system = createSystem({ log, clock: systemClock, random: Math.random, policies: { entity, worker }, hooks });
 *
 *   // Entities: pure decide/evolve over a store; loaded and fenced by their first message, passivated when idle.
 *   const accounts = system.entities({ entity: account, store, shardOf, summarise, residentsMax });
 *   const outcome = await ask(accounts.address(accountId), command);      // Outcome<Reply>, never rejects
 *   if (outcome.ok === true) outcome.reply; else if (outcome.ok === 'duplicate') replay(); else send(outcome);
 *
 *   // Workers: a serial mailbox that may do I/O. `recover` runs before the first message and after each restart.
 *   const eth = system.spawnWorker<Tick>({
 *     path: 'watchers/eth',
 *     recover: ({ timers, sendSelf }) => { timers.after(0, () => sendSelf({ type: 'tick' })); },
 *     receive: async (tick, { timers, sendSelf, signal }) => { …; timers.after(pollMs, () => sendSelf(tick)); },
 *   });
 *   tell(eth, { type: 'tick' });                                            // false: turned away, and counted
 *
 *   // Operators.
 *   system.inspect(path?, depth?); system.restart(path); system.counts(); await system.stop(8_000);
 *
 * What is promised
 * - One turn of an actor at a time; a turn of an entity decides all that waits (to a limit) and appends once.
 * - An asker is answered exactly once, after the append, before its deadline. SERVICE_UNAVAILABLE: nothing was done.
 *   INTERNAL_ERROR: the outcome may be unknown, unless `futility` says what is wrong with the command. `duplicate`: the
 * idempotency key's first answer is in the store.
 * - Safety never rests on "there is only one": every append carries epoch and version. Two incarnations cost a reload.
 * - A fault forgets the actor's memory and restarts it after a pause that grows; too many in a window and it is given
 *   up, answers INTERNAL_ERROR and raises `hooks.onGiveUp`; the rest live on. A poisonous event is given up at once.
 * - Every queue, batch, residency, deadline and scan has a named limit.
 * - Nothing here reads a clock, a random source or a timer but through `SystemSpec`; nact itself uses setImmediate.
 */
export type { Address } from './address.ts';
export { ask, ASK_TIMEOUT_MS, tell } from './ask.ts';
export { futility, type DeadLetters, type Duplicate, type Outcome } from './envelope.ts';
export {
  faultOf,
  withoutSecrets,
  type Fault,
  type KernelLog,
  type RestartPolicy,
  type RestartVerdict,
} from './fault.ts';
export type { Phase } from './leaf.ts';
export {
  PoisonousEvent,
  type Accepted,
  type Append,
  type AppendOutcome,
  type Decision,
  type Entity,
  type EntityStore,
  type Loaded,
} from '../../model/entity.ts';
export type { Entities, EntitySpec } from './region.ts';
export type { KernelHooks } from './shared.ts';
export { createSystem, type ActorSystem, type StopReport, type SystemCounts, type SystemSpec } from './system.ts';
export { OwnedTimers, systemClock, type Clock } from './timers.ts';
export type { Inspection } from './tree.ts';
export type { WorkerContext, WorkerSpec } from './worker.ts';
