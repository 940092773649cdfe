/** `npm start`: developer mode. Stays up until Ctrl-C; a second start finds the data again; `-- --fresh` begins anew. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDeployment, type Deployment } from './deployment.ts';
import { startOptions, type StartOptions } from './options.ts';
import { claimDirectory } from './directory-lock.ts';

function firstSteps({ cloudUrl, edgeUrl, localApiKey }: Deployment, dataDir: string): string {
  const call = (method: string, path: string, body?: object) =>
    `curl -s -X ${method} ${edgeUrl}${path} -H 'X-API-Key: ${localApiKey}'`
    + (body === undefined ? '' : ` -H 'content-type: application/json' -d '${JSON.stringify(body)}'`);
  return `
Flock is up (sandbox: no chain is contacted, nothing costs anything).

  cloud     ${cloudUrl}          edge   ${edgeUrl}   (status page at its root)
  API       ${cloudUrl}/docs     keys and people   ${join(dataDir, 'dev.json')}

First steps:

  # 1. a deposit address for your customer 42
  ${call('POST', '/v1/addresses', { chain: 'eth', userRef: 'customer-42' })}

  # 2. pretend that somebody paid 0.5 ETH to it (put the address in), confirmed at once
  ${call('POST', '/v1/sandbox/simulate-deposit', { chain: 'eth', address: 'ADDRESS', amount: '0.5', autoConfirm: true })}

  # 3. see it
  ${call('GET', '/v1/transactions')}

Ctrl-C stops everything.
`;
}

function writeRecord(deployment: Deployment, options: StartOptions): void {
  const { record, cloudUrl, edgeUrl, localApiKey } = deployment;
  const dev = {
    cloudUrl, edgeUrl, consoleUrl: `${cloudUrl}/console`, organizationId: record.organizationId,
    sandbox: { cloudApiKey: record.sandbox.cloudApiKey, localApiKey },
    live: record.live, owner: record.owner, editor: record.editor, viewer: record.viewer, admin: record.admin,
    other: record.other,
  };
  writeFileSync(join(options.dataDir, 'dev.json'), `${JSON.stringify(dev, null, 2)}\n`, { mode: 0o600 });
}

async function main(): Promise<number> {
  const options = startOptions(process.argv.slice(2), process.env);
  const lock = claimDirectory(options.dataDir);
  if (options.fresh) lock.empty();
  const startedAt = performance.now();
  const stopRequested = new Promise<string>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
  });
  const starting = startDeployment({
    dataDir: options.dataDir, cloudPort: options.cloudPort, edgePort: options.edgePort, environment: 'sandbox',
    log: () => undefined,
  });
  const first = await Promise.race([starting, stopRequested]);
  const deployment = await starting; // parts that are already up are stopped in order below
  try {
    if (typeof first === 'string') return 0;
    writeRecord(deployment, options);
    console.log(firstSteps(deployment, options.dataDir));
    console.log(`Ready in ${Math.round((performance.now() - startedAt) / 100) / 10} s.`);
    const ended = await Promise.race([
      stopRequested.then(() => null),
      deployment.cloud.exited.then((code) => `the cloud node ended with ${code}; see ${join(options.dataDir, 'cloud.log')}`),
      deployment.edge.exited.then((code) => `the edge ended with ${code}; see ${join(options.dataDir, 'edge.log')}`),
    ]);
    if (ended !== null) console.error(ended);
    else console.log('Stopping…');
    return ended === null ? 0 : 1;
  } finally {
    await deployment.stop();
    lock.release();
  }
}

main().then(
  (code) => { process.exitCode = code; process.disconnect?.(); },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
