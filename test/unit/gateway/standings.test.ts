import test from 'ava';
import { createStandings } from '../../../gateway/http/auth/standings.ts';
import type { StandingOfToken } from '../../../model/ports/login-store.ts';

const BEARER = { userId: 'usr_1', loginId: 'lgn_1', organizationId: 'org_1' };

test('console A13: a standing is remembered for 15 s, dropped at once where it changed, and no answer from before that is kept', async (t) => {
  let elapsedMs = 0,
    asked = 0;
  let stored: StandingOfToken | null = {
    open: true,
    role: 'owner',
    platformAdmin: false,
    onlyOrganizationId: null,
    ssoRequired: null,
  };
  let late: Promise<void> = Promise.resolve();
  const standings = createStandings(
    {
      async standing() {
        asked += 1;
        const answer = stored;
        await late;
        return answer;
      },
    },
    () => 0,
    () => elapsedMs,
  );
  t.is((await standings.of(BEARER))?.role, 'owner');
  stored = { open: true, role: 'viewer', platformAdmin: false, onlyOrganizationId: null, ssoRequired: null };
  elapsedMs = 14_999;
  t.is((await standings.of(BEARER))?.role, 'owner', 'changed on another node');
  elapsedMs = 15_000;
  t.is((await standings.of(BEARER))?.role, 'viewer');
  t.is(asked, 2);
  t.is((await standings.of({ ...BEARER, organizationId: 'org_2' }))?.role, 'viewer', 'asked for itself');
  t.is(asked, 3);

  const { promise, resolve } = Promise.withResolvers<void>();
  late = promise;
  standings.forget('usr_1');
  const onItsWay = standings.of(BEARER);
  standings.forget('usr_1');
  stored = null;
  resolve();
  t.is((await onItsWay)?.role, 'viewer');
  t.is(await standings.of(BEARER), null, 'the answer from before the change was not remembered');
  t.is(await standings.of(BEARER), null);
  t.is(asked, 6, 'a user that there is none of is asked for each time');
});
