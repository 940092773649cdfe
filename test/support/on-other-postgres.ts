/**
 * The parts of the suite that depend on PostgreSQL, once more on the oldest supported version that the machine has from
 * its distribution; the first run was on the embedded one. Ends with the first run's kind of exit code.
 *   node test/support/on-other-postgres.ts        POSTGRES_BIN names another directory of `postgres` and `initdb`
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { majorVersion } from '../../developer/postgres-binaries.ts';

const OLDEST = 15;
const PACKAGES = '/usr/lib/postgresql';
/** Of the watchers' tests, those that have a database. */
const PARTS = [
  'test/integration/persistence/**',
  'test/integration/account/**',
  'test/integration/watchers/{anvil,audit-totals,sandbox,stores}.test.ts',
  'test/integration/invariants.test.ts',
  'test/wire/**',
  'test/scenario/{backend-kills,database-away}.test.ts',
];
/**
 * Run on the embedded version alone, beside the other scenarios. Scenarios kill, cut off, fill up and lie to edges,
 * clouds and nodes, and these wire tests look at heads, pages and bodies, over statements that the parts above run here
 * too. What depends on the server's own deaths is repeated.
 */
const ONCE = ['fuzz', 'resolve', 'explorer', 'envelope', 'edge-signature', 'guards', 'beginning'].map(
  (name) => `test/wire/${name}.test.ts`,
);

/** The directory of the oldest packaged server; null when there is none. */
function packaged(): string | null {
  const versions = existsSync(PACKAGES)
    ? readdirSync(PACKAGES)
        .map(Number)
        .filter((version) => version >= OLDEST)
    : [];
  const found = versions
    .sort((a, b) => a - b)
    .map((version) => join(PACKAGES, String(version), 'bin'))
    .find((path) => existsSync(join(path, 'postgres')));
  return found ?? null;
}

const binaries = process.env.POSTGRES_BIN ?? packaged();
if (binaries === null) {
  process.stderr.write(
    `no PostgreSQL of the distribution is here (apt-get install postgresql): nothing was run on version ${OLDEST}\n`,
  );
  process.exitCode = 1;
} else {
  process.stdout.write(
    `\nOn PostgreSQL ${majorVersion(binaries)}: ${PARTS.join(' ')}; not once more: other scenarios, ${ONCE.join(' ')}\n`,
  );
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/ava/entrypoints/cli.js', ...PARTS, ...ONCE.map((path) => `!${path}`)],
    {
      stdio: 'inherit',
      env: { ...process.env, POSTGRES_BIN: binaries },
    },
  );
  process.exitCode = status ?? 1;
}
