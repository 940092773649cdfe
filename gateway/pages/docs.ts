/** The browsable description at /docs: one static page without scripts, made of the OpenAPI document. Served offline. */
import type { FastifyInstance } from 'fastify';
import { TAGS } from '../../protocol/route.ts';
import { describeApi, type ApiDescription, type Json } from '../http/openapi.ts';
import { STYLE } from './docs-style.ts';

const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the page and its style; both are made once. */
export function servePages(app: FastifyInstance, origin: string): void {
  let page: string | null = null;
  app.get('/docs', async (_request, reply) => {
    page ??= docsPage(describeApi(origin));
    return reply.headers({ 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
      .type('text/html; charset=utf-8').send(page);
  });
  app.get('/docs/style.css', async (_request, reply) => reply.header('x-content-type-options', 'nosniff').type('text/css; charset=utf-8').send(STYLE));
}

const escaped = (text: unknown): string =>
  String(text).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`).replace(/`([^`]+)`/g, '<code>$1</code>');

/** The whole page: a contents list, operations by area, events, shapes. */
export function docsPage(api: ApiDescription): string {
  const operations = Object.entries(api.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
  const areas = TAGS.map((tag) => ({ tag, entries: operations.filter(({ operation }) => (operation['tags'] as string[]).includes(tag)) }))
    .filter(({ entries }) => entries.length > 0);
  const info = api['info'] as { title: string; version: string; description: string };
  const contents = areas.map(({ tag, entries }) => `<li><a href="#${anchor(tag)}">${escaped(tag)}</a> <small>${entries.length}</small></li>`).join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)} API ${escaped(info.version)}</title><link rel="stylesheet" href="/docs/style.css"></head><body>
<nav><h1>${escaped(info.title)}</h1><p>API ${escaped(info.version)} · <a href="/v1/openapi.json">openapi.json</a></p>
<ul>${contents}<li><a href="#events">Events</a></li><li><a href="#shapes">Shapes</a></li></ul></nav><main>
<p class="lead">${escaped(info.description)}</p>
${areas.map(({ tag, entries }) => `<section id="${anchor(tag)}"><h2>${escaped(tag)}</h2>${entries.map(operationSection).join('')}</section>`).join('')}
<section id="events"><h2>Events</h2><p>Sent as webhooks, at least once; be idempotent on <code>id</code>.</p>${Object.entries(api.webhooks).map(eventSection).join('')}</section>
<section id="shapes"><h2>Shapes</h2>${Object.entries(api.components.schemas).map(([name, schema]) => `<details id="shape-${name}"><summary><b>${escaped(name)}</b></summary>${shape(schema)}</details>`).join('')}</section>
</main></body></html>`;
}

const anchor = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

function operationSection({ path, method, operation }: { path: string; method: string; operation: Json }): string {
  const { operationId, summary, parameters, requestBody, responses, security } = operation as {
    operationId: string; summary: string; parameters: Json[]; requestBody?: Json; responses: Record<string, Json>; security: Json[];
  };
  const who = security.map((entry) => Object.keys(entry).join(' + ')).join(' or ') || 'nobody has to sign in';
  const rows = parameters.map((one) => `<tr><td><code>${escaped(one['name'])}</code></td><td>${escaped(one['in'])}${one['required'] === true ? ', required' : ''}</td><td>${typeOf(one['schema'] as Json)}</td><td>${escaped(one['description'] ?? '')}</td></tr>`);
  return `<details id="${escaped(operationId)}" class="operation"><summary><span class="method ${method}">${method.toUpperCase()}</span> <code>${escaped(path)}</code> <span>${escaped(summary)}</span></summary>
<p><small>${escaped(operationId)} · ${escaped(who)}${operation['x-role'] === undefined ? '' : ` · ${escaped(operation['x-role'])}`} · served by ${escaped(operation['x-deployment'] === 'both' ? 'cloud and edge' : operation['x-deployment'])}</small></p>
${rows.length === 0 ? '' : `<table><tbody>${rows.join('')}</tbody></table>`}
${requestBody === undefined ? '' : `<h4>Body</h4>${shape(contentOf(requestBody))}`}
<h4>Answers</h4><table><tbody>${Object.entries(responses).map(([status, response]) => `<tr><td><b>${status}</b></td><td>${escaped(response['description'])}${status.startsWith('2') ? ` ${answerShape(response)}` : ''}</td></tr>`).join('')}</tbody></table></details>`;
}

const contentOf = (holder: Json): Json =>
  (Object.values((holder['content'] ?? {}) as Record<string, { schema: Json }>)[0]?.schema ?? {});

function answerShape(response: Json): string {
  const data = (contentOf(response)['properties'] as { data?: Json } | undefined)?.data;
  return data === undefined ? '' : `<code>data</code>: ${typeOf(data)}${data['$ref'] === undefined ? shape(data) : ''}`;
}

function eventSection([name, entry]: [string, Json]): string {
  const { summary, requestBody } = (entry as { post: { summary: string; requestBody: Json } }).post;
  const content = Object.values(requestBody['content'] as Record<string, { examples: Record<string, { value: unknown }> }>)[0]!;
  return `<details id="event-${escaped(name)}"><summary><code>${escaped(name)}</code> <span>${escaped(summary)}</span></summary>
${shape(contentOf(requestBody))}<h4>Example</h4><pre>${escaped(JSON.stringify(content.examples[name]!.value, null, 2))}</pre></details>`;
}

/** A table of an object's fields; anything else as one line. */
function shape(schema: Json, depth = 0): string {
  const properties = schema['properties'] as Record<string, Json> | undefined;
  if (properties === undefined || depth > 3) return `<p>${typeOf(schema)}</p>`;
  const required = new Set((schema['required'] ?? []) as string[]);
  const rows = Object.entries(properties).map(([name, field]) => {
    const inner = innerObject(field);
    return `<tr><td><code>${escaped(name)}</code>${required.has(name) ? '' : ' <small>optional</small>'}</td><td>${typeOf(field)}</td><td>${escaped(field['description'] ?? '')}${inner === null ? '' : shape(inner, depth + 1)}</td></tr>`;
  });
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}

function innerObject(field: Json): Json | null {
  const inner = (field['items'] as Json | undefined) ?? field;
  return inner['properties'] === undefined ? null : inner;
}

function typeOf(schema: Json): string {
  const target = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];
  if (target !== undefined) return `<a href="#shape-${escaped(target)}">${escaped(target)}</a>`;
  if (schema['const'] !== undefined) return `<code>${escaped(JSON.stringify(schema['const']))}</code>`;
  if (schema['enum'] !== undefined) return (schema['enum'] as unknown[]).map((value) => `<code>${escaped(value)}</code>`).join(' | ');
  const variants = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined;
  if (variants !== undefined) return variants.map(typeOf).join(' or ');
  if (schema['type'] === 'array') return `list of ${typeOf((schema['items'] ?? {}) as Json)}`;
  const type = Array.isArray(schema['type']) ? schema['type'].join(' or ') : String(schema['type'] ?? 'any');
  return escaped(schema['format'] === undefined ? type : `${type} (${String(schema['format'])})`);
}
