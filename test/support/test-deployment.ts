/** A whole Flock of a test: processes on free ports, the server of the test run, parts that are built once. */
import { startDeployment, type Deployment, type DeploymentOptions } from '../../developer/deployment.ts';
import { freePort } from '../../developer/ports.ts';
import { partEntries } from './built-parts.ts';
import { newDatabaseName, testServerUrl } from './postgres.ts';

/** `name` is that of its database. `ownServer`: for tests that crash it. `cloud`: where it is not today's file. */
export async function startTestDeployment(
  name: string,
  {
    ownServer = false,
    cloud,
    ...options
  }: Pick<DeploymentOptions, 'dataDir' | 'environment' | 'cloudEnv' | 'edgeEnv'> & {
    readonly ownServer?: boolean | undefined;
    readonly cloud?: string | undefined;
  },
): Promise<Deployment> {
  return startDeployment({
    ...options,
    cloudPort: await freePort(),
    edgePort: await freePort(),
    durable: false,
    entries: { ...(await partEntries()), ...(cloud === undefined ? {} : { cloud }) },
    log: () => undefined,
    ...(ownServer ? {} : { databaseUrl: await testServerUrl() }),
    databaseName: newDatabaseName(name),
  });
}
