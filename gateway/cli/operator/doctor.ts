/**
 * `npm run -s flock -- doctor --cloud [--strict]`: looks at what a node of the cloud needs, with its own settings,
 * whether it runs or not. Reads only. Ecosystem X34, X35.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { pingRedis } from '../../../persistence/redis/ping.ts';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import { answerOf, isStrict } from '../../../protocol/node/doctor/answer.ts';
import { lookAtCertificate } from '../../../protocol/node/doctor/address.ts';
import {
  examine,
  fail,
  ok,
  reasonOf,
  unknown,
  warn,
  type Check,
  type Finding,
} from '../../../protocol/node/doctor/examine.ts';
import { keepExamination, type Kept } from '../../../protocol/node/doctor/kept.ts';
import type { Flags } from '../../../protocol/node/commands.ts';
import { ConfigurationError, readConfig, type CloudConfig } from '../../../supervision/config.ts';
import { greetMailServer } from '../../mail/greeting.ts';
import { chainChecks } from './doctor-chains.ts';
import { databaseChecks } from './doctor-database.ts';

type Environ = Readonly<Record<string, string | undefined>>;

const SETTINGS_PAGE = 'docs/configuration.md#cloud-node-npm-run-cloud';
const CONNECTIONS = 4;
const ANSWER_MS = 2_500;

export async function cloudDoctor(args: readonly string[], env: Environ, flags: Flags): Promise<number> {
  const strict = isStrict(args);
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const config = configOrProblems(present);
  if ('length' in config) return answerOf(withoutSettings(config), flags, strict);
  return withCloudChecks(config, (checks) => answerOf(checks, flags, strict));
}

/** All checks of a node, on connections to the database that end with them. */
async function withCloudChecks<T>(config: CloudConfig, use: (checks: readonly Check[]) => Promise<T>): Promise<T> {
  const sql = openDatabase({
    url: config.DATABASE_URL,
    connections: CONNECTIONS,
    name: 'flock-doctor',
    statementTimeoutMs: ANSWER_MS,
  });
  try {
    return await use([...ownChecks(config), ...databaseChecks(sql, config.NODE_LEASE_SECONDS)]);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** What these saw last, of a node that runs. */
export const keepOfNode = (config: CloudConfig): (() => Kept | null) =>
  keepExamination(
    () => withCloudChecks(config, examine),
    () => performance.now(),
  );

function configOrProblems(env: Environ): CloudConfig | readonly string[] {
  try {
    return readConfig(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** Without settings that are read nothing else can be looked at. */
export const withoutSettings = (problems: readonly string[]): Check[] => [
  {
    id: 'settings',
    page: SETTINGS_PAGE,
    look: () =>
      fail(`${problems.length} to correct: ${problems.join('; ')}`, 'correct each; nothing else was looked at'),
  },
  {
    id: 'everything_else',
    page: SETTINGS_PAGE,
    look: () => unknown('the settings are not read', 'correct what the check settings names first'),
  },
];

/** All but those of the database. */
export function ownChecks(config: CloudConfig): Check[] {
  return [
    { id: 'settings', page: SETTINGS_PAGE, look: () => ok('all are understood') },
    { id: 'public_url', page: SETTINGS_PAGE, look: () => publicUrlFinding(config) },
    {
      id: 'certificate',
      page: 'docs/runbooks/certificate-ends.md',
      look: (signal) =>
        config.PUBLIC_URL === undefined
          ? ok('no PUBLIC_URL, no certificate')
          : lookAtCertificate(config.PUBLIC_URL, { setting: 'PUBLIC_URL', isLive: !config.DEVELOPER_MODE, signal }),
    },
    { id: 'proxies', page: SETTINGS_PAGE, look: () => proxiesFinding(config) },
    { id: 'redis', page: 'docs/runbooks/redis-down.md', look: () => redisFinding(config) },
    { id: 'mail', page: 'docs/runbooks/mail-stuck.md', look: () => mailFinding(config) },
    ...chainChecks(config.chains),
  ];
}

function publicUrlFinding({ PUBLIC_URL: url, DEVELOPER_MODE: isDeveloper }: CloudConfig): Finding {
  if (isDeveloper) return ok('developer mode: the node is at its own address');
  if (url === undefined)
    return warn('it is not set: letters and links name the address that the node listens at', 'set PUBLIC_URL');
  return url.startsWith('https:')
    ? ok('people and edges come by https')
    : fail('it is plain http', 'set PUBLIC_URL to https');
}

/** A node speaks http alone: where people come by https, something before it ends that. */
function proxiesFinding({ PUBLIC_URL: url, TRUSTED_PROXIES: proxies }: CloudConfig): Finding {
  if (proxies.length > 0 || url?.startsWith('https:') !== true) return ok(`${proxies.length} are trusted`);
  return warn(
    'who ends https before this node is not trusted: all requests seem to come from there',
    'name its address in TRUSTED_PROXIES',
  );
}

async function redisFinding({ REDIS_URL: url }: CloudConfig): Promise<Finding> {
  if (url === undefined) return ok('none is used');
  try {
    await pingRedis(url, ANSWER_MS);
    return ok('it answers');
  } catch (error) {
    return fail(`it does not answer (${reasonOf(error)})`, 'look at Redis, or correct REDIS_URL');
  }
}

async function mailFinding({ SMTP_URL: url, MAIL_DIR: directory }: CloudConfig): Promise<Finding> {
  if (url !== undefined) {
    try {
      await greetMailServer(url, ANSWER_MS);
      return ok('the server takes the sign-in');
    } catch (error) {
      return fail(
        `the server does not take the sign-in (${reasonOf(error)})`,
        'correct SMTP_URL, or look at the server',
      );
    }
  }
  if (directory === undefined)
    return warn('there is no way for letters: they wait', 'set SMTP_URL, or MAIL_DIR on a developer machine');
  try {
    if (!statSync(directory).isDirectory()) return fail('MAIL_DIR is no directory', 'correct MAIL_DIR');
    accessSync(directory, constants.W_OK);
    return ok('letters are files in MAIL_DIR');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT'
      ? ok('MAIL_DIR is made with the first letter')
      : fail(`MAIL_DIR cannot be written (${code})`, 'correct MAIL_DIR, or its mode');
  }
}
