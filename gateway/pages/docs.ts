/**
 * The browsable description at /docs: one static page without scripts, made of the OpenAPI document. Served offline.
 */
import type { FastifyInstance } from 'fastify';
import { TAGS } from '../../protocol/route.ts';
import { type ApiDescription, describeApi, type Operation } from './openapi.ts';
import type { Json } from './examples.ts';
import { STYLE } from './docs-style.ts';

const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the page and its style; both are made once. */
export function servePages(app: FastifyInstance, origin: string): void {
  let page: string | null = null;
  app.get('/docs', async (_request, reply) => {
    page ??= docsPage(describeApi(origin));
    return reply
      .headers({
        'content-security-policy': POLICY,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      .type('text/html; charset=utf-8')
      .send(page);
  });
  app.get('/docs/style.css', async (_request, reply) =>
    reply.header('x-content-type-options', 'nosniff').type('text/css; charset=utf-8').send(STYLE),
  );
}

const escaped = (text: unknown): string =>
  String(text)
    .replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
    .replace(/`([^`]+)`/g, '<code>$1</code>');
const anchor = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
const code = (text: unknown): string => `<code>${escaped(text)}</code>`;
const table = (rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `<table><tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</tbody></table>`;
const details = (id: string, summary: string, body: string): string =>
  `<details id="${escaped(id)}"><summary>${summary}</summary>${body}</details>`;
const section = (id: string, title: string, body: string): string =>
  `<section id="${id}"><h2>${escaped(title)}</h2>${body}</section>`;

const HEAD =
  '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
  '<link rel="stylesheet" href="/docs/style.css">';

/** The whole page: a contents list, operations by area, events, shapes. */
export function docsPage(api: ApiDescription): string {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const areas = TAGS.map((tag) => ({
    tag,
    entries: operations.filter(({ operation }) => (operation['tags'] as string[]).includes(tag)),
  })).filter(({ entries }) => entries.length > 0);
  const info = api['info'] as { title: string; version: string; description: string };
  const contents = [
    ...areas.map(
      ({ tag, entries }) => `<a href="#${anchor(tag)}">${escaped(tag)}</a> <small>${entries.length}</small>`,
    ),
    '<a href="#events">Events</a>',
    '<a href="#shapes">Shapes</a>',
  ];
  const shapes = Object.entries(api.components.schemas).map(([name, schema]) =>
    details(`shape-${name}`, `<b>${escaped(name)}</b>`, shape(schema)),
  );
  const title = `${escaped(info.title)} API ${escaped(info.version)}`;
  return `<!doctype html><html lang="en"><head><title>${title}</title>${HEAD}</head><body>
<nav><h1>${escaped(info.title)}</h1><p>API ${escaped(info.version)} · <a href="/v1/openapi.json">openapi.json</a></p>
<ul>${contents.map((entry) => `<li>${entry}</li>`).join('')}</ul></nav>
<main><p class="lead">${escaped(info.description)}</p>
${areas.map(({ tag, entries }) => section(anchor(tag), tag, entries.map(operationDetails).join(''))).join('')}
${section(
  'events',
  'Events',
  `<p>Sent as webhooks, at least once; be idempotent on <code>id</code>.</p>${Object.entries(api.webhooks)
    .map(eventDetails)
    .join('')}`,
)}
${section('shapes', 'Shapes', shapes.join(''))}
</main></body></html>`;
}

function operationDetails({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const { operationId, summary, parameters, requestBody, responses, security } = operation;
  const who = security.map((entry) => Object.keys(entry).join(' + ')).join(' or ') || 'nobody has to sign in';
  const role = operation['x-role'] === undefined ? [] : [operation['x-role']];
  const served = operation['x-deployment'] === 'both' ? 'cloud and edge' : operation['x-deployment'];
  const asked = parameters.map((one) => [
    code(one['name']),
    `${escaped(one['in'])}${one['required'] === true ? ', required' : ''}`,
    typeOf(one['schema'] as Json),
    escaped(one['description'] ?? ''),
  ]);
  const answers = Object.entries(responses).map(([status, response]) => [
    `<b>${status}</b>`,
    `${escaped(response['description'])}${status.startsWith('2') ? ` ${answerShape(response)}` : ''}${exampleDetails(response)}`,
  ]);
  return details(
    operationId,
    `<span class="method ${method}">${method.toUpperCase()}</span> ${code(path)} <span>${escaped(summary)}</span>`,
    [
      `<p><small>${[operationId, who, ...role, `served by ${String(served)}`].map(escaped).join(' · ')}</small></p>`,
      table(asked),
      requestBody === undefined ? '' : `<h4>Body</h4>${shape(contentOf(requestBody))}${exampleDetails(requestBody)}`,
      `<h4>Answers</h4>${table(answers)}`,
    ].join(''),
  );
}

const contentOf = (holder: Json): Json =>
  Object.values((holder['content'] ?? {}) as Record<string, { schema: Json }>)[0]?.schema ?? {};

/** The examples of a body or an answer, folded away. */
function exampleDetails(holder: Json): string {
  const media = Object.values(
    (holder['content'] ?? {}) as Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }>,
  )[0];
  const shown =
    media?.example !== undefined ? [media.example] : Object.values(media?.examples ?? {}).map(({ value }) => value);
  return shown.length === 0
    ? ''
    : `<details class="example"><summary>Example</summary>${shown.map((value) => `<pre>${escaped(JSON.stringify(value, null, 2))}</pre>`).join('')}</details>`;
}

function answerShape(response: Json): string {
  const data = (contentOf(response)['properties'] as { data?: Json } | undefined)?.data;
  return data === undefined ? '' : `<code>data</code>: ${typeOf(data)}${data['$ref'] === undefined ? shape(data) : ''}`;
}

function eventDetails([name, entry]: [string, Json]): string {
  const { summary, requestBody } = (entry as { post: { summary: string; requestBody: Json } }).post;
  const contents = requestBody['content'] as Record<string, { examples: Record<string, { value: unknown }> }>;
  const example = JSON.stringify(Object.values(contents)[0]!.examples[name]!.value, null, 2);
  return details(
    `event-${name}`,
    `${code(name)} <span>${escaped(summary)}</span>`,
    `${shape(contentOf(requestBody))}<h4>Example</h4><pre>${escaped(example)}</pre>`,
  );
}

/** Nesting of one table; what is deeper is a line. */
const DEPTH_MAX = 3;

/** A table of an object's fields; anything else as one line. */
function shape(schema: Json, depth = 0): string {
  const properties = schema['properties'] as Record<string, Json> | undefined;
  if (properties === undefined || depth > DEPTH_MAX) return `<p>${typeOf(schema)}</p>`;
  const required = new Set((schema['required'] ?? []) as string[]);
  return table(
    Object.entries(properties).map(([name, field]) => {
      const inner = (field['items'] as Json | undefined) ?? field;
      const below = inner['properties'] === undefined ? '' : shape(inner, depth + 1);
      return [
        `${code(name)}${required.has(name) ? '' : ' <small>optional</small>'}`,
        typeOf(field),
        `${escaped(field['description'] ?? '')}${below}`,
      ];
    }),
  );
}

function typeOf(schema: Json): string {
  const target = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];
  if (target !== undefined) return `<a href="#shape-${escaped(target)}">${escaped(target)}</a>`;
  if (schema['const'] !== undefined) return code(JSON.stringify(schema['const']));
  if (schema['enum'] !== undefined) return (schema['enum'] as unknown[]).map(code).join(' | ');
  const variants = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined;
  if (variants !== undefined) return variants.map(typeOf).join(' or ');
  if (schema['type'] === 'array') return `list of ${typeOf((schema['items'] ?? {}) as Json)}`;
  const type = Array.isArray(schema['type']) ? schema['type'].join(' or ') : String(schema['type'] ?? 'any');
  return escaped(schema['format'] === undefined ? type : `${type} (${String(schema['format'])})`);
}
