import test from 'ava';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describeApi } from '../../../gateway/pages/openapi.ts';
import type { Json } from '../../../gateway/pages/examples.ts';
import { statusOf } from '../../../protocol/errors.ts';
import { codesOf } from '../../../protocol/route.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { EVENTS } from '../../../protocol/slugs.ts';

const API = JSON.parse(JSON.stringify(describeApi('https://cloud.example.com'))) as ReturnType<typeof describeApi>;
const OPERATIONS = Object.entries(API.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

function* nodesOf(value: unknown, at = '#'): Generator<{ at: string; node: Json }> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { at, node: value as Json };
  for (const [key, child] of Object.entries(value)) yield* nodesOf(child, `${at}/${key}`);
}

test('issue 2.7: the description is OpenAPI 3.1, version 2.0.0, with every route once', (t) => {
  t.is(API['openapi'], '3.1.0');
  t.is((API['info'] as Json)['version'], '2.0.0');
  t.is(OPERATIONS.length, ROUTE_LIST.length);
  const ids = OPERATIONS.map(({ operation }) => operation['operationId']);
  t.is(new Set(ids).size, ids.length);
});

test('every reference leads somewhere and every component is used', (t) => {
  const used = new Set<string>();
  for (const { at, node } of nodesOf(API)) {
    if (typeof node['$ref'] !== 'string') continue;
    const name = /^#\/components\/schemas\/([A-Za-z]+)$/.exec(node['$ref'])?.[1];
    t.truthy(name === undefined ? undefined : API.components.schemas[name], `${at}: ${node['$ref']}`);
    used.add(name!);
  }
  t.deepEqual(
    Object.keys(API.components.schemas).filter((name) => !used.has(name)),
    [],
  );
});

test('every schema is a JSON Schema of the dialect that the document names', (t) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  t.is(API['jsonSchemaDialect'], 'https://json-schema.org/draft/2020-12/schema');
  for (const [name, schema] of Object.entries(API.components.schemas))
    t.true(ajv.validateSchema(schema) as boolean, `${name}: ${JSON.stringify(ajv.errors)}`);
  for (const { path, method, operation } of OPERATIONS) {
    for (const { at, node } of nodesOf(operation)) {
      if (node['schema'] !== undefined)
        t.true(ajv.validateSchema(node['schema'] as object) as boolean, `${method} ${path} ${at}`);
    }
  }
});

test('path parameters are those of the path; tags and security schemes exist; every answer says what it is', (t) => {
  const tags = new Set((API['tags'] as { name: string }[]).map(({ name }) => name));
  for (const { path, method, operation } of OPERATIONS) {
    const { parameters, responses, security } = operation as {
      parameters: readonly { name: string; in: string; required: boolean }[];
      responses: Readonly<Record<string, Json>>;
      security: readonly Json[];
    };
    const inPath = parameters.filter((one) => one.in === 'path');
    t.deepEqual(
      inPath.map(({ name }) => name).toSorted(),
      [...path.matchAll(/\{([a-zA-Z]+)\}/g)].map(([, name]) => name!).toSorted(),
      `${method} ${path}`,
    );
    t.true(inPath.every(({ required }) => required));
    t.true((operation['tags'] as string[]).every((tag) => tags.has(tag)));
    t.true(security.flatMap((entry) => Object.keys(entry)).every((name) => name in API.components.securitySchemes));
    for (const [status, response] of Object.entries(responses))
      t.truthy(response['description'], `${method} ${path} ${status}`);
    t.true(Object.keys(responses).some((status) => status.startsWith('2')) && '400' in responses && '500' in responses);
    t.is(
      'requestBody' in operation,
      ROUTE_LIST.find((route) => route.operationId === operation['operationId'])!.body !== undefined,
    );
  }
});

test('issue 2.7: bodies name no unknown field, replies may grow', (t) => {
  t.is(API.components.schemas['CreateAddressBody']!['additionalProperties'], false);
  t.is(API.components.schemas['Address']!['additionalProperties'], undefined);
  t.deepEqual((API.components.schemas['CreateAddressBody']!['properties'] as Record<string, Json>)['chain']!['enum'], [
    'btc',
    'eth',
    'bsc',
    'polygon',
    'avax',
    'base',
    'tron',
    'sol',
    'xrp',
    'xlm',
  ]);
});

test('issue 2.7: what an edge answers by itself, and what a path can refuse, is described as it is', (t) => {
  const described = (id: string) =>
    OPERATIONS.find(({ operation }) => operation['operationId'] === id)!.operation as {
      parameters: readonly { name: string; in: string }[];
      responses: Readonly<Record<string, { description: string }>>;
    };
  for (const id of ['mintLocalKey', 'revokeLocalKey'])
    t.false(
      described(id).parameters.some(({ name }) => name === 'Idempotency-Key'),
      id,
    );
  t.deepEqual(
    described('listLocalKeys').parameters.flatMap((one) => (one.in === 'query' ? [one.name] : [])),
    ['page', 'size', 'after'],
  );
  t.regex(described('syncEdge').responses['400']!.description, /`INVALID_ADDRESS`/);
  t.regex(described('repriceTransaction').responses['400']!.description, /`SIGNED_BATCH_REJECTED`/);
});

test('issue 4.10: the webhooks section has every event with its signature headers and an example', (t) => {
  t.deepEqual(Object.keys(API.webhooks), [...EVENTS]);
  for (const event of EVENTS) {
    const { post } = API.webhooks[event] as {
      post: { parameters: { name: string }[]; requestBody: { content: Record<string, { examples: Json }> } };
    };
    t.deepEqual(
      post.parameters.map(({ name }) => name),
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    );
    t.truthy(post.requestBody.content['application/json']!.examples[event]);
  }
});

test('found F78: every body, reply and refusal of the description has an example that its schema takes', (t) => {
  const wrong: string[] = [];
  for (const route of ROUTE_LIST) {
    const operation = API.paths[route.path]![route.method.toLowerCase()] as Json;
    const exampleIn = (at: unknown): unknown =>
      (at as { content?: Record<string, { example?: unknown }> }).content?.['application/json']?.example;
    if (route.body !== undefined) {
      const checked = route.body.safeParse(exampleIn(operation['requestBody']));
      if (!checked.success)
        wrong.push(
          `${route.operationId} body: ${checked.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')}`,
        );
    }
    const responses = operation['responses'] as Record<string, Json>;
    if (route.bare === undefined) {
      const { success, data } = exampleIn(responses[route.status]) as { success: boolean; data: unknown };
      const checked = route.reply.safeParse(data);
      if (!checked.success)
        wrong.push(
          `${route.operationId} reply: ${checked.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')}`,
        );
      t.true(success);
    }
    for (const code of codesOf(route)) {
      const { examples } = (
        responses[String(statusOf(code))]!['content'] as Record<
          string,
          { examples: Record<string, { value: { error: { code: string } } }> }
        >
      )['application/json']!;
      t.is(examples[code]?.value.error.code, code, `${route.operationId} ${code}`);
    }
  }
  t.deepEqual(wrong, []);
});

test('ecosystem X38 every operation says where it is served, who may call it and what its area is for, and so does every webhook', (t) => {
  const origins = (servers: unknown) => (servers as { url: string }[]).map(({ url }) => url);
  t.deepEqual(origins(API['servers']), ['https://cloud.example.com', '{edge}']);
  for (const { operationId, where } of ROUTE_LIST) {
    const { operation } = OPERATIONS.find((each) => each.operation.operationId === operationId)!;
    const expected = { both: undefined, cloud: ['https://cloud.example.com'], edge: ['{edge}'] }[where];
    t.deepEqual(operation['servers'] === undefined ? undefined : origins(operation['servers']), expected, operationId);
    t.true(Array.isArray(operation.security), operationId);
  }
  for (const [event, { post }] of Object.entries(API.webhooks))
    t.deepEqual((post as Json)['security'], [], `${event} has the signature in its headers`);
  for (const { name, description } of API['tags'] as { name: string; description?: string }[])
    t.true((description ?? '').length > 10, name);
});
