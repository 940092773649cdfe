/** A page for each error code: meaning, every field of its details, whether a retry helps, what to do, a body. X39. */
import { z } from 'zod';
import { exampleOfFailure, type Json } from '../../gateway/pages/examples.ts';
import type { Recordings } from '../../gateway/pages/recordings.ts';
import { ERRORS, type ErrorCode } from '../../protocol/errors.ts';
import { codesOf, type Route } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { DETAILS } from '../../protocol/schema/details.ts';
import { escaped } from './highlight.ts';
import { codeBlock, type NameOf } from './markdown.ts';
import { hrefFrom, type Page } from './page.ts';
import { fieldList, fieldsOf } from './shapes.ts';
import type { ErrorNotes } from './error-notes.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const LINKED_MAX = 24;

/** What a client of ours does with a code by itself, and what a program should. X5. */
function retryOf(code: ErrorCode): string {
  const [status] = ERRORS[code];
  if (code === 'RATE_LIMIT_EXCEEDED' || code === 'SERVICE_UNAVAILABLE')
    return 'Yes, after the seconds of the header <code>Retry-After</code>. The clients of Flock do so by themselves.';
  if (status >= 500 && status !== 507)
    return 'Yes, with the same <code>Idempotency-Key</code> and growing pauses. The clients of Flock try twice by themselves.';
  if (status === 507 || status === 423)
    return 'Not at once: when what it waits for is there. The clients hand it to you.';
  return 'No: the same request is refused again. Change what the details name.';
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  415: 'Media type',
  422: 'Not possible',
  423: 'Locked',
  429: 'Too many requests',
  500: 'Fault',
  503: 'Unavailable',
  507: 'No room',
};

/** An answer with this code that was recorded, with the operation that gave it. */
function recordedOf(code: ErrorCode, recordings: Recordings): { operation: string; answer: unknown } | null {
  for (const [operation, { answers }] of Object.entries(recordings)) {
    const found = answers.find(({ answer }) => (answer as { error?: { code: string } }).error?.code === code);
    if (found !== undefined) return { operation, answer: found.answer };
  }
  return null;
}

function pageOf(code: ErrorCode, recordings: Recordings, notes: ErrorNotes, nameOf: (from: string) => NameOf): Page {
  const [status, meaning] = ERRORS[code];
  const path = `errors/${code}`;
  const note = notes(code, path, nameOf(path));
  const details = z.toJSONSchema(DETAILS[code], { io: 'output', unrepresentable: 'any' }) as Json;
  const recorded = recordedOf(code, recordings);
  const answer = JSON.stringify(recorded?.answer ?? exampleOfFailure(code), null, 2);
  const asked = (ROUTE_LIST as readonly Route[]).filter((route) => codesOf(route).includes(code));
  const operations = (ROUTE_LIST as readonly (Route & { operationId: string })[]).filter((route) =>
    codesOf(route).includes(code),
  );
  const listed =
    asked.length === 0
      ? '<p>No operation answers it: an edge gets it on its stream.</p>'
      : operations.length > LINKED_MAX
        ? `<p>${operations.length} of the operations.</p>`
        : `<ul class="chips">${operations.map(({ operationId }) => `<li><a href="${hrefFrom(path, `api/${operationId}.html`)}"><code>${operationId}</code></a></li>`).join('')}</ul>`;
  const fields = fieldsOf(details);
  const body = `<h1><code>${code}</code></h1>
<p class="lead">${escaped(meaning[0]!.toUpperCase() + meaning.slice(1))}.</p>
<dl class="who"><dt>Status</dt><dd>${status}</dd><dt>Does a retry help?</dt><dd>${retryOf(code)}</dd></dl>
<h2 id="what-to-do">What to do</h2><p>${note.next}</p>${note.more}
<h2 id="details">Details</h2>${fields.length === 0 ? '<p>It has no details: the code says all.</p>' : `<p>Which of these are there depends on what the refusal is about.</p>${fieldList(fields, {}, 'details-')}`}
<h2 id="answer">${recorded === null ? 'How it looks' : 'As it was recorded'}</h2>${codeBlock(answer, 'json', recorded === null ? 'made of the schema' : `answer of ${recorded.operation}`)}
<h2 id="operations">Operations that answer it</h2>${listed}`;
  return {
    path,
    part: 'errors',
    group: `${status} ${STATUS_WORDS[status] ?? ''}`.trim(),
    title: code,
    summary: `${status}: ${meaning}.`,
    body,
    headings: ['What to do', 'Details', 'Answer', 'Operations'].map((text) => ({
      level: 2,
      id: text.toLowerCase().replaceAll(' ', '-'),
      text,
    })),
    markdown: `# ${code}\n\nStatus ${status}: ${meaning}.\n\n${note.markdown}\n\n\`\`\`json\n${answer}\n\`\`\`\n`,
    sought: [{ anchor: '', title: code, text: `${meaning} ${note.markdown}` }],
  };
}

/** Pages of all codes, by status. */
export function errorPages(recordings: Recordings, notes: ErrorNotes, nameOf: (from: string) => NameOf): Page[] {
  const sorted = CODES.toSorted((left, right) => ERRORS[left][0] - ERRORS[right][0]);
  return sorted.map((code) => pageOf(code, recordings, notes, nameOf));
}
