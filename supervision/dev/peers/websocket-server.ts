/**
 * The server side of WebSocket for stand-ins: text messages, whole or in fragments, ping, close. RFC 6455.
 *
 *   frame   fin(1) rsv(3) opcode(4) || mask(1) length(7) [length(16|64)] || [key(4)] || payload
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'; // RFC 6455, 1.3
const TEXT = 1, CLOSE = 8, PING = 9, PONG = 10, CONTINUATION = 0;
/** Larger messages close the connection. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

export interface Connection {
  send(text: string): void;
  close(): void;
}

export interface ConnectionEvents {
  onText(text: string, connection: Connection): void;
  onClose(connection: Connection): void;
}

/** Answers an upgrade request and speaks WebSocket on its socket from then on. */
export function acceptWebSocket(request: IncomingMessage, socket: Duplex, events: ConnectionEvents): Connection | null {
  const key = request.headers['sec-websocket-key'];
  if (key === undefined) {
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    return null;
  }
  const accept = createHash('sha1').update(key + MAGIC).digest('base64');
  socket.write([
    'HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`,
    '', '',
  ].join('\r\n'));
  const connection: Connection = {
    send: (text) => { if (!socket.destroyed) socket.write(frameOf(TEXT, Buffer.from(text))); },
    close: () => { socket.destroy(); },
  };
  let pending: Buffer = Buffer.alloc(0), message: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (let frame = readFrame(pending); frame !== null; frame = readFrame(pending)) {
      pending = pending.subarray(frame.bytes);
      if (frame.opcode === CLOSE) return void socket.end(frameOf(CLOSE, frame.payload));
      if (frame.opcode === PING) socket.write(frameOf(PONG, frame.payload));
      if (frame.opcode !== TEXT && frame.opcode !== CONTINUATION) continue;
      message.push(frame.payload);
      if (!frame.isLast) continue;
      const text = Buffer.concat(message).toString('utf8');
      message = [];
      events.onText(text, connection);
    }
    if (pending.length > MESSAGE_BYTES_MAX) socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => events.onClose(connection));
  return connection;
}

function frameOf(opcode: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  if (payload.length < 126) {
    head[1] = payload.length;
    return Buffer.concat([head.subarray(0, 2), payload]);
  }
  if (payload.length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(payload.length, 2);
    return Buffer.concat([head.subarray(0, 4), payload]);
  }
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

interface Frame { readonly opcode: number; readonly isLast: boolean; readonly payload: Buffer; readonly bytes: number }

/** The first frame of what has arrived, or null while it is not whole. */
function readFrame(bytes: Buffer): Frame | null {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 0x7f, isMasked = (bytes[1]! & 0x80) !== 0;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + lengthBytes) return null;
  const length = lengthBytes === 2 ? bytes.readUInt16BE(2) : lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2))
    : short;
  const start = 2 + lengthBytes + (isMasked ? 4 : 0), end = start + length;
  if (bytes.length < end) return null;
  const payload = Buffer.from(bytes.subarray(start, end));
  if (isMasked) for (let i = 0; i < length; i += 1) payload[i] = payload[i]! ^ bytes[start - 4 + (i % 4)]!;
  return { opcode: bytes[0]! & 0x0f, isLast: (bytes[0]! & 0x80) !== 0, payload, bytes: end };
}
