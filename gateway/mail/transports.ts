/** Where mail goes: an SMTP server, or one file for each message in a directory, for developers. */
import { mkdir, open, rename } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Letter } from './letters.ts';

export interface MailTransport {
  /** Resolves when the message is taken. Rejects: when it may not be. */
  send(letter: Letter): Promise<void>;
  close(): void;
}

/** A server that does not answer keeps the next message waiting no longer than this. */
const SMTP_LIMITS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 } as const;

/** A message is sent within this, whatever the server says meanwhile: two of them are less than the time of a claim. */
const WHOLE_MS = 50_000;

/** A message is text that we wrote: nothing of it may name a file or an address to fetch. */
const NOTHING_FROM_OUTSIDE = { disableFileAccess: true, disableUrlAccess: true } as const;

const messageOf = (from: string, { messageId, to, subject, text }: Letter): SendMailOptions => ({
  from,
  to: { name: '', address: to },
  subject,
  text,
  messageId,
  ...NOTHING_FROM_OUTSIDE,
  // RFC 3834: so that nobody's holiday note answers.
  headers: { 'Auto-Submitted': 'auto-generated' },
});

/** Mail by SMTP; `url` is `smtp://` or `smtps://` with user and password where the server wants them. */
export function smtpTransport(
  url: string,
  from: string,
  { wholeMs = WHOLE_MS }: { wholeMs?: number } = {},
): MailTransport {
  return {
    async send(letter) {
      const sockets: Socket[] = [];
      const transport = createTransport({
        url,
        ...SMTP_LIMITS,
        // Ours, so that it can be cut: an answer that drips line by line is never silent for long.
        getSocket({ host, port, secure }, done) {
          const socket = connect({ host: host ?? 'localhost', port: Number(port ?? (secure === true ? 465 : 587)) });
          sockets.push(
            socket.setTimeout(SMTP_LIMITS.connectionTimeout, () => socket.destroy(late(SMTP_LIMITS.connectionTimeout))),
          );
          socket.once('error', done);
          socket.once('connect', () => {
            socket.off('error', done).setTimeout(0);
            done(null, { connection: socket });
          });
        },
      });
      const { promise: tooLong, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(late(wholeMs)), wholeMs);
      try {
        await Promise.race([transport.sendMail(messageOf(from, letter)), tooLong]);
      } finally {
        clearTimeout(timer);
        for (const socket of sockets) socket.destroy();
      }
    },
    close: () => undefined, // nothing is open between two messages
  };
}

function late(ms: number): Error {
  return Object.assign(new Error(`the server did not finish within ${ms} ms`), { code: 'ETIMEDOUT' });
}

/** Each message whole as `.eml` in a directory; a name appears when its bytes are on the disk. */
export function directoryTransport(directory: string, from: string): MailTransport {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send(letter) {
      const { message } = await transport.sendMail(messageOf(from, letter));
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const name = join(directory, `${letter.messageId.replace(/[^\w.-]+/g, '')}.eml`);
      const file = await open(`${name}.part`, 'w', 0o600);
      try {
        await file.writeFile(message as Buffer);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${name}.part`, name);
    },
    close: () => transport.close(),
  };
}
