/** Each check of `flock doctor --cloud` names the planted fault, and no other does. Ecosystem X34, X35, XA4. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { networkOf } from '../../chains/registry.ts';
import type { EvmNetwork } from '../../chains/evm/network.ts';
import { ownChecks, withoutSettings } from '../../gateway/cli/operator/doctor.ts';
import { chainChecks } from '../../gateway/cli/operator/doctor-chains.ts';
import {
  archiveFinding,
  backupFinding,
  clockFinding,
  databaseChecks,
  functionsFindingOf,
  migrationsFindingOf,
  nodesFindingOf,
  numbersFinding,
  replicasFinding,
  roleFindingOf,
  secretsFindingOf,
  serverFindingOf,
} from '../../gateway/cli/operator/doctor-database.ts';
import { FUNCTION_SET, sqlFunctions } from '../../persistence/postgres/functions.ts';
import { migrations } from '../../persistence/postgres/migrations.ts';
import { openDatabase } from '../../persistence/postgres/sql.ts';
import { examine, type Examination, type Finding, type Verdict } from '../../protocol/node/doctor/examine.ts';
import { VERSION } from '../../protocol/version.ts';
import { readConfig } from '../../supervision/config.ts';
import { startAnvil } from '../support/anvil.ts';
import { nobodyAt } from '../support/command.ts';
import { newDirectory } from '../support/edge/disk.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';
import { startSilent } from '../support/silent-server.ts';
import { startSmtp } from '../support/smtp.ts';

const PATIENT_MS = 240_000;
const database = await createTestDatabase();
test.after.always(() => database.close());

const BASE = {
  DATABASE_URL: database.url,
  SECRET_KEY: '0'.repeat(64),
  DEVELOPER_MODE: 'on',
  MAIL_DIR: newDirectory(),
};
const looked = (env: Record<string, string>): Promise<Examination> =>
  examine(ownChecks(readConfig({ ...BASE, ...env })), PATIENT_MS);
const noted = ({ checks }: Examination): [string, Verdict][] =>
  checks.filter(({ verdict }) => verdict !== 'ok').map(({ id, verdict }) => [id, verdict]);

test('ecosystem X35 planted: settings, PUBLIC_URL, proxies, mail and Redis of a node', async (t) => {
  t.deepEqual(noted(await looked({})), []);
  const problems = await examine(withoutSettings(['CLOUD_PORT: is a whole number']));
  t.deepEqual(noted(problems), [
    ['settings', 'fail'],
    ['everything_else', 'unknown'],
  ]);
  const served = { DEVELOPER_MODE: 'off' };
  t.deepEqual(noted(await looked(served)), [['public_url', 'warn']]);
  t.deepEqual(noted(await looked({ ...served, PUBLIC_URL: 'http://127.0.0.1:8080' })), [['public_url', 'fail']]);
  const https = await nobodyAt().then((url) => url.replace('http:', 'https:'));
  const behind = await examine(
    ownChecks(readConfig({ ...BASE, ...served, PUBLIC_URL: https })).filter(({ id }) => id !== 'certificate'),
  );
  t.deepEqual(noted(behind), [['proxies', 'warn']]);
  const { MAIL_DIR: _, ...without } = BASE;
  const mailless = await examine(ownChecks(readConfig(without)), PATIENT_MS);
  t.deepEqual(noted(mailless), [['mail', 'warn']]);
  const smtp = (await nobodyAt()).replace('http:', 'smtp:');
  const lost = await examine(ownChecks(readConfig({ ...without, SMTP_URL: smtp })), PATIENT_MS);
  t.deepEqual(noted(lost), [['mail', 'fail']]);
  t.regex(lost.checks.find(({ id }) => id === 'mail')!.seen, /ECONNREFUSED|ESOCKET/);
  const sound = await startSmtp(t);
  t.deepEqual(noted(await examine(ownChecks(readConfig({ ...without, SMTP_URL: sound.url })), PATIENT_MS)), []);
  const redis = (await nobodyAt()).replace('http:', 'redis:');
  t.deepEqual(noted(await looked({ REDIS_URL: redis })), [['redis', 'fail']]);
  t.deepEqual(noted(await looked({ REDIS_URL: (await startRedis(t)).url })), []);
});

test('ecosystem X35 planted: a directory of letters that cannot be written, or is none', async (t) => {
  const closed = join(newDirectory(), 'mail');
  mkdirSync(closed);
  chmodSync(closed, 0o500);
  const canAll = process.getuid?.() === 0; // whom no mode keeps out
  t.deepEqual(noted(await looked({ MAIL_DIR: closed })), canAll ? [] : [['mail', 'fail']]);
  t.deepEqual(noted(await looked({ MAIL_DIR: 'package.json' })), [['mail', 'fail']]);
  t.deepEqual(noted(await looked({ MAIL_DIR: join(newDirectory(), 'later') })), []);
});

test('ecosystem X35 planted: endpoints of a chain that contradict, stand still, are of another, are alone, do not trace', async (t) => {
  const eth = networkOf('eth') as EvmNetwork;
  const [one, other] = [await startAnvil(t, eth), await startAnvil(t, eth, { args: ['--timestamp', '1700000000'] })];
  const wrong = await startAnvil(t, { ...eth, chainId: 5 as never });
  const of = async (...urls: string[]): Promise<[string, Verdict][]> =>
    noted(await looked({ ETH_RPC_URLS: urls.join(',') }));
  t.deepEqual(await of(one.url, one.url.replace('127.0.0.1', 'localhost')), []);
  t.deepEqual(await of(one.url), [['agreement_eth', 'warn']]);
  t.deepEqual(await of(one.url, other.url), [
    ['chain_eth', 'fail'],
    ['agreement_eth', 'fail'],
  ]);
  t.deepEqual(await of(one.url, wrong.url), [
    ['chain_eth', 'fail'],
    ['agreement_eth', 'unknown'],
  ]);
  t.deepEqual(await of(await nobodyAt(), wrong.url), [
    ['chain_eth', 'fail'],
    ['agreement_eth', 'unknown'],
    ['traces_eth', 'unknown'],
  ]);
});

test('ecosystem X35 planted: a database that lacks a step, has another function, is of a newer release', async (t) => {
  const steps = migrations();
  const is = (finding: Finding, verdict: Verdict, seen: RegExp): void => {
    t.is(finding.verdict, verdict, finding.seen);
    t.regex(finding.seen, seen);
    t.is(finding.remedy === null, verdict === 'ok');
  };
  is(migrationsFindingOf(steps), 'ok', /all are applied/);
  is(migrationsFindingOf(steps.slice(0, -2)), 'fail', /^2 are missing/);
  is(migrationsFindingOf([{ ...steps[0]!, checksum: 'x' }]), 'fail', /changed after it ran/);
  const next = { number: steps.at(-1)!.number + 1, name: '9999_later.sql', checksum: 'x' };
  is(migrationsFindingOf([...steps, next]), 'fail', /newer than this version/);
  const functions = new Map(sqlFunctions().map(({ name, checksum }) => [name, checksum]));
  is(functionsFindingOf(FUNCTION_SET, functions), 'ok', /of this release/);
  is(
    functionsFindingOf(FUNCTION_SET, new Map([...functions, ['append_money', 'x']])),
    'fail',
    /1 are not .*append_money/,
  );
  is(functionsFindingOf(FUNCTION_SET + 1, functions), 'warn', /newer release/);
  const server = { version: 180_004, name: '18.4 (Debian)', encoding: 'UTF8' };
  is(serverFindingOf(server), 'ok', /^PostgreSQL 18\.4$/);
  is(serverFindingOf({ ...server, version: 140_000, name: '14.0' }), 'fail', /too old/);
  is(serverFindingOf({ ...server, version: 190_000, name: '19.0' }), 'warn', /newer than what was tested/);
  is(serverFindingOf({ ...server, encoding: 'SQL_ASCII' }), 'fail', /SQL_ASCII/);
  is(roleFindingOf({ isMore: true, ownsTables: true }), 'warn', /superuser/);
  is(roleFindingOf({ isMore: false, ownsTables: true }), 'warn', /owns the tables/);
  is(clockFinding(-9), 'fail', /9 s behind the database/);
  is(clockFinding(1), 'ok', /within 2 s/);
  is(clockFinding(4, 5), 'ok', /within 2 s/);
  is(clockFinding(6, 5), 'fail', /6 s ahead/);
  is(replicasFinding({ replicaLagSeconds: 90 }, 0), 'warn', /90 s behind/);
  is(replicasFinding({ replicaLagSeconds: 0 }, 1), 'warn', /1 replication slots have no reader/);
  is(archiveFinding({ archiveFailing: true }), 'fail', /was not archived/);
  is(backupFinding({ backupAgeSeconds: 40 * 3_600 }), 'warn', /40 h old/);
  is(numbersFinding({ numbersUsed: 0.6 }), 'warn', /60 %/);
  is(numbersFinding({ numbersUsed: 0.95 }), 'fail', /95 %/);
  is(secretsFindingOf(1), 'fail', /no key opens/);
  is(nodesFindingOf([{ alive: false, version: VERSION }]), 'fail', /no node is alive/);
  is(
    nodesFindingOf([
      { alive: true, version: '0.9.0' },
      { alive: true, version: VERSION },
    ]),
    'warn',
    /0\.9\.0/,
  );
  is(nodesFindingOf([{ alive: true, version: VERSION }]), 'ok', /1 alive/);
});

test('ecosystem X35 planted: what the database itself shows, as the role of the application', async (t) => {
  const seen = async (url: string) => {
    const sql = openDatabase({ url, connections: 2, name: 'flock-doctor' });
    try {
      const { checks } = await examine(databaseChecks(sql, 10), PATIENT_MS);
      return new Map(checks.map(({ id, verdict }) => [id, verdict]));
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
  const before = await seen(database.url);
  for (const id of [
    'database',
    'migrations',
    'functions',
    'database_clock',
    'archive',
    'backup',
    'wraparound',
    'secrets',
  ])
    t.is(before.get(id), 'ok', id);
  t.is(before.get('database_role'), 'warn', 'the test signs in as superuser');
  t.deepEqual([before.get('nodes'), before.get('shards')], ['fail', 'fail'], 'no node was ever there');
  await database.owner`update flock.function set checksum = 'x' where name = 'append_money'`;
  await database.owner`delete from flock.migration where number = (select max(number) from flock.migration)`;
  const after = await seen(database.url);
  t.deepEqual([after.get('functions'), after.get('migrations')], ['fail', 'fail']);
  const away = await seen(`postgres://flock_app:x@${new URL(await nobodyAt()).host}/flock`);
  t.deepEqual([...new Set(away.values())], ['unknown'], 'what cannot be asked is not ok');
});

test('ecosystem X36 a check that is given up asks a node nothing any more', async (t) => {
  const silent = await startSilent(t);
  const { chains } = readConfig({ ...BASE, ETH_RPC_URLS: `${silent.url},${silent.url}/2` });
  const { checks } = await examine(chainChecks(chains));
  await silent.left();
  t.true(silent.taken() > 0);
  t.true(checks.length === 3 && checks.every(({ verdict }) => verdict !== 'ok'));
});
