/** The smallest entity that shows everything the shell does: a counter that never goes below zero. */
import type { Entity } from '../../../actors/kernel/index.ts';
import { readRefusal } from '../../../protocol/errors.ts';
import { MemoryStore } from '../../support/memory-store.ts';

export interface Count {
  readonly total: number;
  readonly adds: number;
}
export type CounterCommand =
  | { type: 'add'; by: number; key?: string }
  | { type: 'read' }
  /** `decide` throws. */
  | { type: 'explode'; text?: string }
  /** An accepted event that `evolve` cannot fold. */
  | { type: 'poison' };
export type CounterEvent = { type: 'added'; by: number } | { type: 'poison' };
export interface KeyRow {
  key: string;
  by: number;
}

export const counter: Entity<Count, CounterCommand, CounterEvent, readonly KeyRow[], Count> = {
  kind: 'counter',
  decide(state, command) {
    switch (command.type) {
      case 'read':
        return { ok: true, events: [], rows: [], reply: state };
      case 'explode':
        throw new Error(command.text ?? 'decide has a defect');
      case 'poison':
        return { ok: true, events: [{ type: 'poison' }], rows: [], reply: state };
      case 'add': {
        const reply = { total: state.total + command.by, adds: state.adds + 1 };
        if (reply.total < 0) return readRefusal('INSUFFICIENT_FUNDS', { total: state.total });
        const rows = command.key === undefined ? [] : [{ key: command.key, by: command.by }];
        return { ok: true, events: [{ type: 'added', by: command.by }], rows, reply };
      }
    }
  },
  evolve(state, event) {
    if (event.type === 'poison') throw new Error('no such event');
    return { total: state.total + event.by, adds: state.adds + 1 };
  },
};

/** Every counter exists, from zero, except those whose name begins with `no-`. */
export function counterStore(): MemoryStore<Count, CounterEvent, KeyRow> {
  return new MemoryStore({
    initial: (id) => (id.startsWith('no-') ? null : { total: 0, adds: 0 }),
    keyOf: (row) => row.key,
  });
}

/** Shorthand for the command that tests send most. */
export function add(by: number, key?: string): CounterCommand {
  return key === undefined ? { type: 'add', by } : { type: 'add', by, key };
}
