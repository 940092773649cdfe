/** docs/doctor.md names the checks that there are, and the page of each check is there. Ecosystem X34. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { applicationChecks, testCheck } from '../../clients/cli/doctor.ts';
import { opened } from '../../clients/cli/session.ts';
import { edgeChecks } from '../../edge/doctor/checks.ts';
import { readConfig } from '../../edge/config.ts';
import { isMnemonic } from '../../edge/keystore/keys.ts';
import { thisMachine } from '../../edge/doctor/machine.ts';
import { ownChecks } from '../../gateway/cli/operator/doctor.ts';
import { databaseChecks } from '../../gateway/cli/operator/doctor-database.ts';
import { openDatabase } from '../../persistence/postgres/sql.ts';
import { readConfig as readCloudConfig } from '../../supervision/config.ts';
import type { Check } from '../../protocol/node/doctor/examine.ts';
import { OLD_PHRASE } from '../support/edge/keystores.ts';
import { ROOT } from '../support/tree.ts';

const { signal } = new AbortController();
const session = opened({ url: 'http://127.0.0.1:1', apiKey: `flk_test_${'k'.repeat(32)}` }, null, signal);
const edge = {
  API_KEY: `flk_live_${'k'.repeat(32)}`,
  CLOUD_URL: 'https://cloud.example',
  MNEMONIC: OLD_PHRASE,
  EDGE_VERIFY_RPC_ETH: 'http://127.0.0.1:1',
};
const DATABASE_URL = 'postgres://flock_app:x@127.0.0.1:1/flock';
const cloud = readCloudConfig({ DATABASE_URL, SECRET_KEY: '0'.repeat(64), ETH_RPC_URLS: 'http://127.0.0.1:1' });
// It connects when it is first used.
const sql = openDatabase({ url: DATABASE_URL, connections: 1, name: 'nobody' });
const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  Application: [...applicationChecks(session, {}), testCheck(session)],
  Edge: [...edgeChecks(readConfig(edge, isMnemonic), thisMachine()), ...edgeChecks(['a problem'], thisMachine())],
  Cloud: [...ownChecks(cloud), ...databaseChecks(sql, 10)],
};

const sectionOf = (title: string): string =>
  readFileSync(join(ROOT, 'docs/doctor.md'), 'utf8').split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;

for (const [title, checks] of Object.entries(CHECKS))
  test(`ecosystem X34 the checks of ${title} are those of the page`, (t) => {
    const rows = sectionOf(title)
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const told = rows.flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, id]) => id!));
    const named = new Set(checks.map(({ id }) => id.replace(/_eth$/, '_<chain>')));
    if (title !== 'Application') t.true(sectionOf(title).includes('`everything_else`'));
    named.delete('everything_else');
    t.deepEqual(told.toSorted(), [...named].toSorted());
  });

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s/g, '-');

test('ecosystem X34 the page of each check is there, with its anchor', (t) => {
  for (const { id, page } of Object.values(CHECKS).flat()) {
    const [file, anchor] = page.split('#');
    t.true(existsSync(join(ROOT, file!)), `${id}: ${page}`);
    if (anchor === undefined) continue;
    const headings = readFileSync(join(ROOT, file!), 'utf8').matchAll(/^#+ (.*)$/gm);
    t.true(
      [...headings].some(([, text]) => slugOf(text!) === anchor),
      `${id}: ${page}`,
    );
  }
});
