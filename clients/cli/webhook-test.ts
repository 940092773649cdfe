/** `flock webhooks test`: an endpoint gets a good and a broken signature, and must know which is which. X21. */
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import type { Flock } from '../typescript/src/index.ts';
import { answer, CommandFailed, EXIT, running } from './answer.ts';
import { sessionOf } from './session.ts';

export type Tested = Awaited<ReturnType<Flock['testWebhook']>>;

export function webhooksTest(args: readonly string[], flags: Flags): Promise<number> {
  const { positionals } = parseArgs({ args: [...args], strict: true, allowPositionals: true, options: {} });
  return running(flags, async (run) => {
    const [webhookId, ...more] = positionals;
    if (webhookId === undefined || more.length > 0)
      throw new CommandFailed('USAGE', 'webhooks test needs the id of one endpoint: flock api listWebhooks has them');
    const tested = await sessionOf(flags, run).flock.testWebhook({ webhookId });
    answer(flags, tested, [...tested.attempts.map(lineOf), faultOf(tested) ?? 'both as they must be'].join('\n'));
    return tested.passed ? EXIT.done : EXIT.failed;
  });
}

const lineOf = ({ signature, statusCode, error, durationMs, passed }: Tested['attempts'][number]): string =>
  `${passed ? 'ok  ' : 'fail'}  ${signature.padEnd('broken'.length)}  ${statusCode ?? error ?? 'no answer'}  ${durationMs} ms`;

/** What an endpoint does wrong, in a sentence; null where it does nothing wrong. */
export function faultOf({ attempts }: Pick<Tested, 'attempts'>): string | null {
  const [good, broken] = ['good', 'broken'].map((one) => attempts.find(({ signature }) => signature === one));
  if (good?.passed !== true)
    return good?.statusCode === null || good === undefined
      ? `nothing answers (${good?.error ?? 'no answer'}): look at the receiver, and at the rules of the edge`
      : `a good signature is answered ${good.statusCode}: look whether the receiver has the secret of this endpoint, and the raw body`;
  if (broken?.passed === true) return null;
  return broken?.statusCode != null && broken.statusCode < 300
    ? `a broken signature is taken (${broken.statusCode}): the receiver verifies nothing, and anybody can report deposits to it`
    : `a broken signature is answered ${broken?.statusCode ?? broken?.error ?? 'nothing'}: answer 401 before anything else`;
}
