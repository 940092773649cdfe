/** Sandbox accounts beside the developer's, each with an enrolled EVM key; their API keys. */
import { initialAccount } from '../model/account/state.ts';
import { mintApiKey } from '../gateway/http/auth/api-keys.ts';
import { createIdentityStore } from '../persistence/postgres/identity.ts';
import { openDatabase } from '../persistence/postgres/sql.ts';
import { accountIdOf } from '../protocol/ids.ts';
import { newId } from '../protocol/node/ids.ts';
import type { Deployment } from '../developer/deployment.ts';
import { testEdge } from '../test/support/gateway.ts';

export async function openAccounts({ databaseUrl, cloudUrl }: Deployment, count: number): Promise<string[]> {
  const sql = openDatabase({ url: databaseUrl, connections: 1, name: 'flock-bench-accounts' });
  const keys: string[] = [];
  try {
    const identity = createIdentityStore(sql, initialAccount),
      nowMs = Date.now(),
      userId = newId('usr', nowMs);
    await identity.insertUser({
      id: userId,
      email: 'bench@example.com',
      passwordHash: 'x',
      sealedTotpSecret: null,
      totpConfirmed: false,
      platformRole: null,
    });
    for (let n = 0; n < count; n += 1) {
      const organizationId = newId('org', nowMs),
        { key, hash, maskedPrefix } = mintApiKey('sandbox');
      await identity.createOrganization({ id: organizationId, name: `bench ${n}`, createdAtMs: nowMs }, userId, {
        tier: 'ultimate',
        band: 'launch',
        subscription: 'active',
        paymentsActive: true,
      });
      await identity.insertApiKey({
        id: newId('key', nowMs),
        accountId: accountIdOf(organizationId, 'sandbox'),
        organizationId,
        environment: 'sandbox',
        label: 'bench',
        hash,
        maskedPrefix,
        createdAtMs: nowMs,
        revokedAtMs: null,
      });
      const answer = await testEdge({ url: cloudUrl }, key).sync();
      if ('ok' in (answer as object)) throw new Error(`sync was refused: ${JSON.stringify(answer)}`);
      keys.push(key);
    }
  } finally {
    await sql.end({ timeout: 5 });
  }
  return keys;
}
