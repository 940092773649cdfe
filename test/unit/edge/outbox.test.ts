import test from 'ava';
import { Outbox, POISONED_AFTER_TRIES } from '../../../edge/link/outbox.ts';
import { OutboxSender, type OutboxRoute, type Sent } from '../../../edge/link/outbox-sender.ts';
import { Refused } from '../../../protocol/errors.ts';
import { outboxCommand } from '../../../edge/cli/outbox.ts';
import { SCHEMA_VERSIONS } from '../../../edge/storage/schema.ts';
import { StorageFailed } from '../../../edge/storage/failed.ts';
import { openDatabase, openStorage } from '../../../edge/storage/storage.ts';
import { newDirectory, newStorage } from '../../support/edge/disk.ts';
import { until } from '../../support/until.ts';

const SETTINGS = { capacity: 10, nowMs: () => 1_700_000_000_000 };
const attempt = (subject: string) => ({ subject, body: `body of ${subject}` });

test('writes leave in the order in which they came, a subject once', (t) => {
  const outbox = new Outbox(newStorage(), SETTINGS);
  outbox.append('attempt', [attempt('a/1'), attempt('b/1')]);
  outbox.append('attempt', [attempt('a/1'), attempt('c/1')]);
  t.deepEqual(
    outbox.head('attempt', 10).map(({ subject }) => subject),
    ['a/1', 'b/1', 'c/1'],
  );
  t.is(outbox.report().outboxDepth, 3);
  t.true(outbox.has('attempt', 'b/1'));
  t.false(outbox.has('signed', 'b/1'));
});

test('a head holds one lane only: what is paused is left out, and no write of a lane overtakes another', (t) => {
  const outbox = new Outbox(newStorage(), SETTINGS);
  outbox.append('attempt', [attempt('a/1'), attempt('b/1')]);
  outbox.append('signed', [
    { ...attempt('t/1'), lane: 'eth A' },
    { ...attempt('u/1'), lane: 'eth B' },
  ]);
  outbox.append('attempt', [attempt('c/1')]);
  outbox.append('signed', [{ ...attempt('t/2'), lane: 'eth A' }]);
  const subjects = (...args: Parameters<Outbox['head']>) => outbox.head(...args).map(({ subject }) => subject);
  t.deepEqual(subjects('attempt', 10), ['a/1', 'b/1', 'c/1']);
  t.deepEqual(subjects('signed', 10), ['t/1', 't/2']);
  t.deepEqual(subjects('signed', 10, ['eth A']), ['u/1']);
  t.deepEqual(subjects('signed', 10, ['eth A', 'eth B']), []);
  t.deepEqual(
    outbox.laneHead('signed', 'eth A', 1).map(({ subject }) => subject),
    ['t/1'],
  );
});

test('§7 at capacity nothing is taken and nothing is dropped: EDGE_OUTBOX_FULL', (t) => {
  const outbox = new Outbox(newStorage(), { ...SETTINGS, capacity: 2 });
  outbox.append('attempt', [attempt('a/1'), attempt('b/1')]);
  const error = t.throws(() => outbox.append('attempt', [attempt('c/1')]), { instanceOf: Refused });
  t.is(error.refusal.code, 'EDGE_OUTBOX_FULL');
  t.is(outbox.report().outboxDepth, 2);
  outbox.taken(outbox.head('attempt', 1));
  outbox.append('attempt', [attempt('c/1')]);
  t.deepEqual(
    outbox.head('attempt', 10).map(({ subject }) => subject),
    ['b/1', 'c/1'],
  );
});

/** A cloud that answers each send by a script; `held` for ever when it ends. */
function scripted(answers: Sent[]): OutboxRoute & { sent: string[][] } {
  const sent: string[][] = [];
  return {
    batch: 3,
    sent,
    async send(writes) {
      sent.push(writes.map(({ subject }) => subject));
      return answers.shift() ?? { kind: 'held' };
    },
  };
}

test('a batch that the cloud does not answer for is sent again whole, and leaves once', async (t) => {
  const outbox = new Outbox(newStorage(), SETTINGS);
  const cloud = scripted([{ kind: 'held' }, { kind: 'taken' }, { kind: 'taken' }]);
  const sender = new OutboxSender(
    outbox,
    { attempt: cloud, signed: cloud },
    { onFault: (error) => t.fail(String(error)) },
  );
  outbox.append('attempt', ['a', 'b', 'c', 'd'].map(attempt));
  await sender.idle();
  t.deepEqual(cloud.sent, [['a', 'b', 'c']]);
  await sender.idle();
  t.deepEqual(cloud.sent, [['a', 'b', 'c'], ['a', 'b', 'c'], ['d']]);
  t.is(outbox.report().outboxDepth, 0);
  await sender.stop();
});

test('§2.8 a write that keeps being refused poisons the outbox, holds what is behind it in its lane, and is named', async (t) => {
  const outbox = new Outbox(newStorage(), SETTINGS);
  const refusing = scripted(
    Array.from({ length: POISONED_AFTER_TRIES }, () => ({ kind: 'refused', code: 'INVALID_INPUT' }) as const),
  );
  const sender = new OutboxSender(
    outbox,
    { attempt: refusing, signed: refusing },
    { onFault: (error) => t.fail(String(error)) },
  );
  outbox.append('attempt', ['a', 'b'].map(attempt));
  for (let tries = 0; tries < POISONED_AFTER_TRIES; tries += 1) {
    t.false(outbox.report().outboxPoisoned, `after ${tries} tries`);
    await sender.idle();
  }
  t.deepEqual(outbox.report(), {
    outboxDepth: 2,
    outboxPoisoned: true,
    poisonedBy: { subject: 'a', kind: 'attempt', code: 'INVALID_INPUT', tries: POISONED_AFTER_TRIES },
    setAside: 0,
  });
  t.deepEqual(
    refusing.sent,
    [['a', 'b'], ['a'], ['a']],
    'after a refusal writes go alone, so that the bad one shows itself',
  );
  await sender.stop();
});

test('a sender whose route throws says so and goes on', async (t) => {
  const outbox = new Outbox(newStorage(), SETTINGS);
  let calls = 0;
  const faults: unknown[] = [];
  const route: OutboxRoute = {
    batch: 10,
    async send() {
      calls += 1;
      if (calls === 1) throw new Error('broken');
      return { kind: 'taken' };
    },
  };
  const sender = new OutboxSender(
    outbox,
    { attempt: route, signed: route },
    { onFault: (error) => faults.push(error) },
  );
  outbox.append('attempt', [attempt('a')]);
  sender.nudge();
  await until('the fault was seen', () => faults.length === 1);
  sender.nudge();
  await until('the write left', () => outbox.report().outboxDepth === 0);
  await sender.stop();
  t.is(calls, 2);
});

test('a write whose route breaks is poison like one that is refused, and is named', async (t) => {
  const outbox = new Outbox(newStorage(), SETTINGS);
  let faults = 0;
  const breaking: OutboxRoute = { batch: 3, send: () => Promise.reject(new Error('broken')) };
  const sender = new OutboxSender(
    outbox,
    { attempt: breaking, signed: breaking },
    {
      onFault: () => {
        faults += 1;
      },
    },
  );
  outbox.append('attempt', ['a', 'b'].map(attempt));
  for (let tries = 0; tries < POISONED_AFTER_TRIES; tries += 1) await sender.idle();
  t.like(outbox.report(), {
    outboxDepth: 2,
    outboxPoisoned: true,
    poisonedBy: { subject: 'a', code: 'INTERNAL_ERROR' },
  });
  t.is(faults, POISONED_AFTER_TRIES);
  await sender.stop();
});

test('a disk that takes nothing is no fault of the write that met it: it stays first, and is no poison', async (t) => {
  const outbox = new Outbox(newStorage(), SETTINGS);
  const full: OutboxRoute = { batch: 3, send: () => Promise.reject(new StorageFailed('disk_full')) };
  const sender = new OutboxSender(outbox, { attempt: full, signed: full }, { onFault: () => undefined });
  outbox.append('attempt', ['a', 'b'].map(attempt));
  for (let tries = 0; tries < POISONED_AFTER_TRIES; tries += 1) await sender.idle();
  t.like(outbox.report(), { outboxDepth: 2, outboxPoisoned: false });
  t.is(outbox.head('attempt', 1)[0]!.tries, 0);
  await sender.stop();
});

test('§2.8 a write that holds the queue is set aside by the operator and kept; what is behind leaves; restored, it is first again', async (t) => {
  const dataDir = newDirectory();
  const storage = openStorage(dataDir);
  const outbox = new Outbox(storage, SETTINGS);
  const command = (...args: string[]) => {
    let out = '',
      err = '';
    const code = outboxCommand(
      [...args, '--data-dir', dataDir],
      {},
      { write: (text) => void (out += text) },
      { write: (text) => void (err += text) },
    );
    return {
      code,
      err,
      lines: out
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    };
  };
  outbox.append('attempt', ['a', 'b', 'c'].map(attempt));
  for (let tries = 0; tries < POISONED_AFTER_TRIES; tries += 1)
    outbox.refused(outbox.head('attempt', 1)[0]!, 'INVALID_INPUT');
  t.true(outbox.report().outboxPoisoned);
  t.like(command('list').lines[0], {
    seq: 1,
    kind: 'attempt',
    subject: 'a',
    tries: POISONED_AFTER_TRIES,
    lastCode: 'INVALID_INPUT',
    state: 'waiting',
  });
  t.like(command('set-aside', '1'), {
    code: 0,
    lines: [{ seq: 1, state: 'aside', outboxDepth: 2, outboxPoisoned: false, setAside: 1 }],
  });
  t.like(outbox.report(), { outboxDepth: 2, outboxPoisoned: false, setAside: 1 }, 'a running edge sees it');
  t.deepEqual(
    outbox.head('attempt', 10).map(({ subject }) => subject),
    ['b', 'c'],
  );
  t.deepEqual(
    command('list').lines.map(({ subject, state }) => `${String(subject)} ${String(state)}`),
    ['b waiting', 'c waiting', 'a aside'],
  );
  outbox.taken(outbox.head('attempt', 1));
  t.is(command('restore', '1').code, 0);
  t.deepEqual(
    outbox.head('attempt', 10).map(({ subject, body, tries }) => [subject, body, tries]),
    [
      ['a', 'body of a', 0],
      ['c', 'body of c', 0],
    ],
  );
  t.like(outbox.report(), { outboxDepth: 2, setAside: 0 });
  for (const [args, code] of [
    [['set-aside', '99'], 1],
    [['restore', '1'], 1],
    [['set-aside'], 2],
    [['restore', 'x'], 2],
    [['list', '1'], 2],
    [['drop', '1'], 2],
  ] as const) {
    t.is(command(...args).code, code, args.join(' '));
  }
  outbox.setAside(1);
  outbox.append('attempt', [attempt('a')]);
  t.is(command('restore', '1').code, 0, 'written again meanwhile');
  t.deepEqual(
    outbox.head('attempt', 10).map(({ subject }) => subject),
    ['c', 'a'],
  );
  storage.close();
});

const HOLDING: readonly Sent[] = [
  { kind: 'held' },
  { kind: 'refused', code: 'CHAIN_UNAVAILABLE' },
  { kind: 'refused', code: 'ACCOUNT_SUSPENDED', all: true },
];

for (const bad of HOLDING) {
  const name = bad.kind === 'refused' ? bad.code : 'held';
  test(`found: a submission that does not leave (${name}) holds no report and no other sender, and its own sender keeps the order`, async (t) => {
    const outbox = new Outbox(newStorage(), SETTINGS);
    const poisoned: string[] = [],
      sent: string[] = [];
    let isBad = true;
    const route = (batch: number): OutboxRoute => ({
      batch,
      async send(writes) {
        if (isBad && writes[0]!.lane === 'eth A') return bad;
        sent.push(...writes.map(({ subject }) => subject));
        return { kind: 'taken' };
      },
    });
    const sender = new OutboxSender(
      outbox,
      { attempt: route(3), signed: route(1) },
      {
        onFault: (error) => t.fail(String(error)),
        onPoisoned: ({ subject }, code) => poisoned.push(`${subject} ${code}`),
      },
    );
    outbox.append('signed', [
      { ...attempt('t/1'), lane: 'eth A' },
      { ...attempt('t/2'), lane: 'eth A' },
      { ...attempt('u/1'), lane: 'eth B' },
    ]);
    outbox.append('attempt', ['a', 'b'].map(attempt));
    for (let tries = 0; tries < POISONED_AFTER_TRIES + 2; tries += 1) await sender.idle();
    await until('the others left', () => sent.length === 3);
    t.deepEqual(
      sent.filter((subject) => subject !== 'u/1'),
      ['a', 'b'],
    );
    t.deepEqual(
      outbox.laneHead('signed', 'eth A', 9).map(({ subject }) => subject),
      ['t/1', 't/2'],
    );
    t.is(outbox.report().outboxPoisoned, bad.kind === 'refused');
    t.deepEqual(poisoned, bad.kind === 'refused' ? [`t/1 ${bad.code}`] : []);
    isBad = false;
    await sender.idle();
    t.deepEqual(sent.slice(3), ['t/1', 't/2']);
    await sender.stop();
  });
}

test('found: what is refused keeps its pause however often something new comes, and a report that is stuck holds no submission', async (t) => {
  const outbox = new Outbox(newStorage(), { ...SETTINGS, capacity: 1_000 });
  let tried = 0;
  const taken: string[] = [];
  const sender = new OutboxSender(
    outbox,
    {
      attempt: {
        batch: 1,
        async send() {
          tried += 1;
          return { kind: 'refused', code: 'INVALID_INPUT' };
        },
      },
      signed: {
        batch: 1,
        async send([write]) {
          taken.push(write!.subject);
          return { kind: 'taken' };
        },
      },
    },
    { onFault: (error) => t.fail(String(error)) },
  );
  outbox.append('attempt', [attempt('a')]);
  for (let tries = 0; tries < 8; tries += 1) await sender.idle(); // the pause is its longest now
  const before = tried,
    sinceMs = performance.now();
  for (let index = 0; index < 10; index += 1) {
    outbox.append('attempt', [attempt(`b${index}`)]);
    outbox.append('signed', [{ ...attempt(`t${index}`), lane: `eth ${index}` }]);
    sender.nudge();
    await until('the submission left', () => taken.length === index + 1);
  }
  t.true(tried - before <= 1 + (performance.now() - sinceMs) / 15_000, `${tried - before} tries`);
  await sender.stop();
});

test('submissions that an edge of before left in its outbox wait in the lane of their sender', (t) => {
  const dataDir = newDirectory(),
    former = openDatabase(dataDir, 'edge.db', SCHEMA_VERSIONS.slice(0, 8), { synchronous: 'full', whole: false });
  former.run(
    'insert into instructions (transaction_id, instruction, unsigned, recorded_at_ms) values (?, ?, ?, 0)',
    'txn_1',
    JSON.stringify({ id: 'txn_1', chain: 'eth', from: 'A', amount: { $n: '1' } }),
    JSON.stringify({ amount: { $n: '1' }, feeMax: { $n: '1' } }),
  );
  for (const [kind, subject] of [
    ['signed', 'txn_1/0x1'],
    ['signed', 'txn_2/0x2'],
    ['attempt', 'dlv_1/1'],
  ]) {
    former.run('insert into outbox (kind, subject, body, created_at_ms) values (?, ?, ?, 0)', kind!, subject!, '{}');
  }
  former.close();
  const storage = openStorage(dataDir),
    outbox = new Outbox(storage, SETTINGS);
  t.deepEqual(
    ['eth A', ''].map((lane) => outbox.laneHead('signed', lane, 9).map(({ subject }) => subject)),
    [['txn_1/0x1'], ['txn_2/0x2']],
  );
  t.deepEqual(
    outbox.head('attempt', 9).map(({ lane, subject }) => `${lane}|${subject}`),
    ['|dlv_1/1'],
  );
  storage.close();
});
