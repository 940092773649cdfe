/** Whether Redis answers, asked once. */
import { Redis } from 'ioredis';

/** Throws: an error of the connection, or with the code ETIMEDOUT. */
export async function pingRedis(url: string, timeoutMs: number): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let lost: unknown = null;
  client.on('error', (error) => {
    lost = error;
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    throw lost ?? error;
  } finally {
    client.disconnect();
  }
}
