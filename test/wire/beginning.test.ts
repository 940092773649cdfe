/** A chain whose node cannot be reached at the first start. */
import { createServer, connect, type Server } from 'node:net';
import test from 'ava';
import { eth } from '../../chains/evm/network.ts';
import { startAnvil } from '../support/anvil.ts';
import { enrol, eventually, startTestCloud } from '../support/gateway.ts';

test('found F51: no address of a chain before its beginning is durable; what is paid after it is credited, on a sibling network too', async (t) => {
  const reserved = await listening(createServer());
  const port = portOf(reserved);
  await new Promise((resolve) => reserved.close(resolve));
  const anvil = await startAnvil(t, { ...eth, chainId: 56 }, { blockSeconds: 1, slotsInEpoch: 1 });
  const ethereum = await startAnvil(t, eth);
  const cloud = await startTestCloud({
    ETH_RPC_URLS: ethereum.url,
    ETH_POLL_MS: '50',
    BSC_RPC_URLS: `http://127.0.0.1:${port}`,
    BSC_POLL_MS: '50',
    BSC_CONFIRMATIONS: '2',
  });
  t.teardown(() => cloud.stop());
  const organization = await cloud.organization();
  await enrol(cloud, organization.live);
  const { client } = organization.live;

  const refused = await client.call('createAddress', { body: { chain: 'bsc', userRef: 'u' } });
  t.like(refused, { ok: false, code: 'CHAIN_UNAVAILABLE', details: { chain: 'bsc', permanent: false } });
  t.regex(JSON.stringify(refused), /no node of this chain has answered/);
  const issued = await client.must('createAddress', { body: { chain: 'eth', userRef: 'u' } });
  await anvil.fund('0x00000000000000000000000000000000000000aa', 10n ** 20n);
  await anvil.send({ from: '0x00000000000000000000000000000000000000aa', to: issued.address, value: 7n });
  await anvil.mine(20);

  const proxy = await listening(
    createServer((socket) => {
      const node = connect(Number(new URL(anvil.url).port), '127.0.0.1');
      for (const [one, other] of [
        [socket, node],
        [node, socket],
      ] as const)
        one.on('error', () => other.destroy()).pipe(other);
    }),
    port,
  );
  t.teardown(() => {
    proxy.closeAllConnections?.();
    proxy.close();
  });
  await eventually(
    'the payment of before is credited',
    () => client.must('listTransactions', { query: { chain: 'bsc' } }),
    ({ content }) => content.some(({ amount, status }) => amount === '7' && status === 'confirmed'),
  );
  t.is((await client.must('createAddress', { body: { chain: 'bsc', userRef: 'v' } })).chain, 'bsc');
});

async function listening(
  server: Server & { closeAllConnections?: () => void },
  port = 0,
): Promise<Server & { closeAllConnections?: () => void }> {
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

const portOf = (server: Server): number => (server.address() as { port: number }).port;
