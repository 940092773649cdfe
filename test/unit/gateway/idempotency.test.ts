import test from 'ava';
import { randomBytes } from 'node:crypto';
import { bodyHashOf, isSameBody } from '../../../gateway/http/body-hash.ts';
import { createIdempotency, type KeyUse, type Outcome } from '../../../gateway/http/idempotency.ts';
import type { IdempotencyRow } from '../../../model/rows/idempotency.ts';
import { withTaggedBigints } from '../../../protocol/bigint-json.ts';
import { ERRORS, refuse, statusOf, type ErrorCode } from '../../../protocol/errors.ts';
import { createSecretBox } from '../../../persistence/secret-box.ts';

/** The part of the store that keeps answers, in memory: the first one stays. */
function keeping() {
  const rows = new Map<string, IdempotencyRow>();
  const slot = (...parts: string[]) => parts.join('|');
  return {
    rows,
    reads: {
      idempotent: async (accountId: string, method: string, path: string, key: string) =>
        rows.get(slot(accountId, method, path, key)) ?? null,
      saveIdempotent: async (accountId: string, row: IdempotencyRow) => {
        const at = slot(accountId, row.method, row.path, row.key);
        if (rows.has(at)) return false;
        rows.set(at, row);
        return true;
      },
      forgetIdempotent: async (
        accountId: string,
        row: Pick<IdempotencyRow, 'method' | 'path' | 'key'>,
        deadId: string,
      ) => {
        const at = slot(accountId, row.method, row.path, row.key);
        if ((rows.get(at)?.body as { id?: string } | undefined)?.id === deadId) rows.delete(at);
      },
    },
  };
}
const secrets = createSecretBox([randomBytes(32)]);
let clockMs = 0;
const nowMs = () => clockMs;
const use = (more: Partial<KeyUse> = {}): KeyUse => ({
  owner: 'org_1_live',
  key: 'k',
  method: 'POST',
  path: '/v1/x',
  bodyHash: 'h',
  kept: 'store',
  ...more,
});
const unchanged = async (stored: unknown) => stored;
const done = (reply: unknown): Outcome => ({ ok: true, status: 201, reply });

test('I23 one effect per key, whatever comes at the same time or later, also from another node', async (t) => {
  const { reads, rows } = keeping();
  const [one, two] = [createIdempotency({ reads, secrets, nowMs }), createIdempotency({ reads, secrets, nowMs })];
  let effects = 0;
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const act = async () => {
    effects += 1;
    await gate;
    return done({ n: effects });
  };
  const waiting = Array.from({ length: 20 }, () => one.once(use(), act, unchanged));
  release();
  const answers = await Promise.all(waiting);
  t.is(effects, 1);
  t.is(answers.filter(({ replayed }) => !replayed).length, 1);
  t.deepEqual(new Set(answers.map(({ outcome }) => JSON.stringify(outcome))).size, 1);
  t.deepEqual(await two.once(use(), act, unchanged), {
    outcome: { ok: true, status: 201, reply: { n: 1 } },
    replayed: true,
  });
  t.is(effects, 1);
  t.false(JSON.stringify([...rows.values()]).includes('"n":1'), 'sealed: an answer may hold a key that is shown once');
});

test("a key is its account's, method's and path's own, while the first use is at work too", async (t) => {
  const idempotency = createIdempotency({ reads: keeping().reads, secrets, nowMs });
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const uses = [use(), use({ owner: 'org_2_live' }), use({ method: 'PUT' }), use({ path: '/v1/y' }), use({ key: 'l' })];
  const answers = uses.map((one, index) =>
    idempotency.once(
      one,
      async () => {
        await gate;
        return done(index);
      },
      unchanged,
    ),
  );
  release();
  t.deepEqual(
    await Promise.all(answers),
    uses.map((_, index) => ({ outcome: { ok: true, status: 201, reply: index }, replayed: false })),
  );
});

test('found F76: a key that is used with another body is named, with its method and path, what differs and the next step', async (t) => {
  const idempotency = createIdempotency({ reads: keeping().reads, secrets, nowMs });
  await idempotency.once(use({ key: 'payout-42' }), async () => done(1), unchanged);
  const { outcome } = await idempotency.once(
    use({ key: 'payout-42', bodyHash: 'other' }),
    async () => done(2),
    unchanged,
  );
  t.like(outcome, {
    code: 'IDEMPOTENCY_CONFLICT',
    message: 'Idempotency-Key "payout-42" was used for POST /v1/x with another body',
    details: { key: 'payout-42', method: 'POST', path: '/v1/x', differs: 'body' },
  });
  t.regex(
    String((outcome as { details: { next?: string } }).details.next),
    /the first body again.*a new Idempotency-Key/,
  );
});

test('another body is IDEMPOTENCY_CONFLICT, while the first is at work and afterwards', async (t) => {
  const idempotency = createIdempotency({ reads: keeping().reads, secrets, nowMs });
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = idempotency.once(
    use(),
    async () => {
      await gate;
      return done(1);
    },
    unchanged,
  );
  const meanwhile = idempotency.once(use({ bodyHash: 'other' }), async () => done(2), unchanged);
  release();
  t.like((await meanwhile).outcome, { code: 'IDEMPOTENCY_CONFLICT' });
  await first;
  t.like((await idempotency.once(use({ bodyHash: 'other' }), async () => done(2), unchanged)).outcome, {
    code: 'IDEMPOTENCY_CONFLICT',
  });
});

test('cluster seed 16: the first body of a key is answered, also while another body of it is at work on this node', async (t) => {
  const { reads } = keeping();
  const [one, two] = [createIdempotency({ reads, secrets, nowMs }), createIdempotency({ reads, secrets, nowMs })];
  await one.once(use(), async () => done(1), unchanged);
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  // The account says that the key is taken; what is stored is read after it.
  const other = two.once(
    use({ bodyHash: 'other', kept: 'actor' }),
    async () => {
      await gate;
      return { ok: 'duplicate' } as const;
    },
    unchanged,
  );
  const again = two.once(use({ kept: 'actor' }), async () => ({ ok: 'duplicate' }) as const, unchanged);
  release();
  t.like((await again).outcome, { ok: true, reply: 1 });
  t.like((await other).outcome, { code: 'IDEMPOTENCY_CONFLICT' });
  // A use that came to nothing bound nothing.
  const failing = two.once(
    use({ key: 'free', bodyHash: 'other' }),
    async () => refuse('SERVICE_UNAVAILABLE'),
    unchanged,
  );
  const mine = two.once(use({ key: 'free' }), async () => done(3), unchanged);
  t.like((await failing).outcome, { code: 'SERVICE_UNAVAILABLE' });
  t.like((await mine).outcome, { ok: true, reply: 3 });
});

test('an account\'s own stored answer is told after "duplicate", and before a refusal that rests on the first effect', async (t) => {
  const { reads } = keeping();
  const idempotency = createIdempotency({ reads, secrets, nowMs });
  const kept = { kept: 'actor' as const };
  await reads.saveIdempotent('org_1_live', {
    key: 'k',
    method: 'POST',
    path: '/v1/x',
    bodyHash: 'h',
    status: 201,
    body: withTaggedBigints({ amount: 5n }),
  });
  const replay = async (stored: unknown) => ({ seen: stored });
  for (const outcome of [{ ok: 'duplicate' } as const, refuse('ADDRESS_LIMIT_EXCEEDED')]) {
    t.deepEqual(await idempotency.once(use(kept), async () => outcome, replay), {
      outcome: { ok: true, status: 201, reply: { seen: { amount: 5n } } },
      replayed: true,
    });
  }
  t.like((await idempotency.once(use({ ...kept, key: 'lost' }), async () => ({ ok: 'duplicate' }), replay)).outcome, {
    code: 'INTERNAL_ERROR',
  });
});

test('found F57: a build that died unsigned is not an answer to keep: the key builds once more, and then answers with that', async (t) => {
  const { reads, rows } = keeping();
  const [one, two] = [createIdempotency({ reads, secrets, nowMs }), createIdempotency({ reads, secrets, nowMs })];
  const kept = { kept: 'actor' as const };
  await reads.saveIdempotent('org_1_live', {
    key: 'k',
    method: 'POST',
    path: '/v1/x',
    bodyHash: 'h',
    status: 201,
    body: { id: 'txn_dead' },
  });
  const replay = async (stored: unknown) =>
    (stored as { id: string }).id === 'txn_dead' ? { outgrown: 'txn_dead' } : stored;
  let built = 0;
  // The account's own append: nothing is written while the key is taken.
  const act = async (): Promise<Outcome> => {
    if (rows.size > 0) return { ok: 'duplicate' };
    built += 1;
    await reads.saveIdempotent('org_1_live', {
      key: 'k',
      method: 'POST',
      path: '/v1/x',
      bodyHash: 'h',
      status: 201,
      body: { id: `txn_${built}` },
    });
    return done({ id: `txn_${built}` });
  };
  const answers = await Promise.all([one, two, one, two].map((node) => node.once(use(kept), act, replay)));
  t.deepEqual(
    answers.map(({ outcome }) => outcome),
    answers.map(() => ({ ok: true, status: 201, reply: { id: 'txn_1' } })),
  );
  t.is(built, 1);
  t.like((await one.once(use({ ...kept, bodyHash: 'other' }), act, replay)).outcome, { code: 'IDEMPOTENCY_CONFLICT' });
});

test('decisions 3: refusals are kept, except those that speak of the moment', async (t) => {
  const { reads } = keeping();
  const idempotency = createIdempotency({ reads, secrets, nowMs });
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    await idempotency.once(use({ key: code }), async () => refuse(code, { a: 1 }), unchanged);
    const again = await idempotency.once(use({ key: code }), async () => done('now it works'), unchanged);
    const momentary =
      statusOf(code) >= 500 ||
      [423, 429].includes(statusOf(code)) ||
      ['UNAUTHORIZED', 'TOTP_REQUIRED', 'IDEMPOTENCY_CONFLICT'].includes(code);
    t.is(again.replayed, !momentary, code);
    if (!momentary) t.deepEqual(again.outcome, refuse(code, { a: 1 }));
  }
});

test('a first request that breaks keeps nothing and holds up nobody', async (t) => {
  const idempotency = createIdempotency({ reads: keeping().reads, secrets, nowMs });
  const broken = idempotency.once(
    use(),
    async () => {
      throw new Error('broken');
    },
    unchanged,
  );
  const second = idempotency.once(use(), async () => done('fine'), unchanged);
  await t.throwsAsync(() => broken, { message: 'broken' });
  t.like(await second, { outcome: { reply: 'fine' }, replayed: false });
});

test('found F43: a queue that was full once is not full for ever: what says when to come again is not kept', async (t) => {
  const { reads } = keeping();
  const idempotency = createIdempotency({ reads, secrets, nowMs });
  const full = async () => refuse('CONFLICT', { reason: 'in_flight_limit', retryAfterSeconds: 12 });
  t.like((await idempotency.once(use(), full, unchanged)).outcome, { code: 'CONFLICT' });
  t.like(await idempotency.once(use(), async () => done('built'), unchanged), {
    outcome: { reply: 'built' },
    replayed: false,
  });
});

test('I23 found F45: an answer of before a deploy that makes body hashes anew is replayed to the same body, and no answer is lost for it', async (t) => {
  const body = { b: 1, a: [null, 'x'] },
    [, hex = ''] = bodyHashOf(body).split(':');
  t.regex(bodyHashOf(body), /^1:[0-9a-f]{64}$/);
  t.is(bodyHashOf({ a: [null, 'x'], b: 1 }), bodyHashOf(body));
  t.not(bodyHashOf({ ...body, b: 2 }), bodyHashOf(body));
  for (const [stored, asked, same] of [
    ['1:aa', '1:aa', true],
    ['1:aa', '1:bb', false],
    ['aa', '1:aa', true],
    ['aa', '1:bb', false],
    ['aa', 'bb', false],
    ['1:aa', '2:cc 1:aa', true],
    ['2:cc 1:aa', '1:aa', true],
    ['1:aa', '2:cc 1:bb', false],
    ['2:cc 1:aa', '2:dd 1:aa', false],
    ['2:cc', '1:aa', true],
  ] as const)
    t.is(isSameBody(stored, asked), same, `${stored} ${asked}`);
  const { reads } = keeping(),
    idempotency = createIdempotency({ reads, secrets, nowMs });
  await reads.saveIdempotent('org_1_live', {
    key: 'k',
    method: 'POST',
    path: '/v1/x',
    bodyHash: hex,
    status: 201,
    body: { n: 1 },
  });
  const act = async () => done({ n: 2 });
  t.deepEqual((await idempotency.once(use({ bodyHash: bodyHashOf(body) }), act, unchanged)).outcome, {
    ok: true,
    status: 201,
    reply: { n: 1 },
  });
  t.like((await idempotency.once(use({ bodyHash: bodyHashOf({}) }), act, unchanged)).outcome, {
    code: 'IDEMPOTENCY_CONFLICT',
  });
});

test('I23 issue 10.2: what would be made twice is made by one of two nodes that get one use at once; the other one says when to ask again', async (t) => {
  const { reads, rows } = keeping();
  const [one, two] = [createIdempotency({ reads, secrets, nowMs }), createIdempotency({ reads, secrets, nowMs })];
  let effects = 0;
  const gate = Promise.withResolvers<void>();
  const act = async () => {
    effects += 1;
    await gate.promise;
    return done({ n: effects });
  };
  const claimed = use({ kept: 'claimed' });
  const first = one.once(claimed, act, unchanged);
  const second = await two.once(claimed, act, unchanged);
  t.like(second.outcome, { code: 'SERVICE_UNAVAILABLE', details: { retryAfterSeconds: 1 } });
  gate.resolve();
  t.like(await first, { outcome: { reply: { n: 1 } }, replayed: false });
  t.like(await two.once(claimed, act, unchanged), { outcome: { reply: { n: 1 } }, replayed: true });
  t.is(effects, 1);
  t.is(rows.size, 1, 'nothing says any more that it is at work');
});

test('I23 issue 10.2: a key whose node died is free again after 15 s, and one whose use came to nothing at once', async (t) => {
  const { reads } = keeping();
  const [dead, other] = [createIdempotency({ reads, secrets, nowMs }), createIdempotency({ reads, secrets, nowMs })];
  const claimed = use({ kept: 'claimed' });
  await t.throwsAsync(
    dead.once(
      claimed,
      async () => {
        throw new Error('as a test wants it');
      },
      unchanged,
    ),
  );
  t.like(await other.once({ ...claimed, key: 'k2' }, async () => refuse('UNAUTHORIZED'), unchanged), {
    outcome: { code: 'UNAUTHORIZED' },
  });
  void dead.once(claimed, () => new Promise(() => undefined), unchanged);
  const again = () => other.once(claimed, async () => done({ n: 1 }), unchanged);
  t.like(await again(), { outcome: { code: 'SERVICE_UNAVAILABLE' } });
  clockMs += 15_000;
  t.like(await again(), { outcome: { code: 'SERVICE_UNAVAILABLE' } });
  clockMs += 1;
  t.like(await again(), { outcome: { reply: { n: 1 } }, replayed: false });
});
