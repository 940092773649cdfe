/** Where a message may be sent. Made by the kernel only. */
import type { Envelope } from './envelope.ts';
import type { Deadlines } from './timers.ts';

declare const COMMAND: unique symbol;

/**
 * The typed way to one actor. Contravariant in what it takes and covariant in what it answers, so that an address of
 * a `Ping` actor is no address of a `Pong` actor. It names the actor, not an incarnation: it stays good over restart
 * and passivation.
 */
export interface Address<in Command, out Reply = unknown> {
  /** The actor's place in the tree: what `inspect` and `restart` take. */
  readonly path: string;
  readonly [COMMAND]: (command: Command) => Reply;
}

/** What an address is inside. */
export abstract class Target {
  abstract readonly path: string;
  abstract readonly deadlines: Deadlines;
  /** False when the envelope was turned away; a reply port has then been answered. */
  abstract deliver(envelope: Envelope): boolean;
}

/** The kernel's view of an address. Throws: TypeError when the kernel did not make it. */
export function targetOf(address: Address<never>): Target {
  if (address instanceof Target) return address;
  throw new TypeError('address expected one made by the kernel');
}

/** The typed view of a target. */
export function addressOf<Command, Reply>(target: Target): Address<Command, Reply> {
  return target as unknown as Address<Command, Reply>;
}
