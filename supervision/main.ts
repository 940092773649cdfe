/** A cloud node's process. `npm run cloud`, or a child of developer mode, the demo and the tests. */
import { CLOUD_SECRETS } from '../protocol/setting-names.ts';
import { ConfigurationError, readConfig } from './config.ts';
import { exitWithParent, stopOnSignals } from './drain.ts';
import { isAway } from '../persistence/postgres/away.ts';
import { applicationFault } from '../persistence/postgres/sign-in-fault.ts';
import { createLog } from '../gateway/telemetry/log.ts';
import { startCloudNode } from './node.ts';
import { NotDurable } from '../cluster/heartbeat.ts';
import { JoinRefused } from '../cluster/join.ts';

async function main(): Promise<void> {
  const serves = exitWithParent();
  const config = readConfig(process.env);
  for (const name of CLOUD_SECRETS) delete process.env[name];
  const log = createLog(config.LOG_LEVEL, config.NODE_NAME, undefined, {
    isAway,
    elapsedMs: () => performance.now(),
  });
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    process.exit(70);
  });
  const starting = startCloudNode(config, log);
  // a signal that comes meanwhile waits for the start: half a start is no state
  stopOnSignals(async () => (await starting).stop(), log);
  const node = await starting;
  serves();
  log.info({ url: node.url, roles: config.ROLES }, 'ready');
  if (config.SMTP_URL === undefined && config.MAIL_DIR === undefined) {
    log.warn('neither SMTP_URL nor MAIL_DIR is set: mail to owners waits in the outbox (svc_mail_unsent)');
  }
  process.send?.({ type: 'ready', port: node.port });
}

/** What keeps a node from starting, in words that name the setting where there is one. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  return applicationFault(error) ?? (error instanceof Error ? error.message : String(error));
}

main().catch((error: unknown) => {
  process.stderr.write(`the cloud node does not start: ${reasonOf(error)}\n`);
  process.exit(
    error instanceof ConfigurationError || error instanceof NotDurable || error instanceof JoinRefused ? 78 : 1,
  );
});
