/** A doctor's answer on a command line, and its exit code: 0 nothing is wrong, 1 something is. Ecosystem X34. */
import { parseArgs } from 'node:util';
import type { Flags } from '../commands.ts';
import { examine, type Check, type Examination, type Examined } from './examine.ts';

/** Throws: what `parseArgs` throws. */
export function isStrict(args: readonly string[]): boolean {
  const options = { strict: { type: 'boolean', default: false } } as const;
  return parseArgs({ args: [...args], strict: true, options }).values.strict;
}

/** With `strict` a warning, and what could not be looked at, are a failure too. */
export async function answerOf(checks: readonly Check[], { json }: Flags, strict: boolean): Promise<number> {
  const examination = await examine(checks);
  process.stdout.write(json ? `${JSON.stringify(examination)}\n` : textOf(examination));
  return examination.verdict === 'fail' || (strict && examination.verdict !== 'ok') ? 1 : 0;
}

function textOf({ verdict, checks }: Examination): string {
  const width = Math.max(...checks.map(({ id }) => id.length));
  const counts = (['fail', 'unknown', 'warn', 'ok'] as const)
    .map((one) => [one, checks.filter((check) => check.verdict === one).length] as const)
    .filter(([, count]) => count > 0)
    .map(([one, count]) => `${count} ${one}`);
  return [...checks.flatMap((check) => linesOf(check, width)), `${verdict}: ${counts.join(', ')}`, ''].join('\n');
}

function linesOf({ verdict, id, seen, remedy, page }: Examined, width: number): string[] {
  const line = `${verdict.padEnd('unknown'.length)}  ${id.padEnd(width)}  ${seen}`;
  return verdict === 'ok' ? [line] : [line, `${' '.repeat('unknown'.length)}  → ${remedy ?? 'look'}  (${page})`];
}
