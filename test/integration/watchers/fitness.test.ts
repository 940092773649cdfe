import test from 'ava';
import { startAnvil } from '../../../developer/anvil.ts';
import { isRefusal } from '../../../protocol/errors.ts';
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
  '§1.7 G14 found F75: a node of another network answers no balance, also where no watcher has looked at it, and is named everywhere',
  async (t) => {
    const network = { expected: '1', seen: '56' };
    for (const answer of await asked('eth')) {
      if (!isRefusal(answer)) return t.fail('a node of another network answered');
      t.like(answer, { code: 'CHAIN_UNAVAILABLE' });
      t.like(answer.details, { status: 'wrong_network', setting: 'ETH_RPC_URLS', retryAfterSeconds: 5, ...network });
      t.regex(String(answer.details['next']), /node of eth at entry 1 of ETH_RPC_URLS/);
    }
    const { content } = await live.client.must('listChains');
    const of = (chain: string) => content.find((one) => one.chain === chain)!;
    t.like(of('eth'), {
      status: 'wrong_network',
      reason: 'eth-1: wrong_network, is of another network (expected 1, seen 56)',
    });
    t.like(of('btc'), { enabled: false, status: 'unavailable', reason: 'not enabled: BTC_RPC_URLS is not set' });
    t.regex(of('btc').next!, /BTC_RPC_URLS/);
    const [endpoint] = (await live.client.must('getCoverage', { params: { chain: 'eth' } })).endpoints;
    t.like(endpoint, { state: 'wrong_network', reason: 'is of another network (expected 1, seen 56)' });
    const figures = await (await fetch(`${cloud.url}/metrics`)).text();
    t.true(figures.includes('svc_endpoint_trouble{chain="eth",endpoint="eth-1",reason="wrong_network"} 1'));
    const line = cloud.lines.find((one) => one.includes('another network'))!;
    t.like(JSON.parse(line), { endpoint: 'eth-1', setting: 'ETH_RPC_URLS', ...network });
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
