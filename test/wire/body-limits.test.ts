/** found F14: a body costs by the byte, so that each path takes as many as its schema can carry, and no more. */
import { request } from 'node:http';
import test from 'ava';
import { BODY_BYTES_MAX, bodyBytesOf } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { bodyBoundOf } from '../support/body-bound.ts';
import { jsonOf, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

/** A head that announces a body; none of it is sent. */
const announce = (method: string, path: string, bytes: number) =>
  new Promise<{ status: number; error: { code: string; details: object } }>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes) };
    const asked = request(cloud.url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        asked.destroy();
        resolve({ status: response.statusCode!, error: JSON.parse(Buffer.concat(chunks).toString()).error });
      });
    });
    asked.on('error', reject);
    asked.flushHeaders();
  });

test('every path takes what its schema can carry, and at most twice as much where that is more than 16 KiB', (t) => {
  for (const route of ROUTE_LIST) {
    const limit = bodyBytesOf(route),
      // What an edge signs is ASCII by its form: our own edge writes none of it as an escape.
      escaped = route.credential !== 'signed',
      bound = 'body' in route ? bodyBoundOf(route.body, { escaped }) : 0;
    t.true(bound <= limit, `${route.operationId}: ${bound} bytes in ${limit}`);
    t.true(limit <= Math.max(BODY_BYTES_MAX, 2 * bound), `${route.operationId}: ${limit} for ${bound}`);
  }
});

test('every path refuses one byte more by its head, before it is known who asks, and names the limit', async (t) => {
  for (const route of ROUTE_LIST.filter(({ where, method }) => where !== 'edge' && method !== 'GET')) {
    const maxBytes = bodyBytesOf(route),
      path = route.path.replace(/\{[a-zA-Z]+\}/g, 'x');
    const { status, error } = await announce(route.method, path, maxBytes + 1);
    t.like({ status, ...error }, { status: 413, code: 'PAYLOAD_TOO_LARGE', details: { maxBytes } }, route.operationId);
  }
});

test('a path that nobody serves, and a method that none has, read no more either', async (t) => {
  const body = JSON.stringify({ a: 'abandon '.repeat(BODY_BYTES_MAX / 8) });
  for (const [method, path] of [
    ['POST', '/v1/nothing'],
    ['POST', '/nothing'],
    ['PUT', '/v1/addresses'],
    ['DELETE', '/v1/chains'],
  ] as const) {
    const { status, json } = await raw(cloud.url, method, path, { headers: jsonOf('flk_test_none'), body });
    t.like(
      { status, ...json.error },
      { status: 413, code: 'PAYLOAD_TOO_LARGE', details: { maxBytes: BODY_BYTES_MAX } },
      path,
    );
  }
});
