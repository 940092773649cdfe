/** Found F78, at run time: a refusal whose route does not declare its code is counted, and answered all the same. */
import test from 'ava';
import { DeclaredCodes, type Undeclared } from '../../../edge/http/declared-codes.ts';
import { refused, type EdgeAnswer } from '../../../edge/http/exchange.ts';
import { createEdgeServer } from '../../../edge/http/server.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import { ERRORS, refuse, type ErrorCode } from '../../../protocol/errors.ts';
import { codesOf } from '../../../protocol/route.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';

test('found F78: of every route each declared code passes, and every other one is found, also on HEAD', (t) => {
  for (const route of ROUTE_LIST) {
    const declared = new DeclaredCodes(),
      codes = new Set<string>(codesOf(route));
    declared.serves('/one', route);
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const request = {};
      declared.note(request, code, 'edge');
      const expected = codes.has(code) ? null : { operationId: route.operationId, code, by: 'edge' };
      for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])
        t.deepEqual(declared.undeclared(request, method, '/one'), expected as Undeclared | null);
      t.is(declared.undeclared(request, route.method, '/another'), null, 'a path of no route');
    }
    t.is(declared.undeclared({}, route.method, '/one'), null, 'no refusal');
  }
});

test('found F78: an undeclared code is answered unchanged; it is counted after the answer, and a stranger’s text is not repeated', async (t) => {
  const found: Undeclared[] = [];
  let answer: EdgeAnswer = refused(refuse('LEASE_HELD', { epoch: 7 }));
  const server = createEdgeServer({
    paths: {},
    forward: () => answer,
    content: async () => answer,
    hearing: { besideSigned: (_call, same) => same, before: async () => null, after: async () => undefined },
    statusPage: () => refused(refuse('INTERNAL_ERROR')),
    judgeKey: () => ({ id: 'key_1' }),
    stopping: () => false,
    onUndeclared: (refusal) => found.push(refusal),
    nowMs: () => 0,
    log: createEdgeLog('silent', { write: () => undefined }),
  });
  t.teardown(() => server.close());
  const get = () => server.inject({ url: '/v1/addresses', headers: { 'x-api-key': 'loc_live_x' } });
  const own = await get();
  t.is(own.statusCode, 409);
  t.like(own.json(), { error: { code: 'LEASE_HELD', details: { epoch: 7 } } });
  t.deepEqual(found.splice(0), [{ operationId: 'listAddresses', code: 'LEASE_HELD', by: 'edge' }]);
  const body = Buffer.from('{"a":1}');
  answer = { kind: 'passed', answer: { status: 418, headers: {}, body }, code: 'A_CODE_OF_THEIRS' };
  t.is((await get()).body, '{"a":1}');
  t.deepEqual(found.splice(0), [{ operationId: 'listAddresses', code: 'unknown', by: 'cloud' }]);
  answer = refused(refuse('INVALID_CHAIN'));
  t.is((await get()).statusCode, 400);
  t.deepEqual(found, []);
});
