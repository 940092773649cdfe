/** A setting that keeps people out. Console A41. */
import type { SsoStore } from '../../../model/ports/sso-store.ts';
import type { Logger } from 'pino';

/** More organizations than this are counted as so many. */
const COUNTED_MAX = 1_000;

/** Says, once, that SSO_OIDC=off keeps people out who get in by their provider alone. */
export async function warnOfClosedSso(
  setting: 'on' | 'off',
  sso: Pick<SsoStore, 'countEnforced'>,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  if (setting === 'on') return;
  const count = await sso.countEnforced('oidc', COUNTED_MAX);
  if (count > 0)
    log.warn(
      { count, setting: 'SSO_OIDC', next: 'set SSO_OIDC=on, or have an emergency owner of each end the enforcement' },
      'SSO_OIDC=off shuts members of organizations out',
    );
}
