import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { createEdgePaths } from '../../../edge/http/edge-paths.ts';
import type { EdgeAnswer } from '../../../edge/http/exchange.ts';
import { readinessOf } from '../../../edge/http/readiness.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import { openStorage, Storage } from '../../../edge/storage/storage.ts';
import { newDirectory } from '../../support/edge/disk.ts';

const GOOD = { registration: { kind: 'confirmed' }, streamUp: true, cloudTrouble: null } as const;

function readyOf(checks: ReturnType<typeof readinessOf>): EdgeAnswer {
  const paths = createEdgePaths({ checks } as never);
  return paths.getReady() as EdgeAnswer;
}

test('found F76: an edge that is not ready says what is wrong and the next step, and is ready again when it is over', (t) => {
  let nowMs = 0;
  const disk: { reason: 'disk_full' | null } = { reason: null },
    session: { -readonly [N in keyof typeof GOOD]: unknown } = { ...GOOD };
  const checks = readinessOf({ writeTrouble: () => disk.reason }, session as never, () => nowMs);
  const cases: readonly [name: string, bad: () => void, good: () => void, reason: string][] = [
    [
      'disk',
      () => {
        disk.reason = 'disk_full';
      },
      () => {
        disk.reason = null;
      },
      'disk_full',
    ],
    [
      'cloud',
      () => {
        session.cloudTrouble = 'SERVICE_UNAVAILABLE';
      },
      () => {
        session.cloudTrouble = null;
      },
      'SERVICE_UNAVAILABLE',
    ],
    [
      'stream',
      () => {
        session.streamUp = false;
      },
      () => {
        session.streamUp = true;
      },
      'closed',
    ],
    [
      'registered',
      () => {
        session.registration = { kind: 'unconfirmed', code: 'UNAUTHORIZED' };
      },
      () => {
        session.registration = GOOD.registration;
      },
      'UNAUTHORIZED',
    ],
  ];
  for (const [name, bad, good, reason] of cases) {
    t.like(readyOf(checks), { kind: 'answered', data: { status: 'ready' } });
    nowMs += 1_000;
    bad();
    const answer = readyOf(checks);
    t.like(answer, {
      kind: 'refused',
      refusal: {
        code: 'SERVICE_UNAVAILABLE',
        message: `not ready: ${name} (${reason})`,
        details: { reasons: { [name]: reason } },
      },
    });
    t.truthy(answer.kind === 'refused' && answer.refusal.details['next']);
    good();
    nowMs += 1_000;
  }
});

test('found F76: a disk that takes no more bytes is found by a write that leaves nothing behind, once a second at most', (t) => {
  const storage = openStorage(newDirectory());
  t.is(storage.writeTrouble(), null);
  t.is(storage.setting('disk_probe'), null);
  storage.close();
  const database = new DatabaseSync(':memory:');
  database.exec('create table settings (name text primary key, value text not null)');
  const { page_count: pages } = database.prepare('pragma page_count').get() as { page_count: number };
  database.exec(`pragma max_page_count = ${pages}`);
  const full = new Storage(database);
  t.is(full.writeTrouble(), 'disk_full');
  database.exec('pragma max_page_count = 1000');
  t.is(full.writeTrouble(), null, 'there is room again');
  full.close();
  let looks = 0,
    nowMs = 0;
  const checks = readinessOf(
    {
      writeTrouble: () => {
        looks += 1;
        return null;
      },
    },
    GOOD as never,
    () => nowMs,
  );
  for (let asked = 0; asked < 100; asked += 1) checks();
  nowMs = 1_000;
  checks();
  t.is(looks, 2);
});

test("found F76: levels of an edge's log lines are names, as the cloud's are", (t) => {
  const lines: { level: unknown }[] = [];
  const log = createEdgeLog('info', {
    write: (line: string) => {
      lines.push(JSON.parse(line) as { level: unknown });
    },
  });
  log.info('a');
  log.warn('b');
  log.alarm('c');
  log.fault('d', new Error('x'));
  t.deepEqual(
    lines.map(({ level }) => level),
    ['info', 'warn', 'error', 'error'],
  );
});
