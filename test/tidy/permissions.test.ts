import test from 'ava';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { disagreements, rowOf, ROWS } from '../support/permissions.ts';

test('console A1: every operation has a row in the table of permissions, and is declared as its row says', (t) => {
  const faults = ROUTE_LIST.flatMap((route) => {
    const { operationId, method, path } = route;
    const row = rowOf(route);
    const place = `${operationId} (${method} ${path})`;
    return row === undefined
      ? [`${place}: no row; add a line to ROWS in test/support/permissions.ts as console 2.1 has it`]
      : disagreements(route, row).map((fault) => `${place}: ${fault}`);
  });
  t.deepEqual(faults, []);
  t.is(rowOf({ method: 'GET', path: '/v1/unheard-of' }), undefined);
  t.is(rowOf({ method: 'GET', path: '/v1/addressesque' }), undefined);
});

test('console A1, A3: a declaration that differs from its row is found; no key reaches the role of an owner', (t) => {
  const mint = ROUTE_LIST.find(({ operationId }) => operationId === 'mintApiKey')!;
  const row = rowOf(mint)!;
  for (const change of [
    { role: 'editor' },
    { role: null },
    { credential: 'application' },
    { credential: 'none' },
    { where: 'both' },
    { refusals: [] },
  ] as const)
    t.is(disagreements({ ...mint, ...change }, row).length, 1, JSON.stringify(change));
  t.deepEqual(
    ROWS.filter(({ bearer, key }) => key !== null && (bearer === 'owner' || bearer === 'admin' || bearer === 'any')),
    [],
  );
});
