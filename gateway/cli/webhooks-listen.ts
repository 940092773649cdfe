/**
 * `flock webhooks listen [--port 9000] [--secret whsec_…] [--count N] [--json]`: verifies deliveries and prints one
 * line for each.
 */
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import { startReceiver } from './webhook-receiver.ts';

/** Runs until SIGINT or SIGTERM, or until so many events were received. Answers the exit code. */
export async function webhooksListen(
  args: readonly string[],
  { json, quiet }: Omit<Flags, 'profile'>,
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { port: { type: 'string', default: '9000' }, secret: { type: 'string' }, count: { type: 'string' } },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    console.error('--port must be a port number');
    return 2;
  }
  const count = Number(values.count ?? Infinity);
  if (Number.isNaN(count) || count < 1) {
    console.error('--count must be a number of events, at least 1');
    return 2;
  }
  let enough = (): void => undefined;
  let left = count;
  const secret = values.secret ?? process.env.WEBHOOK_SECRET;
  const opened = await startReceiver({
    port,
    ...(secret === undefined ? {} : { secret }),
    onEvent: ({ event, id, confirmations, data, verified }) => {
      const note = verified === true ? 'verified' : 'not verified';
      console.log(
        json
          ? JSON.stringify({ event, id, confirmations, verified: verified === true, data })
          : `${event} ${id} confirmations=${confirmations ?? '-'} ${note} ${JSON.stringify(data)}`,
      );
      left -= 1;
      if (left <= 0) enough();
    },
    onRefused: () =>
      console.error(
        'refused a delivery: its signature does not verify under this secret (each webhook for this URL has a secret of its own)',
      ),
  }).catch((error: unknown) =>
    (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      ? `port ${port} is in use; name another with --port`
      : error instanceof RangeError
        ? `--secret: ${error.message}`
        : Promise.reject(error),
  );
  if (typeof opened === 'string') {
    console.error(opened);
    return 2;
  }
  const receiver = opened;
  if (!quiet)
    console.error(
      `listening on ${receiver.url}${secret === undefined ? ' ; no --secret, so signatures are not checked' : ''}`,
    );
  await new Promise<void>((resolve) => {
    enough = resolve;
    if (left <= 0) resolve();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await receiver.close();
  return 0;
}
