/** The checks of an edge: those of its doctor, and those of the edge that runs, which are the same but for two. */
import { examine, fail, ok, unknown, type Check, type Finding } from '../../protocol/node/doctor/examine.ts';
import { keepExamination, type Kept } from '../../protocol/node/doctor/kept.ts';
import { ConfigurationError, type EdgeConfig, type readConfig } from '../config.ts';
import { openEdgeKeystore } from '../keystore/key-sources.ts';
import { cloudChecks } from './cloud.ts';
import { journalFinding, outboxFinding } from './journal.ts';
import {
  coreFinding,
  diskFinding,
  fileLimitFinding,
  filesFinding,
  processesFinding,
  swapFinding,
  thisMachine,
  type Machine,
} from './machine.ts';
import { ownNodeChecks } from './own-node.ts';

const SETTINGS_PAGE = 'docs/configuration.md#edge-npm-run-edge';
const FIRST = 'correct what the check settings names first';

export type Read = ReturnType<typeof readConfig>;

/** No process has this id: an edge that looks counts itself. */
const NOBODY = 0;

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

/**
 * Of an edge that runs: its settings were understood and its keystore is open, or it would not; and reading all of its
 * database would hold up what it is for.
 */
export function runningChecks(config: EdgeConfig, machine: Machine): Check[] {
  return [
    ...directoryChecks(config).filter(({ id }) => id !== 'journal'),
    ...machineChecks(config, machine, NOBODY),
    ...cloudChecks(config),
    ...ownNodeChecks(config),
  ];
}

/** What these saw last, of an edge that runs. */
export const keepRunning = (config: EdgeConfig, monotonicMs: () => number): (() => Kept | null) =>
  keepExamination(() => examine(runningChecks(config, thisMachine())), monotonicMs);

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

/** `own`: the process that looks, where it is not the edge itself. */
function machineChecks({ dataDir, environment }: EdgeConfig, machine: Machine, own?: number): Check[] {
  const page = 'docs/doctor.md#edge';
  return [
    { id: 'processes', page, look: () => processesFinding(machine, dataDir, own) },
    { id: 'core_files', page, look: () => coreFinding(machine) },
    { id: 'swap', page, look: () => swapFinding(machine, environment) },
    { id: 'file_limit', page, look: () => fileLimitFinding(machine) },
  ];
}
