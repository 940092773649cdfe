/** The proxy in front of anvil keeps traces and changes apart, and makes the blocks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { openAnvilProxy, TracesOrOneChange, type ProxyOptions } from '../../../developer/anvil-proxy.ts';
import { eventually } from '../../support/gateway.ts';

/** A node that answers each call when the test says so, and knows which calls it holds. */
async function openNode(t: ExecutionContext, options: Partial<ProxyOptions> = {}) {
  const held: { method: string; answer: (body?: object) => void }[] = [];
  const seen: string[] = [];
  const node = createServer((asked, reply) => {
    void text(asked).then((body) => {
      const { method } = JSON.parse(body) as { method: string };
      seen.push(method);
      const call = {
        method,
        answer: (said: object = { result: method }) => {
          held.splice(held.indexOf(call), 1);
          reply.end(JSON.stringify(said));
        },
      };
      held.push(call);
    });
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    node.closeAllConnections();
    node.close();
  });
  const proxy = await openAnvilProxy({
    node: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    automine: false,
    ...options,
  });
  t.teardown(() => proxy.close());
  const call = async (method: string) => {
    const reply = await fetch(proxy.url, { method: 'POST', body: JSON.stringify({ id: 1, method, params: [] }) });
    return reply.json() as Promise<{ result?: string; error?: unknown }>;
  };
  /** Waits until the node holds exactly these. */
  const holds = async (...methods: string[]) => {
    await eventually(
      `the node holds ${methods.join()}`,
      () => Promise.resolve(held.map(({ method }) => method).sort()),
      (now) => now.join() === [...methods].sort().join(),
    );
  };
  const answer = (method: string, body?: object) => held.find((one) => one.method === method)!.answer(body);
  return { call, holds, answer, seen };
}

test('a change waits for the traces that run, and what comes after it waits for the change', async (t) => {
  const order = new TracesOrOneChange();
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async () => {
    running.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    running.splice(running.indexOf(name), 1);
  };
  const end = async (name: string, whole: Promise<void>) => {
    ends.get(name)!();
    await whole;
    await new Promise(setImmediate);
    return [...running].sort();
  };
  const [first, second] = [order.trace(work('trace 1')), order.trace(work('trace 2'))];
  const mine = order.change(work('mine'));
  const third = order.trace(work('trace 3'));
  const send = order.change(work('send'));
  const fourth = order.trace(work('trace 4'));
  await new Promise(setImmediate);
  t.deepEqual([...running], ['trace 1', 'trace 2']);
  t.deepEqual(await end('trace 2', second), ['trace 1']);
  t.deepEqual(await end('trace 1', first), ['mine']);
  t.deepEqual(await end('mine', mine), ['trace 3']);
  t.deepEqual(await end('trace 3', third), ['send']);
  t.deepEqual(await end('send', send), ['trace 4']);
  t.deepEqual(await end('trace 4', fourth), []);
});

test('the proxy makes no change while the node traces, and reads wait for nothing', async (t) => {
  const { call, holds, answer, seen } = await openNode(t);
  const trace = call('debug_traceBlockByHash');
  await holds('debug_traceBlockByHash');
  const change = call('anvil_mine');
  const read = call('eth_getBlockByNumber');
  await holds('debug_traceBlockByHash', 'eth_getBlockByNumber');
  answer('eth_getBlockByNumber');
  t.is((await read).result, 'eth_getBlockByNumber');
  answer('debug_traceBlockByHash');
  await trace;
  await holds('anvil_mine');
  const later = call('debug_traceTransaction');
  const other = call('eth_blockNumber');
  await holds('anvil_mine', 'eth_blockNumber');
  answer('eth_blockNumber');
  await other;
  answer('anvil_mine');
  t.is((await change).result, 'anvil_mine');
  await holds('debug_traceTransaction');
  answer('debug_traceTransaction');
  t.is((await later).result, 'debug_traceTransaction');
  t.is(seen.length, 5);
});

test('where transactions are mined at once, a call that sent one is answered when its block is there; a refused one makes none', async (t) => {
  const { call, holds, answer, seen } = await openNode(t, { automine: true });
  const sent = call('eth_sendTransaction');
  await holds('eth_sendTransaction');
  answer('eth_sendTransaction');
  await holds('evm_mine');
  answer('evm_mine');
  t.is((await sent).result, 'eth_sendTransaction');
  const refused = call('eth_sendRawTransaction');
  await holds('eth_sendRawTransaction');
  answer('eth_sendRawTransaction', { error: { code: -32003, message: 'nonce too low' } });
  t.like(await refused, { error: { code: -32003 } });
  t.deepEqual(seen, ['eth_sendTransaction', 'evm_mine', 'eth_sendRawTransaction']);
});

test('a change whose connection broke keeps nothing waiting', async (t) => {
  const node = createServer((asked) => asked.destroy());
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  t.teardown(() => node.close());
  const proxy = await openAnvilProxy({ node: url, automine: false });
  t.teardown(() => proxy.close());
  const call = (method: string) => fetch(proxy.url, { method: 'POST', body: JSON.stringify({ id: 1, method }) });
  for (const method of ['anvil_mine', 'debug_traceTransaction', 'eth_sendTransaction']) {
    const reply = await call(method);
    t.is(reply.status, 502, method);
    t.regex(await reply.text(), /^anvil does not answer: /);
  }
});
