/** The cloud is not trusted: what it answers is bounded, whoever asked. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import test from 'ava';
import { createIdentity } from '../../../edge/link/identity.ts';
import { boundedFetch } from '../../../edge/link/bounded-answer.ts';
import { createUpstream } from '../../../edge/link/upstream.ts';
import { createClient } from '../../../protocol/client.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { eventually } from '../../support/edge/edges.ts';

const CHUNK = Buffer.alloc(1_024 * 1_024, ' ');

test('an answer without an end is cut, for calls of the edge itself and for those that are passed on', async (t) => {
  let open = 0,
    sent = 0,
    largest = 0;
  const flood = (response: ServerResponse): void => {
    if (response.destroyed) return;
    sent += CHUNK.length;
    if (response.write(CHUNK)) flood(response);
    else response.once('drain', () => flood(response));
  };
  const server = createServer((_request, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
    response.writeHead(200, { 'content-type': 'application/json' });
    flood(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const cloudUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const upstream = createUpstream({
    cloudUrl,
    apiKey: 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa',
    identity: createIdentity(Buffer.alloc(32, 1)),
    nowMs: () => 0,
  });
  t.teardown(() => upstream.close());
  for (const ask of [
    () => upstream.signed.call('getEdgeReadiness'),
    () => upstream.unsigned.call('getEdgeReadiness'),
    () =>
      upstream.forward({
        method: 'GET',
        pathAndQuery: '/v1/addresses',
        headers: {},
        body: Buffer.alloc(0),
        bytesMax: 65_536,
      }),
  ]) {
    sent = 0;
    const reply = await ask();
    t.is(isRefusal(reply) && reply.code, 'UPSTREAM_UNAVAILABLE');
    largest = Math.max(largest, sent);
    await eventually('the connection is cut', () => open === 0);
    t.true(sent < 128 * CHUNK.length, `${sent} bytes`);
  }
  t.true(largest < 32 * CHUNK.length, 'found F14: what sockets buffer, and no 32 MB');
});

test('found F14: an answer that is small on the wire and large once it is unpacked is cut while it is unpacked', async (t) => {
  const honest = JSON.stringify({
    success: false,
    data: null,
    error: { code: 'EDGE_OFFLINE', message: 'no edge', details: {} },
    meta: { requestId: 'req_1', timestamp: '2026-01-01T00:00:00.000Z' },
  });
  const spaces = Buffer.alloc(32 * CHUNK.length, ' ');
  const bomb = Buffer.concat([spaces, Buffer.from(honest)]);
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
  const answers = [
    ['br', brotliCompressSync(bomb, quick), 'ANSWER_TOO_LARGE'],
    ['gzip', gzipSync(bomb, { level: 9 }), 'ANSWER_TOO_LARGE'],
    ['br, br', brotliCompressSync(brotliCompressSync(bomb, quick), quick), 'ANSWER_TOO_LARGE'],
    ['gzip', gzipSync(honest), 'EDGE_OFFLINE'],
    ['identity', Buffer.from(honest), 'EDGE_OFFLINE'],
  ] as const;
  let answer: (typeof answers)[number] = answers[0];
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'content-encoding': answer[0] }).end(answer[1]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const cloudUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const upstream = createUpstream({
    cloudUrl,
    apiKey: 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa',
    identity: createIdentity(Buffer.alloc(32, 1)),
    nowMs: () => 0,
  });
  t.teardown(() => upstream.close());
  const ofDoctor = createClient({ baseUrl: cloudUrl, fetch: boundedFetch });
  for (answer of answers) {
    t.true(answer[1].length < 128 * 1_024, 'within the bound of the wire');
    for (const client of [upstream.signed, upstream.unsigned, ofDoctor]) {
      const reply = (await client.call('getEdgeReadiness')) as { code: string; details: { reason?: string } };
      t.is(reply.details.reason ?? reply.code, answer[2], answer[0]);
    }
  }
});
