/** An SMTP server on a loopback port that takes mail, refuses it, or dies before it says what it did. RFC 5321. */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface TakenMail {
  readonly from: string;
  readonly to: string[];
  readonly message: string;
}
/**
 * What becomes of a message once it is there: taken; refused for now; taken and the line cut before the answer; an
 * answer without an end.
 */
export type Verdict = 'take' | 'refuse' | 'cut' | 'drip';
/** Pause between two lines of an answer that never ends. */
const DRIP_MS = 20;

export interface TestSmtp {
  readonly url: string;
  readonly taken: TakenMail[];
  judge: () => Verdict;
  readonly open: () => number;
  /** The answer to RCPT TO of a mailbox. */
  recipient: (mailbox: string) => string;
}

export async function startSmtp(t: ExecutionContext): Promise<TestSmtp> {
  const smtp = {
    url: '',
    taken: [] as TakenMail[],
    judge: (): Verdict => 'take',
    open: () => sockets.size,
    recipient: () => '250 ok',
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => void sockets.delete(socket));
    talk(socket, smtp);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  smtp.url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return smtp;
}

function talk(socket: Socket, smtp: TestSmtp): void {
  let [from, text, inMessage] = ['', '', false];
  let to: string[] = [];
  const say = (line: string) => socket.write(`${line}\r\n`);
  const finish = (message: string) => {
    const verdict = smtp.judge();
    if (verdict === 'drip') {
      const timer = setInterval(() => say('250-and'), DRIP_MS);
      socket.on('close', () => clearInterval(timer));
      return;
    }
    if (verdict !== 'refuse') smtp.taken.push({ from, to, message });
    if (verdict === 'cut') socket.destroy();
    else say(verdict === 'take' ? '250 taken' : '451 try again later');
  };
  const command = (line: string) => {
    const word = line.slice(0, 4).toUpperCase();
    if (word === 'EHLO' || word === 'HELO') return say('250 test');
    if (word === 'MAIL') [from, to] = [/<([^>]*)>/.exec(line)?.[1] ?? '', []];
    if (word === 'RCPT') {
      const mailbox = /<([^>]*)>/.exec(line)?.[1] ?? '',
        answer = smtp.recipient(mailbox);
      if (answer.startsWith('2')) to.push(mailbox);
      return say(answer);
    }
    if (word === 'DATA') {
      inMessage = true;
      return say('354 go on');
    }
    say(word === 'QUIT' ? '221 bye' : '250 ok');
  };
  say('220 test');
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (;;) {
      const mark = inMessage ? '\r\n.\r\n' : '\r\n';
      const end = text.indexOf(mark);
      if (end === -1) return;
      const part = text.slice(0, end);
      text = text.slice(end + mark.length);
      if (inMessage) {
        inMessage = false;
        finish(part);
      } else command(part);
    }
  });
}
