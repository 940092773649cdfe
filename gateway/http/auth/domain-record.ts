/** The TXT record by which a domain is an organization's, as name servers say it. Console A36. */
import { Resolver } from 'node:dns/promises';
import type { SsoStore } from '../../../model/ports/sso-store.ts';

const DNS_TIMEOUT_MS = 5_000;
/** What a name server says of a name that is not there, or has no such record. */
const NOT_THERE: readonly unknown[] = ['ENOTFOUND', 'ENODATA'];

export const recordName = (domain: string): string => `_flock-challenge.${domain}`;

export interface DnsSettings {
  /** Empty for those of the system. */
  readonly dnsServers: readonly string[];
}

/** Whether the record of a domain has a text; null where nobody answers. */
export type Says = (domain: string, token: string) => Promise<boolean | null>;

export function createSays({ dnsServers }: DnsSettings): Says {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  return async (domain, token) => {
    try {
      return (await resolver.resolveTxt(recordName(domain))).some((parts) => parts.join('') === token);
    } catch (error) {
      return NOT_THERE.includes((error as { code?: unknown }).code) ? false : null;
    }
  };
}

/** Looks again at verified domains that were not looked at for a week; answers how many lapsed. */
export async function domainRound(
  sso: Pick<SsoStore, 'domainsDue' | 'noteLook'>,
  settings: DnsSettings,
  nowMs: number,
): Promise<number> {
  const says = createSays(settings);
  let lapsed = 0;
  for (const { id, domain, token } of await sso.domainsDue(nowMs))
    if (await sso.noteLook(id, await says(domain, token), nowMs)) lapsed += 1;
  return lapsed;
}
