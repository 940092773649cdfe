/** What an operator sees when one of two endpoints is down: figures, one log line, coverage. */
import test from 'ava';
import { eth } from '../../chains/evm/network.ts';
import { startAnvil } from '../support/anvil.ts';
import { eventually, startTestCloud } from '../support/gateway.ts';

test('found F75: an endpoint that is down shows in figures, log and coverage within a minute, and no URL of it anywhere', async (t) => {
  const anvil = await startAnvil(t, eth, { blockSeconds: 1 });
  const cloud = await startTestCloud({
    ETH_RPC_URLS: `${anvil.url},http://user:hunter2@127.0.0.1:9/key-4711`,
    ETH_POLL_MS: '50',
    ETH_CONFIRMATIONS: '2',
  });
  t.teardown(() => cloud.stop());
  const {
    live: { client },
  } = await cloud.organization();
  const metrics = async () => (await fetch(`${cloud.url}/metrics`)).text();
  const text = await eventually(
    'the figures say so',
    metrics,
    (said) =>
      said.includes('svc_endpoint_up{chain="eth",endpoint="eth-2"} 0') &&
      said.includes('svc_endpoint_up{chain="eth",endpoint="eth-1"} 1') &&
      said.includes('svc_endpoint_trouble{chain="eth",endpoint="eth-2",reason="connection"} 1') &&
      said.includes('svc_endpoint_alive{chain="eth",endpoint="eth-2"} 0') &&
      /svc_endpoint_errors_total\{chain="eth",endpoint="eth-2",kind="connection"\} [1-9]/.test(said) &&
      /svc_endpoint_head_age_seconds\{chain="eth",endpoint="eth-1"\} \d/.test(said),
  );
  const coverage = await eventually(
    'the chain goes on without it',
    () => client.must('getCoverage', { params: { chain: 'eth' } }),
    ({ heardAt, completeHeight }) => heardAt !== null && completeHeight !== null,
  );
  t.true(coverage.ageSeconds !== null && coverage.ageSeconds <= 30, JSON.stringify(coverage));
  const [first, second] = coverage.endpoints;
  t.like(first, { endpoint: 'eth-1', state: 'up', reason: null, next: null, nextLookAt: null });
  t.like(second, { endpoint: 'eth-2', state: 'down' });
  t.regex(second!.reason!, /connection failed|answered nothing/);
  const { content } = await client.must('listChains', {});
  const shown = content.find(({ chain }) => chain === 'eth')!;
  t.is(shown.threshold, 2, 'the threshold that this node credits at');
  t.is(shown.status, 'degraded');
  t.regex(shown.reason!, /^eth-2: down/);
  t.regex(shown.next!, /entry 2 of ETH_RPC_URLS/);
  const lines = cloud.lines.filter((line) => line.includes('"eth-2"') && line.includes('does not answer'));
  t.is(lines.length, 1, 'one line for one change');
  for (const said of [text, ...cloud.lines]) t.false(/hunter2|key-4711/.test(said), said.slice(0, 200));
});
