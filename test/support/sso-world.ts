/** A cloud with an identity provider and a name server beside it, and people who come by the provider. */
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { codeOf, raw, startTestCloud, type Person, type TestOrganization } from './gateway.ts';
import { startIdentityProvider, startNameServer, type ProviderLies } from './identity-provider.ts';

type Answer = Awaited<ReturnType<typeof raw>>;
/** A browser: it keeps its cookies. */
export interface Browser {
  readonly jar: Map<string, string>;
  /** POST below `/v1/auth/sso/`. */
  post(path: string, body: object): Promise<{ status: number; data: any; error: any; reason: any; answer: Answer }>;
}

export async function startSsoWorld(env: Readonly<Record<string, string>> = {}) {
  const records = new Map<string, string>();
  const [provider, names] = await Promise.all([startIdentityProvider(), startNameServer(records)]);
  const cloud = await startTestCloud({
    PUBLIC_URL: 'http://cloud.test',
    SSO_OIDC_ALLOW: provider.host,
    DNS_SERVERS: names.at,
    TRUSTED_PROXIES: '127.0.0.1',
    ...env,
  });
  const stop = async (): Promise<void> => {
    await cloud.stop();
    await provider.close();
    names.close();
  };

  const as = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
  const reasonOf = (answer: unknown): unknown =>
    isRefusal(answer as never) ? [(answer as any).code, (answer as any).details.reason] : 'done';
  let serial = 0;
  /** A domain of this run alone. */
  const newDomain = () => `d${(serial += 1)}-${process.pid}.example`;
  const ip = () => `203.0.${((serial += 1) >> 8) & 255}.${serial & 255}`;
  function browser(): Browser {
    const jar = new Map<string, string>();
    return {
      jar,
      async post(path: string, body: object) {
        const headers = {
          'content-type': 'application/json',
          'x-forwarded-for': ip(),
          cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        };
        const answer = await raw(cloud.url, 'POST', `/v1/auth/sso/${path}`, { headers, body: JSON.stringify(body) });
        for (const cookie of answer.headers.getSetCookie()) {
          const [name, value] = cookie.split(';')[0]!.split('=') as [string, string];
          jar.set(name, value);
        }
        const { status, json } = answer;
        return { status, data: json.data, error: json.error, reason: json.error?.details['reason'], answer };
      },
    };
  }

  async function withSso({ jitRole = 'viewer' as 'viewer' | 'editor' } = {}) {
    const organization = await cloud.organization();
    const owner = as(await cloud.signIn(organization.owner));
    const domain = newDomain();
    const added = await owner.must('addDomain', { body: { domain } });
    records.set(added.record.name, added.record.value);
    t0(await owner.call('checkDomain', { params: { id: added.id } }));
    const { issuer, clientId, clientSecret } = provider;
    const connection = await owner.must('setSsoConnection', { body: { issuer, clientId, clientSecret, jitRole } });
    return { organization, owner, domain, connection };
  }
  function t0(answer: unknown): void {
    if (isRefusal(answer as never)) throw new Error(JSON.stringify(answer));
  }
  const arrive = async (
    who: { sub: string; email?: string; email_verified?: unknown },
    connectionId: string,
    { at = browser() as Browser, lies = {}, more = {} }: { at?: Browser; lies?: ProviderLies; more?: object } = {},
  ) => {
    const started = await at.post('start', { connectionId });
    if (started.status !== 200) return { at, given: {} as Record<string, string>, ...started };
    const given = { ...provider.agree(started.data.url, who), ...more };
    provider.lies = lies;
    const finished = await at.post('finish', given);
    provider.lies = {};
    return { at, given, ...finished };
  };
  const person = (domain: string) => ({
    sub: `s-${(serial += 1)}`,
    email: `p${serial}@${domain}`,
    email_verified: true,
  });
  const byPassword = (who: Person, more: object = {}) => ({ password: who.password, ...more });
  const memberOf = async ({ id }: TestOrganization, userId: string) =>
    (
      await cloud.database.owner<{ role: string }[]>`
    select role from flock.membership where organization_id = ${id} and user_id = ${userId}`
    )[0]?.role ?? null;

  /** A person of the domain, with a factor, who came by the provider once and is linked with it. */
  async function linked(
    { domain, connection }: Awaited<ReturnType<typeof withSso>>,
    options?: { admin?: boolean; totp?: boolean },
  ) {
    const known = await cloud.person(options);
    const email = `linked-${(serial += 1)}@${domain}`;
    await cloud.database.owner`update flock.console_user set email = ${email} where id = ${known.id}`;
    const who = { sub: `l-${serial}`, email, email_verified: true };
    const { at } = await arrive(who, connection.id);
    const link = await at.post('link', byPassword(known, options?.totp === false ? {} : { totp: codeOf(known) }));
    if (link.status !== 200) throw new Error(link.answer.text);
    return { known: { ...known, email }, who };
  }

  return {
    records,
    provider,
    names,
    cloud,
    stop,
    as,
    reasonOf,
    newDomain,
    browser,
    withSso,
    t0,
    arrive,
    person,
    byPassword,
    memberOf,
    linked,
    next: () => (serial += 1),
  };
}
