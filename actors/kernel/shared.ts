/** What all actors of one system have in common. */
import type { DeadLetters } from './envelope.ts';
import type { Fault, KernelLog } from './fault.ts';
import type { ActorRef } from './scheduler.ts';
import type { Clock, Deadlines } from './timers.ts';

/** What the rest of the node may want to know at once. Hooks that throw are logged and change nothing. */
export interface KernelHooks {
  /** An actor was given up: raise an alarm. */
  onGiveUp?(path: string, fault: Fault): void;
  /** Commands that one append (or none, for queries) settled together. */
  onBatch?(kind: string, size: number): void;
}

/** What all actors of a system share. */
export interface Shared {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: KernelLog;
  readonly hooks: KernelHooks;
  readonly deadlines: Deadlines;
  readonly deadLetters: DeadLetters;
  /** Messages waiting in all mailboxes. */
  waiting: number;
}

/** A node that holds others and gets no message. */
export interface Parent {
  readonly path: string;
  readonly ref: ActorRef;
  readonly children: Map<string, unknown>;
}
