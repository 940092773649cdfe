/** The first page, and the first page of each part that is made of a catalogue. */
import { escaped } from './highlight.ts';
import { codeTabs } from './markdown.ts';
import { hrefFrom, type Page } from './page.ts';

const CALLS = [
  [
    'ts',
    'TypeScript',
    `const { address } = await flock.createAddress({ chain: 'eth', userRef: 'customer-42' });

// later, in your webhook:
const verdict = await verifyWebhook(request, null, secret);
if (verdict.ok && verdict.event.event === 'deposit_confirmed')
  await credit(creditKey(verdict.event), verdict.event.data);`,
  ],
  [
    'python',
    'Python',
    `address = flock.create_address(chain="eth", user_ref="customer-42")["address"]

# later, in your webhook:
verdict = verify_webhook(body, headers, secret)
if verdict.ok and verdict.event["event"] == "deposit_confirmed":
    credit(credit_key(verdict.event), verdict.event["data"])`,
  ],
  [
    'go',
    'Go',
    `address, err := client.CreateAddress(ctx, flock.CreateAddressParams{Chain: "eth", UserRef: "customer-42"})

// later, in your webhook:
event, err := flock.VerifyWebhook(body, r.Header, secret)
if err == nil && event.Event == flock.EventDepositConfirmed {
	err = credit(event)
}`,
  ],
] as const;

const CARDS: readonly (readonly [path: string, title: string, words: string])[] = [
  [
    'guides/quickstart-typescript',
    'Quickstart',
    'From nothing to a verified webhook in ten minutes: TypeScript, Python or Go.',
  ],
  ['guides/credit-safely', 'Credit safely', 'Once, never twice, and back again when a chain changes its mind.'],
  ['guides/withdrawals', 'Send money', 'Build, check and sign at your edge, and follow it until it is final.'],
  ['guides/payments', 'Take payments', 'Links, a pay page and an embedded checkout.'],
  ['guides/sweeps', 'Collect to a treasury', 'Sweep deposits to your treasury, within caps that only you set.'],
  ['guides/migration', 'Move here', 'Take over addresses and balances while your old system runs.'],
  ['guides/going-live', 'Go live', 'A checklist that a command proves.'],
  [
    'operate/edge-in-production',
    'Run the edge',
    'The one container that holds your keys: settings, replicas, backups.',
  ],
];

/** The page at /docs/. `version` is that of the service. */
export function homePage(): Page {
  const cards = CARDS.map(
    ([path, title, words]) =>
      `<li><a href="${path}.html"><b>${escaped(title)}</b><span>${escaped(words)}</span></a></li>`,
  );
  const body = `<section class="hero"><div><h1>Wallet infrastructure that cannot take your money</h1>
<p class="lead">Deposit addresses, balances, withdrawals and payments on ten chains behind one API. The cloud holds public keys only; your edge, in your own network, holds the phrase and checks everything before it signs.</p>
<p class="act"><a class="button" href="guides/quickstart-typescript.html">Start in ten minutes</a> <a class="button quiet" href="api/createAddress.html">API reference</a></p></div>
<div class="shown">${codeTabs(CALLS)}</div></section>
<ul class="cards">${cards.join('')}</ul>
<section class="facts"><div><h2>What it promises</h2><ul>
<li><b>You hear of a deposit once it is there, and again if the chain takes it back.</b> Confirmations, reorganisations and replays are the service's work; yours is one unique key.</li>
<li><b>A stolen cloud moves nothing.</b> The edge derives each address itself, decodes each transaction, and pays only what your application asked for.</li>
<li><b>Nothing is lost in between.</b> Events wait in order while your receiver, your edge or your database is away.</li></ul></div>
<div><h2>Look something up</h2><ul>
<li><a href="api/createAddress.html">Every operation</a>, with recorded answers and calls in five languages</li>
<li><a href="events/deposit_detected.html">Every event</a>, and the command that makes one</li>
<li><a href="errors/METHOD_NOT_ALLOWED.html">Every error code</a>: what it means and what to do</li>
<li><a href="runbooks/runbooks.html">Every alert</a> has its runbook</li>
<li><a href="operate/configuration.html">Every setting</a>, with its default</li></ul></div></section>`;
  return {
    path: 'index',
    part: '',
    group: '',
    title: 'Flock documentation',
    summary: 'Deposit addresses, balances, withdrawals and payments on ten chains behind one API; keys stay with you.',
    body,
    headings: [],
    markdown: `# Flock documentation\n\n${CARDS.map(([path, title, words]) => `- [${title}](${path}.md): ${words}`).join('\n')}\n`,
    sought: [],
  };
}

/** What each made part begins with. */
export function partPage(part: string, title: string, lead: string, pages: readonly Page[]): Page {
  const path = `${part}/index`;
  const groups = [...Map.groupBy(pages, ({ group }) => group)].map(
    ([group, own]) =>
      `<h2 id="${group.toLowerCase().replace(/[^a-z0-9]+/g, '-')}">${escaped(group)}</h2><ul class="index">${own
        .map(
          (page) =>
            `<li><a href="${hrefFrom(path, `${page.path}.html`)}"><code>${escaped(page.path.split('/')[1]!)}</code></a><span>${escaped(page.mark === undefined ? page.summary : page.title)}</span></li>`,
        )
        .join('')}</ul>`,
  );
  return {
    path,
    part,
    group: '',
    title,
    summary: lead,
    body: `<h1>${escaped(title)}</h1><p class="lead">${escaped(lead)}</p>${groups.join('')}`,
    headings: [],
    markdown: `# ${title}\n\n${lead}\n\n${pages.map((page) => `- [${page.title}](../${page.path}.md): ${page.summary}`).join('\n')}\n`,
    sought: [{ anchor: '', title, text: lead }],
  };
}
