/** Letters that a node wrote into its MAIL_DIR, as a person reads them. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './gateway.ts';

export interface ReadLetter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** What stands in the fragment of its link; undefined without one. */
  readonly token: string | undefined;
}

/** A directory for the letters of a cloud, and how they are read out of it. */
export function mailbox() {
  const directory = mkdtempSync(join(tmpdir(), 'flock-letters-'));
  const all = (): ReadLetter[] =>
    readdirSync(directory)
      .filter((name) => name.endsWith('.eml'))
      .map((name) => letterOf(readFileSync(join(directory, name), 'utf8')));
  return {
    directory,
    all,
    /** The letters to somebody whose subject has the words, once there are so many. */
    to: (recipient: string, words: string, count = 1): Promise<ReadLetter[]> =>
      eventually(
        `${count} letters "${words}" to ${recipient}`,
        async () => all().filter(({ to, subject }) => to === recipient && subject.includes(words)),
        (found) => found.length >= count,
      ),
  };
}

function letterOf(message: string): ReadLetter {
  const [head = '', ...rest] = message.split(/\r?\n\r?\n/);
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(head)?.[1] ?? '';
  const body = rest.join('\n\n');
  const text = /quoted-printable/i.test(field('Content-Transfer-Encoding'))
    ? body.replace(/=\r?\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    : body;
  return { to: field('To'), subject: field('Subject'), text, token: /\/console\/[\w-]+#([\w.-]+)/.exec(text)?.[1] };
}
