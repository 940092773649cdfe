/** What an operator is shown of one endpoint: line, figures, reason, setting, next step. */
import test from 'ava';
import type { Endpoint, HttpReply } from '../../../chains/chain.ts';
import { createEndpointWatch, TROUBLES } from '../../../chains/transport/endpoint-watch.ts';
import { EndpointFailure } from '../../../chains/transport/http-endpoint.ts';
import { Recorder } from '../../support/watching.ts';

const HOUR_MS = 3_600_000;

class Labelled extends Recorder {
  readonly labelled = new Map<string, number>();
  override set(name: string, labels: object, value: number): void {
    this.labelled.set(`${name} ${Object.values(labels).join(' ')}`, value);
  }
}

function setup() {
  const recorder = new Labelled();
  const self = {
    recorder,
    nowMs: 0,
    returned: [] as string[],
    answer: null as HttpReply | EndpointFailure | null,
  };
  const watch = createEndpointWatch('eth', {
    log: recorder,
    metrics: recorder,
    nowMs: () => self.nowMs,
    nextLookMs: () => 60_000,
    onReturn: (name) => self.returned.push(name),
  });
  const endpoint = watch.watched({
    name: 'eth-2',
    request: async (_call: Parameters<Endpoint['request']>[0]) => {
      if (self.answer instanceof EndpointFailure) throw self.answer;
      return self.answer!;
    },
  });
  const ask = async (times: number, answer: HttpReply | string) => {
    self.answer = typeof answer === 'string' ? new EndpointFailure('eth', answer) : answer;
    for (let at = 0; at < times; at += 1) await endpoint.request({ method: 'GET', path: '' }).catch(() => undefined);
  };
  return { self, watch, endpoint, ask };
}

const reply = (status: number): HttpReply => ({ status, headers: {}, text: '{}' });

test('found F75: the line of an endpoint that is down names reason, setting, next step and next look, and comes again each hour', async (t) => {
  const { self, ask, watch } = setup();
  await ask(2, 'connection failed: ECONNREFUSED');
  t.is(self.recorder.lines.length, 1);
  const fields = self.recorder.lines[0]!.fields as Record<string, string>;
  t.like(fields, {
    endpoint: 'eth-2',
    kind: 'connection',
    reason: 'connection failed: ECONNREFUSED',
    setting: 'ETH_RPC_URLS',
    nextLookAt: '1970-01-01T00:01:00.000Z',
  });
  t.regex(fields['next']!, /entry 2 of ETH_RPC_URLS/);
  self.nowMs = HOUR_MS - 1;
  await ask(3, 'no answer within 20000 ms');
  t.is(self.recorder.lines.length, 1, 'not before an hour');
  t.like(watch.findingOf('eth-2'), { trouble: 'timeout', sinceMs: 0 }, 'the newest reason is shown');
  self.nowMs = HOUR_MS;
  await ask(1, 'no answer within 20000 ms');
  t.is(self.recorder.lines.length, 2);
  t.like(self.recorder.lines[1]!.fields, { seconds: 3_600, kind: 'timeout' });
  await ask(1, reply(200));
  t.is(self.recorder.lines.length, 3);
  t.deepEqual(self.returned, ['eth-2'], 'it may be another node now: its network is looked at');
  t.like(watch.findingOf('eth-2'), { state: 'up', reason: null, next: null });
});

test('found F75: an endpoint of another network is told from one that is down: figure, line and finding name what was expected and seen', async (t) => {
  const { self, ask, watch, endpoint } = setup();
  const network = { expected: '1', seen: '56' };
  watch.onReport(endpoint, 'wrong_network', network);
  t.like(self.recorder.lines[0]!.fields, { ...network, setting: 'ETH_RPC_URLS', kind: 'wrong_network' });
  t.is(self.recorder.labelled.get('svc_endpoint_up eth eth-2'), 0);
  t.is(self.recorder.labelled.get('svc_endpoint_trouble eth eth-2 wrong_network'), 1);
  await ask(3, 'http 502');
  await ask(1, reply(200));
  t.like(watch.findingOf('eth-2'), { state: 'wrong_network', network }, 'answers do not clear it, an identity does');
  self.nowMs = HOUR_MS;
  watch.onReport(endpoint, 'wrong_network', network);
  t.is(self.recorder.lines.length, 2, 'again each hour');
  watch.onReport(endpoint, 'ok');
  t.is(self.recorder.labelled.get('svc_endpoint_trouble eth eth-2 wrong_network'), 0);
  t.is(self.recorder.labelled.get('svc_endpoint_up eth eth-2'), 1);
});

test('found F75: each trouble is one value of a closed list of labels, and the old one falls when it changes', async (t) => {
  const { self, ask } = setup();
  const reasons = {
    timeout: 'no answer within 5 ms',
    connection: 'connection failed: ENOTFOUND',
    rate_limited: 'rate limited',
    http: 'http 503',
    too_large: 'answer larger than 5 bytes',
    other: 'something else',
  };
  await ask(2, 'rate limited');
  for (const [kind, reason] of Object.entries(reasons)) {
    await ask(1, reason);
    const raised = TROUBLES.filter((one) => self.recorder.labelled.get(`svc_endpoint_trouble eth eth-2 ${one}`) === 1);
    t.deepEqual(raised, [kind as (typeof TROUBLES)[number]]);
  }
});

test('found F75: a key that is refused shows as down; a method that a plan refuses now and then does not', async (t) => {
  const { ask, watch } = setup();
  for (let round = 0; round < 3; round += 1) {
    await ask(4, reply(403));
    await ask(1, reply(200));
  }
  t.is(watch.findingOf('eth-2')?.state, 'up');
  await ask(5, reply(401));
  t.like(watch.findingOf('eth-2'), { state: 'down', trouble: 'unauthorized', reason: 'http 401' });
});
