/** Domains of emails that an organization proves to be its own, by a TXT record. Console A36. */
import { randomBytes } from 'node:crypto';
import { DOMAINS_MAX, type SsoDomainRow } from '../../../model/ports/sso-store.ts';
import { notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { createSays, recordName } from '../auth/domain-record.ts';
import { emailOf } from '../auth/email-address.ts';
import { accountOf, bearerOf, recordOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, wholePage } from '../views.ts';
import { lockedByTier } from './sso-tier.ts';

const CHECKS_PER_HOUR = 10;
const HOUR_MS = 3_600_000;
const TOKEN_BYTES = 16;
/** Mailboxes that anybody gets: nobody owns their domains. */
const CONSUMER = new Set(
  `gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com icloud.com me.com mac.com aol.com
  gmx.com gmx.de gmx.net web.de mail.com mail.ru yandex.com yandex.ru proton.me protonmail.com pm.me tutanota.com tuta.com
  fastmail.com zoho.com hey.com qq.com 163.com 126.com sina.com naver.com daum.net hanmail.net rediffmail.com
  comcast.net verizon.net att.net btinternet.com orange.fr free.fr laposte.net libero.it t-online.de`.split(/\s+/),
);

type Area = 'listDomains' | 'addDomain' | 'checkDomain' | 'removeDomain';

export function domainHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    stores: { sso },
    rateLimiter,
    config,
    nowMs,
  } = deps;
  const says = createSays({ dnsServers: config.sso?.dnsServers ?? [] });
  const organizationOf = (asked: Pick<Asked, 'caller'>) => {
    accountOf(asked);
    return bearerOf(asked).organizationId!;
  };
  const one = async (organizationId: string, id: string): Promise<SsoDomainRow | null> =>
    (await sso.domains(organizationId)).find((row) => row.id === id) ?? null;

  return {
    async listDomains(asked) {
      const rows = (await sso.domains(organizationOf(asked))).map(viewOf);
      return wholePage('domains', rows, asked.query, ({ domain }) => domain);
    },
    async addDomain(asked) {
      const organizationId = organizationOf(asked);
      const locked = await lockedByTier(deps, organizationId);
      if (locked !== null) return locked;
      const domain = emailOf(`a@${asked.body.domain}`)?.slice(2) ?? null;
      if (domain === null) return refuse('INVALID_INPUT', { field: 'domain', reason: 'no domain of emails' });
      if (CONSUMER.has(domain))
        return refuse('INVALID_INPUT', { field: 'domain', reason: 'consumer', next: 'add a domain of your own' });
      const id = newId('dmn', nowMs());
      const token = `flock-domain=${randomBytes(TOKEN_BYTES).toString('base64url')}`;
      const row = { id, organizationId, domain, token, verifiedAtMs: null, createdAtMs: nowMs() };
      const outcome = await sso.addDomain(row, recordOf(asked, { target: id, changes: { domain: [null, domain] } }));
      if (outcome === 'limit') return refuse('CONFLICT', { reason: 'domains', limit: DOMAINS_MAX });
      return outcome === 'known'
        ? refuse('CONFLICT', { reason: 'known', next: 'it is in the list' })
        : viewOf({ ...row, lapsedAtMs: null });
    },
    async checkDomain(asked) {
      const organizationId = organizationOf(asked);
      const row = await one(organizationId, asked.params.id);
      if (row === null) return notFound('domain', asked.params.id);
      if (row.verifiedAtMs !== null) return viewOf(row);
      const { allowed, resetSeconds } = await rateLimiter.take(
        `domains:${organizationId}`,
        CHECKS_PER_HOUR,
        nowMs(),
        HOUR_MS,
      );
      if (!allowed)
        return refuse('RATE_LIMIT_EXCEEDED', { windowSeconds: HOUR_MS / 1_000, retryAfterSeconds: resetSeconds });
      if ((await says(row.domain, row.token)) !== true)
        return refuse('CONFLICT', {
          reason: 'record',
          next: `publish the TXT record ${recordName(row.domain)} and check again: it may take a while to be seen`,
        });
      const outcome = await sso.verifyDomain(organizationId, row.id, nowMs(), recordOf(asked));
      return outcome === 'taken' ? taken() : viewOf({ ...row, verifiedAtMs: nowMs(), lapsedAtMs: null });
    },
    async removeDomain(asked) {
      const isRemoved = await sso.removeDomain(organizationOf(asked), asked.params.id, recordOf(asked));
      return isRemoved ? { removed: true as const } : notFound('domain', asked.params.id);
    },
  };
}

const taken = (): Refusal =>
  refuse('CONFLICT', { reason: 'taken', next: 'another organization has verified it: ask them to remove it' });

const viewOf = ({ id, domain, token, verifiedAtMs, lapsedAtMs, createdAtMs }: SsoDomainRow): ReplyOf<'addDomain'> => ({
  id,
  domain,
  status: verifiedAtMs !== null ? 'verified' : lapsedAtMs !== null ? 'unverified' : 'pending',
  record: { name: recordName(domain), type: 'TXT', value: token },
  verifiedAt: instantOrNull(verifiedAtMs),
  createdAt: instantOf(createdAtMs),
});
