/**
 * Asking an actor. A reply port is the resolver of one promise of ours, never nact's `query`, whose temporary names may
 * collide.
 */
import { targetOf, type Address } from './address.ts';
import { Envelope, type Outcome } from './envelope.ts';

/** How long an asker waits when it does not say. Choice: below the 15 s after which a client gives a request up. */
export const ASK_TIMEOUT_MS = 10_000;

/** The command's outcome; never rejects. Limit: `timeoutMs`. Throws: TypeError on a forged address. */
export function ask<Command, Reply>(
  to: Address<Command, Reply>,
  command: NoInfer<Command>,
  timeoutMs: number = ASK_TIMEOUT_MS,
): Promise<Outcome<Reply>> {
  const target = targetOf(to);
  return new Promise((resolve) => {
    const envelope = new Envelope(command, resolve as (outcome: Outcome<unknown>) => void);
    if (target.deliver(envelope)) target.deadlines.add(envelope, timeoutMs);
  });
}

/** Sends a command to nobody's answer. False when it was turned away, which the dead letters count. */
export function tell<Command>(to: Address<Command>, command: NoInfer<Command>): boolean {
  return targetOf(to).deliver(new Envelope(command, null));
}
