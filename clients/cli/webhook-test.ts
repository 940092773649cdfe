/** `flock webhooks test`: an endpoint gets a good and a broken signature, and must know which is which. X21. */
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import { faultOf } from '../../protocol/webhook-fault.ts';
import type { Flock } from '../typescript/src/index.ts';
import { answer, CommandFailed, EXIT, running } from './answer.ts';
import { sessionOf } from './session.ts';

type Tested = Awaited<ReturnType<Flock['testWebhook']>>;

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
