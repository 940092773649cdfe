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
