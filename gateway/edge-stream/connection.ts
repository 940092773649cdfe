/** A stream as rooms use it, over a socket. */
import type { Socket } from 'socket.io';
import type { Connection } from './sessions.ts';

export function connectionOf(socket: Socket): Connection {
  // Of what is asked and not answered yet: a socket that is gone answers nothing, and Socket.IO waits on all the same.
  const waiting = new Set<(answer: null) => void>();
  socket.on('disconnect', () => {
    for (const end of waiting) end(null);
    waiting.clear();
  });
  return {
    send: (frame, body) => void socket.emit(frame, body),
    async ask(frame, body, timeoutMs) {
      if (!socket.connected) return null;
      const { promise, resolve } = Promise.withResolvers<null>();
      waiting.add(resolve);
      const answered = socket
        .timeout(timeoutMs)
        .emitWithAck(frame, body)
        .catch(() => null);
      try {
        return (await Promise.race([answered, promise])) as unknown;
      } finally {
        waiting.delete(resolve);
      }
    },
    close: (code) => {
      socket.emit('closing', { code });
      socket.disconnect(true);
    },
  };
}

/**
 * What leaders are asked now. The same question meanwhile gets the same answer: another node asks again where this one
 * is slow.
 */
export class OpenQuestions {
  readonly #open = new WeakMap<Connection, Map<string, Promise<unknown>>>();

  /** Resolves to null where nobody answers within `timeoutMs` of the first who asked. */
  ask(connection: Connection, frame: 'sign' | 'operate', body: object, timeoutMs: number): Promise<unknown> {
    const open = this.#open.get(connection) ?? new Map<string, Promise<unknown>>(),
      key = `${frame} ${JSON.stringify(body)}`;
    this.#open.set(connection, open);
    const known = open.get(key);
    if (known !== undefined) return known;
    const asked = connection.ask(frame, body, timeoutMs).finally(() => open.delete(key));
    open.set(key, asked);
    return asked;
  }
}
