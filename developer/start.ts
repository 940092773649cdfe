/**
 * `npm start`: developer mode. Stays up until Ctrl-C; a second start finds the data again; `-- --fresh` begins anew.
 */
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MigrationError } from '../persistence/postgres/migrations.ts';
import { startDeployment, type Deployment } from './deployment.ts';
import { claimDirectory, type DirectoryLock } from './directory-lock.ts';
import { clearEmbeddedPostgres } from './embedded-postgres.ts';
import type { Fleet } from './fleet.ts';
import { codeCommand, consoleUrlOf, firstSteps } from './first-steps.ts';
import { whenNpmIsGone } from './npm-parent.ts';
import { START_USAGE, startOptions, wantsHelp, type StartOptions } from './options.ts';
import { requireFreePorts } from './ports.ts';

/** The parts of a start that was killed end within this time. */
const LEFTOVER_MS = 12_000;

function writeRecord(deployment: Deployment, options: StartOptions): void {
  const { record, cloudUrl, edgeUrl, localApiKey } = deployment;
  const dev = {
    cloudUrl,
    edgeUrl,
    consoleUrl: consoleUrlOf(cloudUrl),
    organizationId: record.organizationId,
    sandbox: { cloudApiKey: record.sandbox.cloudApiKey, localApiKey },
    live: record.live,
    owner: record.owner,
    editor: record.editor,
    viewer: record.viewer,
    admin: record.admin,
    admin2: record.admin2,
    other: record.other,
  };
  writeFileSync(join(options.dataDir, 'dev.json'), `${JSON.stringify(dev, null, 2)}\n`, { mode: 0o600 });
}

/** Resolves when somebody wants this to end: a signal, or npm's own end. */
function stopRequest(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => resolve();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    whenNpmIsGone(stop);
  });
}

async function bringUp(options: StartOptions, lock: DirectoryLock): Promise<Deployment> {
  const { dataDir, cloudPort, edgePort } = options;
  await requireFreePorts(
    [
      { setting: 'CLOUD_PORT', port: cloudPort },
      { setting: 'EDGE_PORT', port: edgePort },
    ],
    lock.afterKill ? LEFTOVER_MS : 0,
  );
  if (options.fresh) {
    await clearEmbeddedPostgres(join(dataDir, 'postgres'));
    lock.empty();
  }
  const postgresLog = createWriteStream(join(dataDir, 'postgres.log'), { flags: 'a', mode: 0o600 });
  return startDeployment({
    dataDir,
    cloudPort,
    edgePort,
    environment: 'sandbox',
    nodes: options.nodes,
    log: (line) => {
      postgresLog.write(`${line}\n`);
    },
  });
}

/** What there is to see of several nodes. */
const fleetWords = (
  { nodes, words, url }: Fleet,
  { dataDir, admin }: Pick<StartOptions, 'dataDir'> & Pick<Deployment['record'], 'admin'>,
): string => `
${nodes.size} cloud nodes behind ${url}, with ${words}.
${[...nodes].map(([name, { pid }]) => `  ${name}   process ${pid}   ${dataDir}/${name === 'cloud-1' ? 'cloud' : name}.log`).join('\n')}
Kill one (kill -9 ${[...nodes.values()].at(-1)!.pid}): within 10 s the others have its accounts, and their logs say so. In the console, signed
in as ${admin.email} with ${admin.password} and the code of
  ${codeCommand(admin)}
the page Nodes shows who owns what; docs/several-nodes.md has what else there is to see.`;

/** Resolves with the last words when no cloud node is left; says when one of several ends. */
async function cloudEnded(
  { fleet, cloud }: Deployment,
  { dataDir }: StartOptions,
  isStopping: () => boolean,
): Promise<string> {
  const nodes = fleet === null ? [['the cloud node', cloud] as const] : [...fleet.nodes];
  await Promise.all(
    nodes.map(async ([name, { exited }]) => {
      const code = await exited;
      if (fleet !== null && !isStopping())
        console.log(`${name} ended (${code ?? 'killed'}); the others take its accounts.`);
    }),
  );
  return `The cloud ended by itself; its last words are in ${join(dataDir, 'cloud.log')}`;
}

/** Runs until somebody wants it to end or a part ends by itself. The exit code. */
async function run(options: StartOptions, lock: DirectoryLock): Promise<number> {
  const startedAt = performance.now();
  const cloud = options.nodes === 1 ? 'a cloud node' : `${options.nodes} cloud nodes`;
  let stopping = false;
  const stopRequested = stopRequest().then(() => {
    stopping = true;
    console.log(`\nStopping the edge, ${cloud} and PostgreSQL …`);
    return null;
  });
  console.log(`Starting PostgreSQL, ${cloud} and a sandbox edge …`);
  const deployment = await bringUp(options, lock); // a stop that comes meanwhile waits for it: half a start is no state
  try {
    if (stopping) return 0;
    writeRecord(deployment, options);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    console.log(firstSteps({ ...deployment, owner: deployment.record.owner, dataDir: options.dataDir, seconds }));
    if (deployment.fleet !== null) {
      const { admin } = deployment.record;
      console.log(fleetWords(deployment.fleet, { ...options, admin }));
    }
    const ended = await Promise.race([
      stopRequested,
      cloudEnded(deployment, options, () => stopping),
      deployment.edge.exited.then(
        (code) => `The edge ended by itself (${code}); its last words are in ${join(options.dataDir, 'edge.log')}`,
      ),
    ]);
    if (ended !== null) console.error(ended);
    return ended === null ? 0 : 1;
  } finally {
    await deployment.stop();
    if (stopping) console.log('Stopped.');
  }
}

async function main(): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined); // a closed terminal
  const args = process.argv.slice(2);
  if (wantsHelp(args)) {
    console.log(START_USAGE);
    return 0;
  }
  const options = startOptions(args, process.env);
  const lock = claimDirectory(options.dataDir);
  try {
    return await run(options, lock);
  } finally {
    lock.release();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`\nFlock did not start: ${error instanceof Error ? error.message : String(error)}`);
    if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true) console.error(START_USAGE);
    if (error instanceof MigrationError) {
      console.error(
        'The data was made by another version of Flock. "npm start -- --fresh" deletes it and begins anew.',
      );
    }
    process.exit(1);
  },
);
