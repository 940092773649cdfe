/** A page for each operation: who asks it, fields, a request in each language, recorded answers, refusals. X38. */
import { methodsOf, type Method } from '../../clients/generate/callable.ts';
import type { Contract } from '../../clients/generate/contract.ts';
import { samplesOf, type Arguments } from '../../clients/generate/samples.ts';
import { exampleOfSchema, type Json } from '../../gateway/pages/examples.ts';
import type { ApiDescription, Operation } from '../../gateway/pages/openapi.ts';
import type { Recorded, Recordings } from '../../gateway/pages/recordings.ts';
import { ERRORS, type ErrorCode } from '../../protocol/errors.ts';
import { codesOf, TAGS, type Route } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { escaped } from './highlight.ts';
import { codeTabs } from './markdown.ts';
import { hrefFrom, type Heading, type Page } from './page.ts';
import { fieldList, followed, shapeList, type FieldRow } from './shapes.ts';

type Listed = (typeof ROUTE_LIST)[number] & Route;

export interface Catalogues {
  readonly api: ApiDescription;
  readonly contract: Contract;
  readonly recordings: Recordings;
}

/** Characters of an answer that is shown; the rest of a longer one is said to be there. */
const ANSWER_CHARS_MAX = 5_000;

/** What an operation is called with on its page: as it was recorded, else what it needs. */
export function argumentsOf(route: Listed, method: Method | undefined, { api, recordings }: Catalogues): Arguments {
  const recorded = recordings[route.operationId]?.answers.find(({ status }) => status < 300);
  const operation = operationOf(api, route);
  const shapes = api.components.schemas;
  const needed = operation.parameters
    .filter((one) => one.in === 'path' || (one.in === 'query' && one.required))
    .map((one) => [one.name, exampleOfSchema(one['schema'] as Json, shapes, one.name)] as const);
  const [inPath, inQuery] = [pathValues(route.path, recorded?.path), queryValues(operation, recorded?.query)];
  const optional = new Set(method?.fields.flatMap(({ name, isOptional }) => (isOptional ? [name] : [])));
  const content = operation.requestBody?.['content'] as Record<string, { schema: Json; example?: Json }> | undefined;
  const example = content?.['application/json']?.example ?? {};
  const isChoice = followed(content?.['application/json']?.schema ?? {}, shapes)['properties'] === undefined;
  const made = Object.fromEntries(Object.entries(example).filter(([name]) => isChoice || !optional.has(name)));
  const body = (recorded?.body as Json | null | undefined) ?? made;
  return { ...Object.fromEntries(needed), ...inPath, ...inQuery, ...(route.body === undefined ? {} : body) };
}

function pathValues(template: string, path: string | undefined): Record<string, string> {
  if (path === undefined) return {};
  const given = path.split('/');
  return Object.fromEntries(
    template
      .split('/')
      .flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), decodeURIComponent(given[at]!)]] : [])),
  );
}

function queryValues({ parameters }: Operation, query: string | undefined): Record<string, unknown> {
  const typed = new Map(parameters.filter((one) => one.in === 'query').map((one) => [one.name, one['schema'] as Json]));
  return Object.fromEntries(
    [...new URLSearchParams(query ?? '')].flatMap(([name, text]) => {
      const schema = typed.get(name);
      if (schema === undefined || name === 'page' || name === 'after') return [];
      const isNumber = schema['type'] === 'integer' || schema['type'] === 'number';
      const value = isNumber ? Number(text) : schema['type'] === 'boolean' ? text === 'true' : text;
      return [[name, schema['type'] === 'array' ? [value] : value]];
    }),
  );
}

const operationOf = (api: ApiDescription, { path, method }: Listed): Operation =>
  api.paths[path]![method.toLowerCase()]!;

// ── One request in each language ─────────────────────────────────────────────────────────────────────────────────

const isForEdge = ({ where }: Listed): boolean => where !== 'cloud';

/** The request by curl, with the variables that the quickstarts set. */
function curlOf(route: Listed, args: Arguments): string {
  const inPath = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!));
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(args[name] ?? '')));
  const rest = Object.entries(args).filter(([name]) => !inPath.has(name));
  const isRead = route.method === 'GET' || route.body === undefined;
  const query = isRead
    ? new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)])).toString()
    : '';
  const side = isForEdge(route) ? 'EDGE' : 'CLOUD';
  const key =
    route.credential === 'none'
      ? []
      : route.credential === 'bearer' || route.credential === 'admin'
        ? ['-H "Authorization: Bearer $TOKEN"']
        : [`-H "X-API-Key: $${side}_KEY"`];
  const lines = [
    `curl -sS${route.method === 'GET' ? '' : ` -X ${route.method}`} "$${side}${path}${query === '' ? '' : `?${query}`}"`,
    ...key,
    ...(route.idempotent === undefined ? [] : ['-H "Idempotency-Key: $(uuidgen)"']),
    ...(isRead
      ? []
      : [
          "-H 'content-type: application/json'",
          `-d '${JSON.stringify(Object.fromEntries(rest), null, 2).replaceAll("'", "'\\''")}'`,
        ]),
  ];
  return lines.join(' \\\n  ');
}

function requestTabs(route: Listed, method: Method | undefined, args: Arguments, contract: Contract): string {
  const blocks: [string, string, string][] = [['sh', 'curl', curlOf(route, args)]];
  if (method !== undefined) {
    const { ts, python, go, cli } = samplesOf(method, args, contract);
    blocks.push(['ts', 'TypeScript', ts], ['python', 'Python', python], ['go', 'Go', go], ['sh', 'flock', cli]);
  }
  return codeTabs(blocks);
}

// ── The page ─────────────────────────────────────────────────────────────────────────────────────────────────────

const WHO: Readonly<Record<Route['credential'], string>> = {
  none: 'anybody: no key is needed',
  application: 'an application with its API key, or a signed-in person',
  bearer: 'a signed-in person (console)',
  signed: 'an edge, which signs the request',
  admin: 'an administrator of the platform',
};

function whoOf(route: Listed): string {
  const served = { both: 'your edge and the cloud', cloud: 'the cloud', edge: 'your edge' }[route.where];
  const rows: [string, string][] = [
    ['Asked by', `${WHO[route.credential]}${route.role === null ? '' : `; role <b>${route.role}</b> or above`}`],
    ['Answered by', served],
  ];
  if (route.sandboxOnly === true) rows.push(['Environment', 'sandbox only']);
  if (route.fresh === true) rows.push(['Second factor', 'a person needs one of the last five minutes']);
  if (route.idempotent !== undefined)
    rows.push([
      'Repeating',
      'safe with the same <code>Idempotency-Key</code>: the first answer is given again for 24 hours',
    ]);
  return `<dl class="who">${rows.map(([name, words]) => `<dt>${name}</dt><dd>${words}</dd>`).join('')}</dl>`;
}

function fieldsPart(operation: Operation, shapes: ApiDescription['components']['schemas']): [string, Heading[]] {
  const headings: Heading[] = [];
  const section = (id: string, title: string, body: string): string => {
    if (body === '') return '';
    headings.push({ level: 2, id, text: title });
    return `<h2 id="${id}">${title}</h2>${body}`;
  };
  const rows = (place: string): FieldRow[] =>
    operation.parameters
      .filter((one) => one.in === place)
      .map((one) => ({
        name: one.name,
        schema: one['schema'] as Json,
        required: one.required,
        ...(one['description'] === undefined ? {} : { note: String(one['description']) }),
      }));
  const body = operation.requestBody?.['content'] as Record<string, { schema: Json }> | undefined;
  return [
    [
      section('path', 'Path', fieldList(rows('path'), shapes, 'path-')),
      section('query', 'Query', fieldList(rows('query'), shapes, 'query-')),
      section('headers', 'Headers', fieldList(rows('header'), shapes, 'header-')),
      section('body', 'Body', body === undefined ? '' : shapeList(body['application/json']!.schema, shapes, 'body-')),
    ].join(''),
    headings,
  ];
}

function answerPart(route: Listed, operation: Operation, shapes: ApiDescription['components']['schemas']): string {
  if (route.bare !== undefined)
    return `<p>The document itself, as <code>${escaped(route.bare)}</code>, without an envelope.</p>`;
  const content = operation.responses[route.status]!['content'] as Record<string, { schema: Json }>;
  const { data } = content['application/json']!.schema['properties'] as { data: Json };
  return `<p>Status ${route.status}${route.again === undefined ? '' : `, or ${route.again} where it was there already`}. In <code>data</code>:</p>${shapeList(data, shapes, 'answer-')}`;
}

function refusalRows(route: Listed, path: string): string {
  const rows = codesOf(route).map((code) => {
    const [status, words] = ERRORS[code as ErrorCode];
    return `<tr><td>${status}</td><td><a href="${hrefFrom(path, `errors/${code}.html`)}"><code>${code}</code></a></td><td>${escaped(words)}</td></tr>`;
  });
  return `<div class="table" tabindex="0" role="region" aria-label="Refusals"><table><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">When</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

const bodyOf = (answer: unknown): string => {
  const text = JSON.stringify(answer, null, 2);
  if (text.length <= ANSWER_CHARS_MAX) return text;
  return `${text.slice(0, text.lastIndexOf('\n', ANSWER_CHARS_MAX))}\n… ${text.length - ANSWER_CHARS_MAX} more characters`;
};

/** Answers as they were recorded; where none was, one that is made of the schema and says so. */
function answersPart(route: Listed, operation: Operation, recorded: readonly Recorded[]): string {
  const shown = recorded.map(({ status, answer }): [string, string, string] => {
    const code = (answer as { error?: { code: string } }).error?.code;
    return ['json', code === undefined ? `${status} answer` : `${status} ${code}`, bodyOf(answer)];
  });
  const content = operation.responses[route.status]?.['content'] as Record<string, { example?: unknown }> | undefined;
  const example = content?.['application/json']?.example;
  if (!recorded.some(({ status }) => status < 300) && example !== undefined)
    shown.unshift(['json', `${route.status} made of the schema`, bodyOf(example)]);
  return shown.length === 0 ? '' : codeTabs(shown);
}

function pageOf(route: Listed, method: Method | undefined, all: Catalogues): Page {
  const { operationId, tag, summary } = route;
  const { api, contract, recordings } = all;
  const operation = operationOf(api, route);
  const shapes = api.components.schemas;
  const path = `api/${operationId}`;
  const [fields, headings] = fieldsPart(operation, shapes);
  const args = argumentsOf(route, method, all);
  const recorded = recordings[operationId]?.answers ?? [];
  const isStream = route.bare === 'text/event-stream';
  const body = `<h1>${escaped(summary)}</h1>
<p class="call"><span class="method m-${route.method.toLowerCase()}">${route.method}</span> <code>${escaped(route.path)}</code></p>
<p class="id"><code>${operationId}</code></p>${whoOf(route)}
<aside class="examples" aria-label="Examples"><h2 id="request">Request</h2>${requestTabs(route, method, args, contract)}
${isStream || (route.bare !== undefined && recorded.length === 0) ? '' : `<h2 id="answers">Answers</h2>${answersPart(route, operation, recorded)}`}</aside>
${fields}
<h2 id="answer">Answer</h2>${isStream ? '<p>A stream of server-sent events.</p>' : answerPart(route, operation, shapes)}
<h2 id="refusals">Refusals</h2>${refusalRows(route, path)}`;
  const markdown = markdownOf(route, operation, curlOf(route, args), recorded);
  return {
    path,
    part: 'api',
    group: tag,
    title: summary,
    summary: `${route.method} ${route.path}: ${summary}.`,
    body,
    headings: [
      ...headings,
      { level: 2, id: 'answer', text: 'Answer' },
      { level: 2, id: 'refusals', text: 'Refusals' },
      { level: 2, id: 'request', text: 'Request' },
    ],
    markdown,
    sought: [{ anchor: '', title: `${operationId} ${summary}`, text: `${route.method} ${route.path} ${tag}` }],
    mark: route.method,
    wide: true,
  };
}

function markdownOf(route: Listed, { parameters }: Operation, curl: string, recorded: readonly Recorded[]): string {
  const fields = parameters.map(
    (one) => `- \`${one.name}\` (${one.in}${one.required ? ', required' : ''}) ${String(one['description'] ?? '')}`,
  );
  const answers = recorded.map(({ answer }) => `\`\`\`json\n${bodyOf(answer)}\n\`\`\`\n`);
  return [
    `# ${route.summary}\n`,
    `\`${route.method} ${route.path}\` · \`${route.operationId}\` · ${WHO[route.credential]}\n`,
    ...(fields.length === 0 ? [] : [`${fields.join('\n')}\n`]),
    `\`\`\`sh\n${curl}\n\`\`\`\n`,
    ...answers,
    `Refusals: ${codesOf(route)
      .map((code) => `\`${code}\``)
      .join(', ')}\n`,
  ].join('\n');
}

/** Pages of all operations, by area. */
export function operationPages(all: Catalogues): Page[] {
  const methods = new Map(methodsOf(all.contract).map((method) => [method.id, method]));
  return TAGS.flatMap((tag) =>
    (ROUTE_LIST as readonly Listed[])
      .filter((route) => route.tag === tag)
      .map((route) => pageOf(route, methods.get(route.operationId), all)),
  );
}
