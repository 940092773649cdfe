/**
 * What a connection may send before it is admitted. A frame may have 2 MiB, and anybody who opens a connection could
 * send as much in a handshake: a hundred of them keep a node's loop busy for seconds with strangers.
 */
import type { Server, Socket } from 'socket.io';

/** A handshake of ours has some 2 kB; what the WebSocket's own frames add is little. */
export const HANDSHAKE_BYTES_MAX = 32 * 1_024;

type Connection = Socket['conn'];

const ends = new WeakMap<Connection, () => void>();

/** Cuts each connection that sends more than `HANDSHAKE_BYTES_MAX` before `endHandshake`. Nothing of it is parsed. */
export function limitHandshakes(io: Server): void {
  io.engine.on('connection', (connection: Connection) => {
    const { socket } = connection.request;
    let received = 0;
    const count = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > HANDSHAKE_BYTES_MAX) socket.destroy();
    };
    socket.on('data', count);
    ends.set(connection, () => socket.off('data', count));
  });
}

/** A connection that was let in has the limits of its frames. */
export function endHandshake({ conn }: Pick<Socket, 'conn'>): void {
  ends.get(conn)?.();
  ends.delete(conn);
}
