import test from 'ava';
import { ERRORS, precedenceOf, refuse, statusOf, type ErrorCode } from '../../protocol/errors.ts';
import { codesOf } from '../../protocol/route.ts';
import { ROUTE_LIST, type OperationId } from '../../protocol/routes.ts';
import { filesOf, ROOMS } from '../support/tree.ts';
import { codesIn, documentText, sectionOf, tableRows } from '../support/documents.ts';

const SECTION = sectionOf(documentText('spec.md'), '## 7. Errors');
const TABLE = tableRows(SECTION).map(([status, code]) => [Number(status), codesIn(code!)[0]!] as const);

test('§7 every code of the table has its status', (t) => {
  t.true(TABLE.length > 40);
  for (const [status, code] of TABLE) t.is(statusOf(code as ErrorCode), status, code);
});

test('§7.2 and §7.3 the codes listed without a condition have the status of their class', (t) => {
  for (const [rule, status] of [
    [2, 400],
    [3, 403],
  ] as const) {
    const line = SECTION.split('\n').find((text) => text.startsWith(`${rule}. `))!;
    const codes = codesIn(line).filter((code) => /^[A-Z_]+$/.test(code));
    t.true(codes.length >= 6);
    for (const code of codes) t.is(statusOf(code as ErrorCode), status, code);
  }
});

test('decisions 2 and 3: what is added to the table, and nothing beside it', (t) => {
  const added: Partial<Record<ErrorCode, number>> = {
    METHOD_NOT_ALLOWED: 405,
    PAYLOAD_TOO_LARGE: 413,
    UNSUPPORTED_MEDIA_TYPE: 415,
    INSUFFICIENT_FUNDS: 422,
    INSUFFICIENT_GAS: 422,
    DESTINATION_OPT_IN_REQUIRED: 422,
  };
  for (const [code, status] of Object.entries(added)) t.is(statusOf(code as ErrorCode), status, code);
  const documented = new Set([...codesIn(SECTION), ...Object.keys(added)]);
  // Overload and draining need a code that says "nothing was done, come back"; decision record 0012.
  t.deepEqual(
    Object.keys(ERRORS).filter((code) => !documented.has(code)),
    ['SERVICE_UNAVAILABLE'],
  );
});

test('when several refusals apply the earlier in the table wins: who asks, what is asked, may it be, can it be now', (t) => {
  const order: ErrorCode[] = [
    'UNAUTHORIZED',
    'EDGE_SIGNATURE_SKEW',
    'EDGE_SIGNATURE_INVALID',
    'EDGE_NONCE_REPLAY',
    'KEY_MATERIAL_REJECTED',
    'RATE_LIMIT_EXCEEDED',
    'FORBIDDEN',
    'INVALID_INPUT',
    'INVALID_CHAIN',
    'NOT_FOUND',
    'NO_SUBSCRIPTION',
    'CHAIN_NOT_READY',
    'ADDRESS_LIMIT_EXCEEDED',
    'EDGE_OFFLINE',
    'INTERNAL_ERROR',
  ];
  t.deepEqual(
    order.toSorted((left, right) => precedenceOf(left) - precedenceOf(right)),
    order,
  );
});

test('a refusal is a value with the message of the table unless it has a better one', (t) => {
  t.deepEqual(refuse('NOT_FOUND'), { ok: false, code: 'NOT_FOUND', message: ERRORS.NOT_FOUND[1], details: {} });
  t.is(refuse('CONFLICT', { reason: 'x' }, 'already so').message, 'already so');
  t.is(
    refuse('CONFLICT', { reason: 'policy_limit', limit: 5 }).message,
    'the state does not allow it: policy limit (5)',
  );
});

test('every route names only codes of the table, and each that its credential can meet', (t) => {
  for (const route of ROUTE_LIST) {
    const codes = codesOf(route);
    t.deepEqual(
      codes.filter((code) => !(code in ERRORS)),
      [],
      route.operationId,
    );
    t.is(
      codes.includes('UNAUTHORIZED'),
      route.credential !== 'none' || route.refusals.includes('UNAUTHORIZED'),
      route.operationId,
    );
    t.is(codes.includes('IDEMPOTENCY_CONFLICT'), route.idempotent !== undefined, route.operationId);
  }
});

test('found F78: the errors page has every code of the table, in its order, with its status and its words', (t) => {
  const rows = tableRows(sectionOf(documentText('errors.md'), '## Codes')).map(([status, code, meaning]) => [
    Number(status),
    codesIn(code!)[0],
    meaning,
  ]);
  t.deepEqual(
    rows,
    Object.entries(ERRORS).map(([code, [status, meaning]]) => [status, code, meaning]),
  );
});

test('found F76: what names nothing says what was looked for: no bare NOT_FOUND is made', (t) => {
  const bare = filesOf([...ROOMS], '.ts')
    .filter(({ text }) => /refuse\('NOT_FOUND'\)/.test(text))
    .map(({ path }) => path);
  t.deepEqual(bare, [], 'notFound(what, id) instead');
});

/**
 * What decides a request of these routes: every code that is made there may be its answer. Names of files and folders.
 */
const DECIDED_BY: Partial<Record<OperationId, readonly string[]>> = {
  buildTransaction: [
    'actors/outgoing/decide.ts',
    'actors/outgoing/counters.ts',
    'chains/*/build-inputs.ts',
    'chains/*/unsigned.ts',
    'chains/*/fee.ts',
    'gateway/http/transaction',
    'edge/signing/signers',
  ],
  repriceTransaction: [
    'actors/outgoing/row.ts',
    'actors/outgoing/decide.ts',
    'chains/*/build-inputs.ts',
    'chains/*/unsigned.ts',
    'chains/*/fee.ts',
    'edge/signing/signers',
  ],
  broadcastTransaction: [
    'actors/outgoing/signed.ts',
    'actors/outgoing/row.ts',
    'actors/outgoing/binding.ts',
    'actors/edge-link/lease.ts',
    'chains/*/rejection.ts',
    'edge/signing',
    'edge/spend',
    'edge/link/via-leader.ts',
  ],
};
/** Codes that stand in those files and that these routes do not answer, each with its reason. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  COMPLIANCE_REJECTED: 'of the build alone',
  IDENTITY_ROTATION_PENDING: 'every signed request',
  EDGE_SIGNATURE_INVALID: 'every signed request',
  INTERNAL_ERROR: 'every route',
  TOKEN_NOT_SUPPORTED: 'of the build alone',
  RESYNC_REQUIRED: "of the edge's own calls",
  PAYLOAD_TOO_LARGE: 'of what the edge sends',
  UNSUPPORTED_MEDIA_TYPE: 'of what the edge sends',
  KEY_MATERIAL_REJECTED: 'every route',
};

test('found F78: every code that decides a build, a repricing or a broadcast is in the description of its route', (t) => {
  for (const [operationId, places] of Object.entries(DECIDED_BY)) {
    const route = ROUTE_LIST.find((one) => one.operationId === operationId)!,
      declared = new Set<string>(codesOf(route));
    const all = filesOf([...ROOMS], '.ts'),
      filesAt = (place: string) => all.filter(({ path }) => new RegExp(`^${place.replace('*', '[a-z]+')}`).test(path));
    t.deepEqual(
      places.filter((place) => filesAt(place).length === 0),
      [],
      `${operationId}: what is not there any more`,
    );
    const files = [...new Set(places.flatMap(filesAt))];
    const made = new Set(
      files.flatMap(({ text }) =>
        [...text.matchAll(/'([A-Z]+_[A-Z_]+|CONFLICT)'/g)]
          .map(([, code]) => code!)
          .filter((code) => Object.hasOwn(ERRORS, code)),
      ),
    );
    t.true(made.size > 5, operationId);
    t.deepEqual(
      [...made].filter((code) => !declared.has(code) && !Object.hasOwn(OF_OTHERS, code)),
      [],
      operationId,
    );
  }
  for (const code of ['ADDRESS_WATCH_ONLY', 'INSUFFICIENT_FUNDS']) {
    for (const operationId of Object.keys(DECIDED_BY))
      t.true(
        codesOf(ROUTE_LIST.find((one) => one.operationId === operationId)!).includes(code as ErrorCode),
        `${operationId} ${code}`,
      );
  }
});

test('migration M-X10: an address in observe mode is refused as such before it is refused as watch-only', (t) => {
  t.true(precedenceOf('ADDRESS_IN_OBSERVE_MODE') < precedenceOf('ADDRESS_WATCH_ONLY'));
});
