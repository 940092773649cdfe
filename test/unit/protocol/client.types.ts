/** Compiled by `tsc`, never run: what the typed client must accept and refuse. */
import type { Client } from '../../../protocol/client.ts';
import { isRefusal } from '../../../protocol/errors.ts';

export async function typesOfTheClient(client: Client): Promise<string[]> {
  // @ts-expect-error the body is required
  await client.call('createAddress');
  // @ts-expect-error an unknown chain
  await client.call('createAddress', { body: { chain: 'doge', userRef: 'customer-1' } });
  // @ts-expect-error the path parameter is required
  await client.call('getAddress', {});
  // @ts-expect-error no such operation
  await client.call('createMoney');
  await client.call('getEdgeHealth');
  await client.call('listAddresses');
  await client.call('listAddresses', { query: { chain: 'eth', size: '5' } });
  const address = await client.must('createAddress', {
    body: { chain: 'eth', userRef: 'customer-1' },
    idempotencyKey: 'one',
  });
  const page = await client.call('listTransactions', { query: { direction: 'in' } });
  return isRefusal(page) ? [page.code] : [address.derivationPath ?? '', ...page.content.map((entry) => entry.amount)];
}
