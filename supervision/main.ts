/** A cloud node's process. `npm run cloud`, or a child of developer mode, the demo and the tests. */
import { ConfigurationError, readConfig } from './config.ts';
import { exitWithParent, stopOnSignals } from './drain.ts';
import { createLog } from '../gateway/http/log.ts';
import { startCloudNode } from './node.ts';

async function main(): Promise<void> {
  const serves = exitWithParent();
  const config = readConfig(process.env);
  for (const name of ['SECRET_KEY', 'DATABASE_URL', 'DATABASE_OWNER_URL']) delete process.env[name];
  const log = createLog(config.LOG_LEVEL, config.NODE_NAME);
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    process.exit(70);
  });
  const node = await startCloudNode(config, log);
  stopOnSignals(() => node.stop(), log);
  serves();
  log.info({ url: node.url, roles: config.ROLES }, 'ready');
  process.send?.({ type: 'ready', port: node.port });
}

main().catch((error: unknown) => {
  const { code, port } = error as { code?: string; port?: number };
  const text = error instanceof ConfigurationError ? error.message
    : code === 'EADDRINUSE' ? `CLOUD_PORT: port ${port} is in use; set CLOUD_PORT to another one`
    : code === 'ECONNREFUSED' ? 'DATABASE_URL: no server answers there'
    : error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  process.stderr.write(`the cloud node does not start: ${text}\n`);
  process.exit(error instanceof ConfigurationError ? 78 : 1);
});
