/** Checks of the way to an address: its name, its certificate, its clock. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createCertificateLook } from '../certificate-look.ts';
import { fail, ok, reasonOf, unknown, warn, type Finding } from './examine.ts';

const CERTIFICATE_WARN_DAYS = 14;
const CERTIFICATE_FAIL_DAYS = 2;
const LOOK_AGAIN_MS = 20;
/** Beyond this signed calls are about to be refused, and receivers call deliveries too old. */
const CLOCK_WARN_SECONDS = 5;
const CLOCK_FAIL_SECONDS = 60;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

/** `setting`: where the address is set. */
export async function lookAtName(url: string, setting: string): Promise<Finding> {
  const host = hostOf(url);
  if (isIP(host) !== 0) return ok('the address needs no name server');
  try {
    const found = await lookup(host, { all: true });
    return ok(`${host} has ${found.length === 1 ? 'one address' : `${found.length} addresses`}`);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'EAI_AGAIN') return unknown('the name server does not answer', 'look at the name server');
    return fail(`the name server knows no ${host} (${reason})`, `correct ${setting}, or the name server's entry`);
  }
}

/** `isLive`: whether a live key goes over it. */
export async function lookAtCertificate(
  url: string,
  { setting, isLive, signal }: { setting: string; isLive: boolean; signal: AbortSignal },
): Promise<Finding> {
  if (new URL(url).protocol !== 'https:') {
    if (LOOPBACK.test(hostOf(url))) return ok('on this machine no certificate is needed');
    const seen = 'plain http to another machine: who is on the way reads the key';
    return (isLive ? fail : warn)(seen, `give ${setting} as https`);
  }
  const days = createCertificateLook(url);
  let left = days();
  while (left === null && !signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    left = days();
  }
  if (left === null) return unknown('no handshake', `look whether ${setting} answers TLS`);
  const seen = left < 0 ? `it ended ${Math.ceil(-left)} days ago` : `it is good for ${Math.floor(left)} days`;
  if (left < CERTIFICATE_FAIL_DAYS) return fail(seen, 'renew the certificate now');
  return left < CERTIFICATE_WARN_DAYS ? warn(seen, 'renew the certificate') : ok(seen);
}

/** One answer, with the time before and after: it was true at some moment between. A `Date` is cut to the second. */
export interface Dated {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly date: string | null;
}

export function lookAtClock({ askedMs, answeredMs, date }: Dated): Finding {
  const theirsMs = Date.parse(date ?? '');
  if (!Number.isFinite(theirsMs)) return unknown('the answer has no Date', 'look which proxy takes it away');
  const offset = ((askedMs + answeredMs) / 2 - (theirsMs + 500)) / 1_000;
  const off = Math.max(0, Math.abs(offset) - (answeredMs - askedMs) / 2_000);
  const seen = `${Math.round(Math.abs(offset))} s ${offset < 0 ? 'behind' : 'ahead of'} the service`;
  const remedy = 'have the clock of this machine set by NTP; if it is right, that of the service is wrong';
  if (off > CLOCK_FAIL_SECONDS) return fail(seen, remedy);
  return off > CLOCK_WARN_SECONDS ? warn(seen, remedy) : ok('within 5 s of the service');
}

/** Node.js takes no notice of these but with NODE_USE_ENV_PROXY=1. */
export function lookAtProxy(url: string, env: Readonly<Record<string, string | undefined>>): Finding {
  const { protocol } = new URL(url);
  const names = protocol === 'https:' ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  const name = [...names, 'ALL_PROXY', 'all_proxy'].find((one) => (env[one] ?? '') !== '');
  if (name === undefined) return ok('no proxy is set');
  const host = hostOf(url);
  const passed = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').split(',').map((one) => one.trim().replace(/^\*?\./, ''));
  if (passed.some((one) => one === '*' || one === host || (one !== '' && host.endsWith(`.${one}`))))
    return ok(`${name} is set, and NO_PROXY leaves ${host} out`);
  if (env['NODE_USE_ENV_PROXY'] === '1') return ok(`${name} is used`);
  return warn(
    `${name} is set, and connections pass by it`,
    'set NODE_USE_ENV_PROXY=1 to go through it, or name the host in NO_PROXY',
  );
}
