/**
 * The edge's process. It says on its IPC channel, where it has one, when it serves; it drains on SIGTERM and SIGINT and
 * when that channel closes, so that it never outlives its starter.
 */
import { openDoors } from './process/doors.ts'; // the first line that runs
import { ConfigurationError, forgetSecrets, readConfig } from './config.ts';
import { coreFilesPossible, forbidDumps } from './process/core-files.ts';
import { startEdge, type RunningEdge } from './edge.ts';
import { openEdgeKeystore } from './keystore/key-sources.ts';
import { listenFault } from '../protocol/node/listening.ts';
import { isMnemonic } from './keystore/keys.ts';
import { createEdgeLog } from './process/log.ts';
import { StorageFailed } from './storage/failed.ts';
import { readBootTime } from './spend/clock.ts';

/** A parent that asks for readiness gets it with the registration, or after this without one. Milliseconds. */
const REGISTRATION_WAIT_MS = 5_000;
/** Above the graceful stop: something hangs that must not. */
const STOP_DEADLINE_MS = 9_500;

async function main(): Promise<void> {
  await forbidDumps();
  const doors = openDoors(process.execArgv, process.env);
  if (doors.length > 0) throw new ConfigurationError(doors);
  const { config, phrase, keystore: settings } = readConfig(process.env, isMnemonic);
  const keystore = await openEdgeKeystore(phrase, settings);
  forgetSecrets(process.env);
  const log = createEdgeLog(config.logLevel);
  if (coreFilesPossible()) log.warn('core_files_possible');
  process.on('unhandledRejection', (error) => log.fault('unhandled_rejection', error));
  process.on('uncaughtException', (error) => {
    log.fault('uncaught_exception', error);
    process.exit(70);
  });
  const serving: { edge: RunningEdge | null } = { edge: null };
  const stop = (signal: string): void => {
    if (serving.edge === null) process.exit(0); // nothing was answered yet
    void stopEdge(serving.edge, () => log.info('stopping', { signal }));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  process.on('disconnect', () => stop('disconnect'));
  if (process.connected === false) stop('disconnect'); // its starter was gone before the first line ran
  const edge = await startEdge(config, keystore, log, {
    wallMs: Date.now,
    monotonicMs: () => performance.now(),
    bootTime: readBootTime,
  });
  serving.edge = edge;
  if (process.send === undefined) return;
  await Promise.race([edge.registered, new Promise((resolve) => setTimeout(resolve, REGISTRATION_WAIT_MS).unref())]);
  if (process.connected) process.send({ type: 'ready', port: edge.port });
}

let stopping = false;

async function stopEdge(edge: RunningEdge, announce: () => void): Promise<void> {
  if (stopping) return;
  stopping = true;
  announce();
  setTimeout(() => process.exit(71), STOP_DEADLINE_MS).unref();
  await edge.stop();
  process.exit(0);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${refusalText(error)}\n`);
  process.exit(error instanceof ConfigurationError ? 78 : 1);
}

/** Only texts that were written for people leave: an error of a library may quote what it was given. */
function refusalText(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  if (error instanceof StorageFailed)
    return `the edge does not start:\n  - EDGE_DATA_DIR: ${error.message}. Next: ${error.next}`;
  const { code, syscall, port } = error as { code?: string; syscall?: string; port?: number };
  const place = { host: process.env['HOST'] ?? '', port: port ?? 0, hostSetting: 'HOST', portSetting: 'EDGE_PORT' };
  const fault = syscall === 'listen' || syscall === 'getaddrinfo' ? listenFault(error, place) : null;
  if (fault !== null) return `the edge does not start:\n  - ${fault}`;
  return `the edge does not start: ${error instanceof Error ? error.name : 'unknown'}${code === undefined ? '' : ` (${code}${syscall === undefined ? '' : `, ${syscall}`})`}`;
}
