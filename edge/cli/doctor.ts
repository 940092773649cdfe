/**
 * `npm run -s flock-edge -- doctor [--strict]`: looks at what an edge needs, with the edge's own settings, whether
 * it runs or not. Reads only. Ecosystem X34, X35.
 */
import { answerOf, isStrict } from '../../protocol/node/doctor/answer.ts';
import { fail, ok, unknown, type Check, type Finding } from '../../protocol/node/doctor/examine.ts';
import type { Flags } from '../../protocol/node/commands.ts';
import { ConfigurationError, forgetSecrets, readConfig, type EdgeConfig, type Environ } from '../config.ts';
import { cloudChecks } from '../doctor/cloud.ts';
import { journalFinding, outboxFinding } from '../doctor/journal.ts';
import {
  coreFinding,
  diskFinding,
  fileLimitFinding,
  filesFinding,
  processesFinding,
  swapFinding,
  thisMachine,
  type Machine,
} from '../doctor/machine.ts';
import { ownNodeChecks } from '../doctor/own-node.ts';
import { openEdgeKeystore } from '../keystore/key-sources.ts';
import { isMnemonic } from '../keystore/keys.ts';

const SETTINGS_PAGE = 'docs/configuration.md#edge-npm-run-edge';
const FIRST = 'correct what the check settings names first';

type Read = ReturnType<typeof readConfig>;

export async function doctorCommand(args: readonly string[], env: Environ, flags: Flags): Promise<number> {
  const strict = isStrict(args);
  const read = readOrProblems(env);
  const checks = edgeChecks(read, thisMachine());
  forgetSecrets(process.env);
  return answerOf(checks, flags, strict);
}

function readOrProblems(env: Environ): Read | readonly string[] {
  try {
    return readConfig(env, isMnemonic);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** Without settings that are read nothing else can be looked at. */
export function edgeChecks(read: Read | readonly string[], machine: Machine): Check[] {
  if ('config' in read) {
    const { config } = read;
    return [
      { id: 'settings', page: SETTINGS_PAGE, look: () => ok('all are understood') },
      { id: 'keystore', page: 'docs/key-sources.md', look: () => keystoreFinding(read) },
      ...directoryChecks(config),
      ...machineChecks(config, machine),
      ...cloudChecks(config),
      ...ownNodeChecks(config),
    ];
  }
  return [
    {
      id: 'settings',
      page: SETTINGS_PAGE,
      look: () => fail(`${read.length} to correct: ${read.join('; ')}`, 'correct each; nothing else was looked at'),
    },
    { id: 'everything_else', page: SETTINGS_PAGE, look: () => unknown('the settings are not read', FIRST) },
  ];
}

/** The phrase, or what a keystore or a token opens; it is closed at once. */
async function keystoreFinding({ phrase, keystore }: Read): Promise<Finding> {
  try {
    const opened = await openEdgeKeystore(phrase, keystore);
    opened.stop();
    return ok(keystore === null ? 'the phrase is whole' : 'the keystore opens');
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return fail(error.problems.join('; '), 'correct EDGE_KEYSTORE_FILE and what opens it');
  }
}

function directoryChecks({ dataDir, outboxCapacity }: EdgeConfig): Check[] {
  return [
    { id: 'files', page: 'docs/doctor.md#edge', look: () => filesFinding(dataDir) },
    { id: 'journal', page: 'docs/runbooks/edge-lost.md', look: () => journalFinding(dataDir) },
    {
      id: 'outbox',
      page: 'docs/runbooks/edge-outbox-poisoned.md',
      look: () => outboxFinding(dataDir, outboxCapacity, Date.now()),
    },
    { id: 'disk', page: 'docs/runbooks/disk-low.md', look: () => diskFinding(dataDir) },
  ];
}

function machineChecks({ dataDir, environment }: EdgeConfig, machine: Machine): Check[] {
  const page = 'docs/doctor.md#edge';
  return [
    { id: 'processes', page, look: () => processesFinding(machine, dataDir) },
    { id: 'core_files', page, look: () => coreFinding(machine) },
    { id: 'swap', page, look: () => swapFinding(machine, environment) },
    { id: 'file_limit', page, look: () => fileLimitFinding(machine) },
  ];
}
