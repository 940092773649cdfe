/** `npm run -s docs:events`: writes docs/events.md from the event catalogue that the API description is made of. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { EVENT_CATALOGUE, exampleOf } from '../../protocol/schema/events.ts';
import { EVENTS, type EventName } from '../../protocol/slugs.ts';

interface Shape {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Shape[];
  description?: string;
  format?: string;
  pattern?: string;
}

const DOCUMENT = new URL('../../docs/events.md', import.meta.url);

function typeOf(shape: Shape): string {
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeOf).join(' or ');
  if (shape.const !== undefined) return `\`${String(shape.const)}\``;
  if (shape.enum !== undefined) return shape.enum.map((value) => `\`${String(value)}\``).join(', ');
  return shape.type ?? 'any';
}

function fieldsOf(event: EventName): string {
  const { properties = {} } = z.toJSONSchema(EVENT_CATALOGUE[event].data, { io: 'output' }) as {
    properties?: Record<string, Shape>;
  };
  const rows = Object.entries(properties).map(
    ([name, shape]) => `| \`${name}\` | ${typeOf(shape)} | ${shape.description ?? ''} |`,
  );
  return ['| field of `data` | type | note |', '|---|---|---|', ...rows].join('\n');
}

function section(event: EventName): string {
  return `## \`${event}\`

${EVENT_CATALOGUE[event].when}

${fieldsOf(event)}

\`\`\`json
${JSON.stringify(exampleOf(event), null, 2)}
\`\`\`
`;
}

/** The whole document. */
export function eventDocument(): string {
  return `# Events

Made of the catalogue in \`protocol/schema/events.ts\` by \`npm run -s docs:events\`; a test holds the two together. The same
catalogue, as JSON Schema, is the \`webhooks\` section of \`/v1/openapi.json\`. How events are delivered: [webhooks.md](webhooks.md).

Every event is one JSON object: \`event\` (its name), \`id\` (\`evt_…\`, the same at each delivery: be idempotent on it),
\`environment\`, \`confirmations\` and \`threshold\` (null where no transaction is meant), \`timestamp\` (when it happened) and
\`data\`. Events may get more fields; those that are named here stay.

${EVENTS.map((event) => `- [\`${event}\`](#${event})`).join('\n')}

${EVENTS.map(section).join('\n')}`;
}

if (import.meta.main) writeFileSync(DOCUMENT, eventDocument());
