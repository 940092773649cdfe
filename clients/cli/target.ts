/** An address that events are posted to, signed as the service signs them. X29, X31. */
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CommandFailed } from './answer.ts';
import { readKept, writeKept, type Environ } from './profiles.ts';
import type { Session } from './session.ts';

export interface PostedEvent {
  readonly id: string;
  readonly body: string;
}

/** What became of one post. `unreached`: nothing had the bytes; `late`: they were sent, and no answer came. */
export type Posted =
  | { readonly how: 'answered'; readonly status: number; readonly ms: number }
  | { readonly how: 'unreached' | 'late'; readonly reason: string };

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const SECRET = /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/;
const SECRET_BYTES = 24;

/** Throws: CommandFailed for live, for what is no address, and for another machine that nobody allowed. */
export function targetOf(text: string, { environment }: Pick<Session, 'environment'>, allowRemote: boolean): URL {
  if (environment === 'live')
    throw new CommandFailed(
      'SANDBOX_ONLY',
      'live events are only printed: what is posted here passes by the check of your edge. Make a webhook instead',
    );
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new CommandFailed('TARGET', 'the address to post to is http or https, without user and password');
  if (!allowRemote && !LOOPBACK.test(url.hostname))
    throw new CommandFailed('TARGET_REMOTE', `${url.hostname} is not this machine: --allow-remote if you mean it`);
  return url;
}

/**
 * The secret of an endpoint, from a file or WEBHOOK_SECRET; else one that is made once for the profile and stays, so
 * that a receiver keeps it in its settings. Throws: CommandFailed.
 */
export function secretOf(file: string | undefined, profile: string | null, env: Environ): string {
  const given = file === undefined ? env['WEBHOOK_SECRET'] : secretIn(file);
  if (given) {
    if (SECRET.test(given)) return given;
    throw new CommandFailed('SECRET_FORM', 'a secret of an endpoint is whsec_ and base64');
  }
  const kept = profile === null ? null : readKept(profile, 'secret', env)?.['secret'];
  if (typeof kept === 'string' && SECRET.test(kept)) return kept;
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  if (profile !== null) writeKept(profile, 'secret', { secret }, env);
  return secret;
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailed('SECRET_FILE', `--secret-file is not read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Posts the exact bytes with the present time. `timeoutMs`: 0 waits for ever. Throws when the signal is aborted. */
export async function post(
  url: URL,
  { id, body }: PostedEvent,
  secret: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Posted> {
  const time = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const began = performance.now();
  const late = timeoutMs === 0 ? null : AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: late === null ? signal : AbortSignal.any([signal, late]),
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': time,
        'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`,
      },
    });
    await response.arrayBuffer();
    return { how: 'answered', status: response.status, ms: Math.round(performance.now() - began) };
  } catch (error) {
    if (signal.aborted) throw error;
    if (late?.aborted === true) return { how: 'late', reason: `no answer within ${timeoutMs / 1_000} s` };
    const { code = 'connection' } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    return { how: code === 'ECONNREFUSED' || code === 'ENOTFOUND' ? 'unreached' : 'late', reason: code };
  }
}
