/** The OpenAPI 3.1 document, made of the route table and the event catalogue: nothing is described twice. */
import { z } from 'zod';
import { ERRORS, statusOf } from '../../protocol/errors.ts';
import {
  heartbeatBody,
  poolsBody,
  pushedKey,
  pushedPool,
  resumeBody,
  signedBody,
  syncBody,
} from '../../protocol/frames.ts';
import { codesOf, type Credential, type Route, TAGS } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import * as account from '../../protocol/schema/account.ts';
import * as addresses from '../../protocol/schema/addresses.ts';
import * as edge from '../../protocol/schema/edge.ts';
import { envelopeOf, EVENT_CATALOGUE, exampleOf } from '../../protocol/schema/events.ts';
import * as platform from '../../protocol/schema/platform.ts';
import * as transactions from '../../protocol/schema/transactions.ts';
import * as webhooks from '../../protocol/schema/webhooks.ts';
import { EVENTS } from '../../protocol/slugs.ts';
import { exampleOfFailure, exampleOfSchema, type Json } from './examples.ts';
import { readRecordings, type Recorded } from './recordings.ts';

/** Spec §9.2: "The interface description is version 2.0.0." */
const DESCRIPTION_VERSION = '2.0.0';

export interface Parameter extends Json {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
}

/** One operation of the description: what pages read of it, beside what OpenAPI lets it say. */
export interface Operation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json & { readonly description: string }>>;
  readonly security: readonly Json[];
}

export interface ApiDescription extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Json>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly securitySchemes: Json };
}

/** The whole description; `origin` is where clients reach the service. */
export function describeApi(origin: string): ApiDescription {
  const names = namesOfSchemas();
  const parts = componentsOf(names);
  const recordings = readRecordings();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of ROUTE_LIST) {
    const recorded = recordings[route.operationId]?.answers ?? [];
    const operation = operationOf(route.operationId, route, { names, parts, recorded });
    (paths[route.path] ??= {})[route.method.toLowerCase()] =
      route.where === 'both' ? operation : { ...operation, servers: serversOf(origin, route.where) };
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Flock',
      version: DESCRIPTION_VERSION,
      description:
        'Non-custodial multi-chain wallet infrastructure. The same paths are served by the cloud and by the ' +
        'edge in your own network; every answer has one envelope; branch on `error.code`.',
    },
    servers: serversOf(origin),
    tags: TAGS.map((name) => ({ name, description: AREAS[name] })),
    paths,
    webhooks: Object.fromEntries(EVENTS.map((event) => [event, webhookOf(event)])),
    components: { schemas: parts, securitySchemes: SECURITY },
  };
}

/** What each area of operations is for. */
const AREAS: Readonly<Record<(typeof TAGS)[number], string>> = {
  Addresses: 'Deposit addresses: issue, read, archive',
  Balances: 'What addresses hold, as the chain says',
  Transactions: 'Deposits and withdrawals: read, build, sign and broadcast, reprice',
  Webhooks: 'Endpoints for events, their deliveries and secrets',
  Edge: 'What an edge says to the cloud; signed by its identity',
  'Edge settings': 'Edges of an account as people see them: readiness, identities, key sources',
  Sandbox: 'Levers of the simulated chains of a sandbox account',
  Chains: 'Networks, tokens, fees, and how well a chain is followed',
  Payments: 'Payment links and the payments on them, for the merchant',
  Checkout: 'What the pay page asks on behalf of a payer',
  Treasury: 'Treasuries, gas tanks, sweep policies and jobs',
  Migration: 'Addresses and balances taken over from another system',
  Authentication: 'Sign-in, second factors and sessions of people',
  Organizations: 'Members, invitations and roles',
  Settings: 'API keys and settings of an organization',
  Billing: 'Plan, usage and statements',
  Administration: 'For the operator of the cloud: nodes, actors, accounts',
  Health: 'Liveness, readiness, metrics and this description',
};

/** Where an operation is served. The address of an edge is its owner's: the default is that of a new one. */
function serversOf(origin: string, where: 'cloud' | 'edge' | 'both' = 'both'): Json[] {
  const cloud = { url: origin, description: 'cloud: X-API-Key flk_…' };
  const edge = {
    url: '{edge}',
    description: 'edge, in your own network: X-API-Key loc_…',
    variables: { edge: { default: 'http://127.0.0.1:8081', description: 'where your edge listens' } },
  };
  return [...(where === 'edge' ? [] : [cloud]), ...(where === 'cloud' ? [] : [edge])];
}

const SECURITY: Json = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: '`flk_live_…` or `flk_test_…` at the cloud, `loc_live_…` or `loc_test_…` at an edge',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'console users; `X-Environment` chooses live (the default) or sandbox',
  },
  edgeSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Signature',
    description:
      'RFC 9421, ed25519, over @method @authority @path @query content-digest; parameters created, nonce, ' + 'keyid',
  },
};

const SECURITY_OF: Readonly<Record<Credential, readonly Json[]>> = {
  none: [],
  application: [{ apiKey: [] }, { bearer: [] }],
  bearer: [{ bearer: [] }],
  signed: [{ apiKey: [], edgeSignature: [] }],
  admin: [{ bearer: [] }],
};

// ── Schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Exports that are part of another shape or of a path, and need no name of their own. */
const UNNAMED = /(?:Params|Query|^tag$|^userRef$|^anyDocument$|^jwks$)/;
const EDGE_BODIES = { heartbeatBody, poolsBody, pushedKey, pushedPool, resumeBody, signedBody, syncBody };

/** Bodies and replies by the names they are exported under. */
function namesOfSchemas(): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  for (const area of [EDGE_BODIES, account, addresses, edge, platform, transactions, webhooks]) {
    for (const [name, value] of Object.entries(area as Record<string, unknown>)) {
      if (!(value instanceof z.ZodType) || UNNAMED.test(name)) continue;
      names.set(value, `${name[0]!.toUpperCase()}${name.slice(1)}`);
    }
  }
  return names;
}

function componentsOf(names: ReadonlyMap<z.ZodType, string>): Record<string, Json> {
  const bodies = new Set(ROUTE_LIST.flatMap(({ body }) => (body === undefined ? [] : [body])));
  const convert = (io: 'input' | 'output', wanted: (schema: z.ZodType) => boolean) => {
    const registry = z.registry<{ id: string }>();
    for (const [schema, id] of names) if (wanted(schema)) registry.add(schema, { id });
    return z.toJSONSchema(registry, {
      io,
      uri: (id) => `#/components/schemas/${id}`,
      unrepresentable: 'any',
      override: io === 'output' ? opened : () => undefined,
    }).schemas;
  };
  // A named part of a body (a pool in a sync) is converted with the bodies.
  const parts = new Set<z.ZodType>([pushedKey, pushedPool]);
  const inputs = convert('input', (schema) => bodies.has(schema) || parts.has(schema));
  const outputs = convert('output', (schema) => !bodies.has(schema) && !parts.has(schema));
  const schemas = Object.fromEntries(
    Object.entries({ ...inputs, ...outputs }).map(([id, schema]) => [id, clean(schema as Json)]),
  );
  return { ...schemas, Meta: META, Failure: FAILURE };
}

/** A reply may grow: clients must take fields that they do not know. */
function opened({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties'];
}

function clean({ $schema: _dialect, $id: _id, id: _name, ...rest }: Json): Json {
  return rest;
}

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const META: Json = {
  type: 'object',
  required: ['requestId', 'timestamp'],
  properties: {
    requestId: { type: 'string', examples: ['req_24pgoiqkv6buxq5cnqlkjmhx4e'] },
    timestamp: { type: 'string', format: 'date-time' },
  },
};
/** Spec §2.1. What `details` holds depends on the code. */
const FAILURE: Json = {
  type: 'object',
  required: ['success', 'data', 'error', 'meta'],
  properties: {
    success: { const: false },
    data: { type: 'null' },
    error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS), description: 'stable; branch on it' },
        message: { type: 'string', description: 'for people; may be reworded' },
        details: { type: 'object', description: 'specific to the code' },
      },
    },
    meta: ref('Meta'),
  },
};

// ── Operations ───────────────────────────────────────────────────────────────────────────────────────────────────

type Names = ReadonlyMap<z.ZodType, string>;
type Parts = Readonly<Record<string, Json>>;

/** Names of shapes, the shapes, and what was recorded of one operation. */
interface Known {
  readonly names: Names;
  readonly parts: Parts;
  readonly recorded: readonly Recorded[];
}

function operationOf(operationId: string, route: Route, known: Known): Operation {
  const { names, parts, recorded } = known;
  const content = (body: z.ZodType) => {
    const schema = schemaOf(body, names, 'input');
    const sent = recorded.find(({ status }) => status < 300)?.body;
    return { 'application/json': { schema, example: sent ?? exampleOfSchema(schema, parts) } };
  };
  const input = route.body === undefined ? {} : { requestBody: { required: true, content: content(route.body) } };
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    'x-deployment': route.where,
    ...(route.credential === 'none' ? { security: [] } : { security: SECURITY_OF[route.credential] }),
    ...(route.role === null ? {} : { 'x-role': route.role }),
    parameters: [...parametersOf('path', route.params), ...parametersOf('query', route.query), ...headersOf(route)],
    ...input,
    responses: {
      [route.status]: success(route, route.status, known),
      ...(route.again === undefined ? {} : { [route.again]: success(route, route.again, known) }),
      ...failuresOf(route, known),
    },
  };
}

function schemaOf(schema: z.ZodType, names: ReadonlyMap<z.ZodType, string>, io: 'input' | 'output'): Json {
  const name = names.get(schema);
  return name === undefined ? clean(z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json) : ref(name);
}

function success(
  route: Route,
  status: number,
  { names, parts, recorded }: Known,
): Json & { readonly description: string } {
  if (route.bare !== undefined) {
    return { description: 'the document itself', content: { [route.bare]: { schema: {} } } };
  }
  const schema = {
    type: 'object',
    required: ['success', 'data', 'meta'],
    properties: { success: { const: true }, data: schemaOf(route.reply, names, 'output'), meta: ref('Meta') },
  };
  return {
    description: 'done',
    headers: { 'X-Request-Id': { schema: { type: 'string' } } },
    content: {
      'application/json': {
        schema,
        example: recorded.find((one) => one.status === status)?.answer ?? exampleOfSchema(schema, parts),
      },
    },
  };
}

const WITH_PATIENCE: ReadonlySet<string> = new Set(['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE']);
const RETRY_AFTER: Json = { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } };

const codeOf = ({ answer }: Recorded): string | undefined => (answer as { error?: { code: string } }).error?.code;

/** One response for each status, naming its codes. */
function failuresOf(route: Route, { recorded }: Known): Record<string, Json & { readonly description: string }> {
  const byStatus = Map.groupBy(codesOf(route), statusOf);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\` ${ERRORS[code][1]}`).join('; '),
        ...(codes.some((code) => WITH_PATIENCE.has(code)) ? { headers: RETRY_AFTER } : {}),
        content: {
          'application/json': {
            schema: { allOf: [ref('Failure'), { properties: { error: { properties: { code: { enum: codes } } } } }] },
            examples: Object.fromEntries(
              codes.map((code) => [
                code,
                { value: recorded.find((one) => codeOf(one) === code)?.answer ?? exampleOfFailure(code) },
              ]),
            ),
          },
        },
      },
    ]),
  );
}

function parametersOf(place: 'path' | 'query', schema: z.ZodType | undefined): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: rest,
    ...(description === undefined ? {} : { description }),
  }));
}

function headersOf(route: Route): Parameter[] {
  const idempotency = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description: 'the first answer is given again for 24 hours',
  };
  const environment = {
    name: 'X-Environment',
    in: 'header',
    required: false,
    schema: { enum: ['live', 'sandbox'], default: 'live' },
    description: 'of a bearer token',
  };
  return [
    ...(route.idempotent === undefined ? [] : [idempotency]),
    ...(route.credential === 'application' || route.credential === 'bearer' ? [environment] : []),
  ];
}

function webhookOf(event: (typeof EVENTS)[number]): Json {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' },
    description,
  });
  return {
    post: {
      operationId: `on_${event}`,
      security: [], // the signature is in the headers below
      tags: ['Webhooks'],
      summary: EVENT_CATALOGUE[event].when,
      description:
        'At least once. For one address and one endpoint first attempts leave in the order of publication; a ' +
        'retry or a replay may be overtaken.',
      parameters: [
        header('webhook-id', "the event's id: consumers are idempotent on it"),
        header('webhook-timestamp', 'seconds of the attempt'),
        header(
          'webhook-signature',
          'Standard Webhooks: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; two while a secret is rotated',
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: clean(z.toJSONSchema(envelopeOf(event), { io: 'output', override: opened }) as Json),
            examples: { [event]: { value: exampleOf(event) } },
          },
        },
      },
      responses: {
        '2XX': { description: 'taken; anything else is tried again' },
        410: { description: 'the endpoint is gone and is disabled' },
      },
    },
  };
}
