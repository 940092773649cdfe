import test from 'ava';
import { startAnvil } from '../../../developer/anvil.ts';
import { enrol, startTestCloud } from '../../support/gateway.ts';

const anvil = await startAnvil({ chainId: 56 });
const urls = { ETH_RPC_URLS: anvil.url, BSC_RPC_URLS: anvil.url, ETH_START_HEIGHT: '0' };
const cloud = await startTestCloud({ ROLES: 'gateway', ...urls });
const { live } = await cloud.organization();
await enrol(cloud, live);
test.after.always(async () => {
  await cloud.stop();
  await anvil.stop();
});

const asked = async (chain: 'eth' | 'bsc') => {
  const { address } = await live.client.must('createAddress', { body: { chain, userRef: 'customer-1' } });
  return [
    await live.client.call('getBalance', { params: { chain, address } }),
    await live.client.call('listBalances', { query: { chain } }),
    await live.client.call('getFees', { params: { chain } }),
  ];
};

test.serial(
  '§1.7 G14 a node of another network answers no balance, also where no watcher has looked at it',
  async (t) => {
    for (const answer of await asked('eth')) t.like(answer, { code: 'CHAIN_UNAVAILABLE', details: { chain: 'eth' } });
  },
);

test.serial(
  '§1.7 G10 a node that syncs anew is far behind what was recorded: it has no zero to tell, after a restart either',
  async (t) => {
    const { owner } = cloud.database;
    await owner`insert into flock.chain_cursor (ledger, height, hash) values ('bsc', 1000000, '0x01')`;
    for (const answer of await asked('bsc')) t.like(answer, { code: 'CHAIN_UNAVAILABLE', details: { chain: 'bsc' } });
    await owner`delete from flock.chain_cursor`;
    const [balance] = await asked('bsc');
    t.like(balance, { amount: '0', accountExists: true }, 'once it is where the ledger is, it is asked');
  },
);
