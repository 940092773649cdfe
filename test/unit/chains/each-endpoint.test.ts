/**
 * Signed bytes at several endpoints, of which any may take them, refuse, know nothing, break, hang or answer late. G14,
 * G26.
 */
import test from 'ava';
import fc from 'fast-check';
import { ChainUnavailable, MalformedReply, type Endpoint, type Transport } from '../../../chains/chain.ts';
import { identifyEach, oneHas, submitToEach } from '../../../chains/each-endpoint.ts';
import { txidOf } from '../../../chains/evm/envelope.ts';
import { eth } from '../../../chains/evm/network.ts';
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { answersOf } from '../../support/evm-blocks.ts';
import { signedTransfer } from '../../support/evm-client.ts';
import { RECIPIENT } from '../../support/evm-inputs.ts';
import { HandTimer } from '../../support/hand-timer.ts';
import { createClient } from '../../../chains/evm/client.ts';

const HEDGE_MS = 2_500;
const TIMEOUT_MS = 20_000;
const SAYS = ['takes', 'refuses', 'gateway', 'breaks', 'times out', 'takes late'] as const;
type Says = (typeof SAYS)[number];

const nodesOf = (says: readonly Says[]) =>
  says.map((_, i): Endpoint => ({ name: `n${i}`, request: () => Promise.reject(new Error('not asked here')) }));

function transportOf(clock: HandTimer, endpoints: readonly Endpoint[]): Transport {
  return createFailoverTransport({
    chain: 'eth',
    endpoints,
    elapsedMs: () => clock.nowMs,
    random: () => 0.5,
    hedge: { ms: HEDGE_MS, timer: clock.timer },
  });
}

/** What an endpoint comes to, at once or when its time is over. */
function reply<T>(clock: HandTimer, says: Says, answers: { takes: T; refuses: T; gateway: T }): Promise<T> {
  const after = (ms: number, then: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      clock.timer(ms, () => {
        then().then(resolve, reject);
      });
    });
  const dead = () => Promise.reject(new ChainUnavailable('eth', 'no answer'));
  return {
    takes: () => Promise.resolve(answers.takes),
    refuses: () => Promise.resolve(answers.refuses),
    gateway: () => Promise.resolve(answers.gateway),
    breaks: dead,
    'times out': () => after(TIMEOUT_MS, dead),
    'takes late': () => after(15_000, () => Promise.resolve(answers.takes)),
  }[says]();
}

const BEHAVIOURS = fc.array(fc.constantFrom(...SAYS), { minLength: 1, maxLength: 4 });

test('found: signed bytes are not kept by an endpoint that hangs: the next is asked after RPC_HEDGE_MS, each once, and a refusal needs the word of all', async (t) => {
  await fc.assert(
    fc.asyncProperty(BEHAVIOURS, async (says) => {
      const clock = new HandTimer(),
        endpoints = nodesOf(says),
        asked: string[] = [];
      const verdicts = await clock.until(
        submitToEach(transportOf(clock, endpoints), {
          submit: (endpoint) => {
            asked.push(endpoint.name);
            return reply(clock, says[endpoints.indexOf(endpoint)]!, {
              takes: 'taken',
              refuses: 'refused',
              gateway: 'doubt',
            });
          },
          isTaken: (verdict) => verdict === 'taken',
        }),
      );
      t.is(new Set(asked).size, asked.length);
      const firstTaker = says.indexOf('takes');
      if (firstTaker !== -1) {
        t.is(verdicts.taken, 'taken');
        t.true(clock.nowMs <= HEDGE_MS * firstTaker, `${clock.nowMs} ms of ${says.join()}`);
        return;
      }
      t.is(verdicts.taken, says.includes('takes late') ? 'taken' : null);
      if (verdicts.taken !== null) return;
      t.is(asked.length, says.length, 'all were asked');
      t.is(verdicts.others.length + verdicts.silent.size, says.length, 'all were waited for');
    }),
    { numRuns: 150 },
  );
});

test('found: EVM: whatever endpoints do, a broadcast is accepted by one, refused by the word of all, and unknown otherwise', async (t) => {
  const payload = await signedTransfer(eth, 7, RECIPIENT, 5n),
    signed = { chain: 'eth', payload, txid: txidOf(payload) } as const;
  await fc.assert(
    fc.asyncProperty(BEHAVIOURS, async (says) => {
      const clock = new HandTimer();
      const endpoints = says.map((what, i): Endpoint => ({
        name: `n${i}`,
        async request({ body }) {
          const asked = JSON.parse(body!),
            error = (code: number, message: string) => ({ jsonrpc: '2.0', id: asked.id, error: { code, message } });
          const one = ({ id, method }: { id: unknown; method: string }) => ({
            jsonrpc: '2.0',
            id,
            result:
              method === 'eth_getBlockByNumber' ? answersOf(100, []).block : method === 'eth_getBalance' ? '0x0' : null,
          });
          const said =
            asked.method !== 'eth_sendRawTransaction'
              ? Array.isArray(asked)
                ? asked.map(one)
                : one(asked)
              : await reply<object>(clock, what, {
                  takes: { jsonrpc: '2.0', id: asked.id, result: signed.txid },
                  gateway: error(-32_000, 'no backends available'),
                  refuses: error(
                    -32_000,
                    'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
                  ),
                });
          return { status: 200, headers: {}, text: JSON.stringify(said) };
        },
      }));
      const { kind } = await clock.until(createClient(eth, transportOf(clock, endpoints), new Map()).broadcast(signed));
      t.is(
        kind,
        says.some((one) => one.startsWith('takes'))
          ? 'accepted'
          : says.every((one) => one === 'refuses')
            ? 'rejected_final'
            : 'unknown',
        says.join(),
      );
    }),
    { numRuns: 100 },
  );
});

test('a malformed answer of one endpoint is passed on only when none takes the bytes; a fault of ours at once', async (t) => {
  const clock = new HandTimer(),
    endpoints = nodesOf(['takes', 'takes']);
  const by = (answers: readonly (() => Promise<string>)[]) =>
    clock.until(
      submitToEach(transportOf(clock, endpoints), {
        submit: (endpoint) => answers[endpoints.indexOf(endpoint)]!(),
        isTaken: (verdict) => verdict === 'taken',
      }),
    );
  const malformed = () => Promise.reject(new MalformedReply('another hash', 'x'));
  t.is((await by([malformed, async () => 'taken'])).taken, 'taken');
  await t.throwsAsync(by([malformed, async () => 'refused']), { instanceOf: MalformedReply });
  await t.throwsAsync(by([() => Promise.reject(new Error('a fault')), () => Promise.reject(new Error('a fault'))]), {
    message: 'a fault',
  });
});

test('whoever has it is believed at once; one that was late is not waited for again', async (t) => {
  const clock = new HandTimer(),
    endpoints = nodesOf(['takes', 'takes', 'takes']),
    transport = transportOf(clock, endpoints),
    [first, second] = endpoints;
  const never = new Promise<boolean>(() => undefined);
  t.true(await oneHas(transport, { late: new Set() }, (one) => (one === second ? Promise.resolve(true) : never)));
  t.false(
    await oneHas(transport, { late: new Set([first!]) }, (one) => (one === first ? never : Promise.resolve(false))),
  );
});

test('found: G14 an identity is not waited for from an endpoint that hangs; none that answers is passed over', async (t) => {
  for (const { says, outcome, withinMs } of [
    { says: ['takes', 'times out'], outcome: 'identified', withinMs: HEDGE_MS },
    { says: ['times out', 'takes', 'breaks'], outcome: 'identified', withinMs: HEDGE_MS },
    { says: ['takes', 'takes'], outcome: 'identified', withinMs: 0 },
    { says: ['breaks', 'takes late'], outcome: 'identified', withinMs: 15_000 },
    { says: ['breaks', 'times out'], outcome: 'eth: identity: eth: no answer; eth: no answer', withinMs: TIMEOUT_MS },
  ] as const) {
    const clock = new HandTimer(),
      endpoints = nodesOf(says),
      looked: Endpoint[] = [];
    const work = identifyEach('eth', transportOf(clock, endpoints), async (endpoint) => {
      looked.push(endpoint);
      await reply<unknown>(clock, says[endpoints.indexOf(endpoint)]!, { takes: null, refuses: null, gateway: null });
    }).then(
      () => 'identified',
      (error: Error) => error.message,
    );
    t.is(await clock.until(work), outcome, says.join());
    t.is(clock.nowMs, withinMs, says.join());
    t.is(looked.length, endpoints.length);
  }
});
