/** A page for each event: when it comes, what to do, its fields, how to make one, a body. X40. */
import { z } from 'zod';
import { RECIPES } from '../../clients/cli/recipes.ts';
import type { Json } from '../../gateway/pages/examples.ts';
import { EVENT_CATALOGUE, exampleOf } from '../../protocol/schema/events.ts';
import { EVENTS, type EventName } from '../../protocol/slugs.ts';
import { escaped } from './highlight.ts';
import { codeBlock } from './markdown.ts';
import { hrefFrom, type Page } from './page.ts';
import { fieldList, fieldsOf } from './shapes.ts';

const GROUPS: readonly (readonly [start: RegExp, group: string])[] = [
  [/^(deposit|address)/, 'Deposits'],
  [/^withdrawal/, 'Withdrawals'],
  [/^payment/, 'Payments'],
  [/^sweep/, 'Sweeps'],
  [/./, 'The edge'],
];

/** What a receiver does with it, where money depends on that. */
const CREDIT: Readonly<Partial<Record<EventName, string>>> = {
  deposit_detected: 'Show it as pending. Credit nothing.',
  deposit_confirmed:
    'Credit now, once for each chain, txid and outputIndex: make these three unique in your table. The same deposit with a higher incarnation came back after a reversal: credit it again only if you took the first one back.',
  deposit_reversed:
    'Take back what you credited for the same chain, txid and outputIndex. It was never confirmed, or a reorganisation of the chain took it away.',
  payment_confirmed: 'Fulfil the order now: this event alone says that the whole sum is there.',
  payment_reversed: 'Take the order back: the money is not there any more.',
  withdrawal_broadcast: 'Show it as sent. It is not final.',
  withdrawal_confirmed: 'Book it as paid out.',
  withdrawal_failed: 'Book it back: it moved nothing. The fee may be spent.',
};

function pageOf(event: EventName): Page {
  const { when, data } = EVENT_CATALOGUE[event];
  const path = `events/${event}`;
  const schema = z.toJSONSchema(data, { io: 'output' }) as Json;
  const example = JSON.stringify(exampleOf(event), null, 2);
  const recipe = RECIPES[event];
  const credit = CREDIT[event];
  const trigger =
    typeof recipe === 'string'
      ? `<p>The command line cannot make it alone. It needs ${escaped(recipe)}.</p>`
      : `<p>Makes the fact behind it in your sandbox, waits for the event and prints its id:</p>${codeBlock(`npm run -s flock -- trigger ${event}`, 'sh')}<p>Inputs: ${Object.entries(
          recipe.inputs,
        )
          .map(([name, value]) => `<code>--set ${escaped(`${name}=${value}`)}</code>`)
          .join(' ')}</p>`;
  const group = GROUPS.find(([start]) => start.test(event))![1];
  const more = hrefFrom(path, 'guides/webhooks.html');
  const body = `<h1><code>${event}</code></h1><p class="lead">${escaped(when)}</p>
${credit === undefined ? '' : `<div class="note"><p><b>What your receiver does.</b> ${escaped(credit)}</p></div>`}
<h2 id="body">Body</h2>${codeBlock(example, 'json')}
<h2 id="fields">Fields of data</h2>${fieldList(fieldsOf(schema), {}, 'data-')}
<h2 id="try">Make one</h2>${trigger}
<h2 id="delivery">Delivery</h2><p>At least once, signed, by your edge. Be idempotent on <code>id</code>. First attempts for one address and one endpoint leave in the order of publication; a retry or a replay may be overtaken. <a href="${more}">How webhooks are delivered</a>.</p>`;
  return {
    path,
    part: 'events',
    group,
    title: event,
    summary: when,
    body,
    headings: [
      { level: 2, id: 'body', text: 'Body' },
      { level: 2, id: 'fields', text: 'Fields of data' },
      { level: 2, id: 'try', text: 'Make one' },
      { level: 2, id: 'delivery', text: 'Delivery' },
    ],
    markdown: `# ${event}\n\n${when}\n\n${credit ?? ''}\n\n\`\`\`json\n${example}\n\`\`\`\n`,
    sought: [
      { anchor: '', title: event, text: `${when} ${Object.keys((schema['properties'] ?? {}) as object).join(' ')}` },
    ],
  };
}

/** Pages of all events. */
export const eventPages = (): Page[] => {
  const pages = EVENTS.map(pageOf);
  return GROUPS.flatMap(([, group]) => pages.filter((page) => page.group === group));
};
