/** Login by a code that a person types into the console. X28. */
import { createClient, type Client } from '../../protocol/client.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { CommandFailed, EXIT } from './answer.ts';

type Asks = Pick<Client, 'call'>;
/** Ends early with the command: what is waited for then is nobody's. */
type Wait = (ms: number) => Promise<void>;

/** The key, once somebody approved the code that `show` was given. Throws: CommandFailed. */
export async function deviceKey(client: Asks, show: (text: string) => void, wait: Wait): Promise<string> {
  const asked = await client.call('askDevice', { body: {} });
  if (isRefusal(asked)) throw failureOf(asked);
  const { deviceCode, userCode, verificationUri, expiresInSeconds } = asked;
  show(`Open ${verificationUri}, sign in, and type this code (good for ${expiresInSeconds / 60} minutes): ${userCode}`);
  let pauseMs = asked.intervalSeconds * 1_000;
  for (let waitedMs = 0; waitedMs <= expiresInSeconds * 1_000; waitedMs += pauseMs) {
    await wait(pauseMs);
    const taken = await client.call('takeDeviceKey', { body: { deviceCode } });
    if (!isRefusal(taken)) {
      if (taken.status === 'ready') return taken.key!;
    } else if (taken.details['reason'] === 'slow_down') pauseMs += asked.intervalSeconds * 1_000;
    // A cloud that is away for a moment may be back before the code is too old.
    else if (taken.code !== 'UPSTREAM_UNAVAILABLE' && taken.code !== 'SERVICE_UNAVAILABLE') throw failureOf(taken);
  }
  throw new CommandFailed(
    'CODE_EXPIRED',
    'nobody approved the code in time: begin again with flock login',
    EXIT.timedOut,
  );
}

export const loginClient = (url: string): Asks => createClient({ baseUrl: url });

function failureOf({ code, details }: Refusal): CommandFailed {
  const { reason, next } = details as { reason?: string; next?: string };
  const isAway = code === 'UPSTREAM_UNAVAILABLE' || code === 'SERVICE_UNAVAILABLE';
  return new CommandFailed(
    code,
    [reason, next].filter((part) => part !== undefined).join('; ') || 'the service refused the login',
    isAway ? EXIT.unreachable : EXIT.refused,
  );
}
