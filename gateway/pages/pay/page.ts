/** The markup of the pay page: whole without scripts. Text of merchants and payers is text. payments part 5. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Environment } from '../../../protocol/slugs.ts';
import { addressMarkup, attribute, escaped } from './html.ts';
import { modelOf, type Model, type Part, type Session } from './model.ts';
import { qrOf, type Qr } from './qr.ts';
import { directionOf, type Language, type Say } from './words.ts';

type LinkView = ReplyOf<'getCheckoutLink'>;

const asset = (name: string): { readonly body: string; readonly path: string } => {
  const body = readFileSync(new URL(name, import.meta.url), 'utf8');
  const [stem, ending] = name.split('.');
  return {
    body,
    path: `/pay/assets/${stem}-${createHash('sha256').update(body).digest('hex').slice(0, 12)}.${ending}`,
  };
};
export const STYLE = asset('pay.css');
export const SCRIPT = asset('pay.js');
export const ICON = asset('icon.svg');
export const INVOICE_STYLE = asset('invoice.css');
/** What the page says to the page that frames it. payments E10. */
export const FRAME_SCRIPT = asset('frame.js');

/** Who looks at a page, and in which words. */
export interface Reader {
  readonly language: Language;
  readonly say: Say;
  readonly environment: Environment;
  /** The registered origin of the page that frames it; null of a page of its own. payments E10. */
  readonly frame: string | null;
}

/** Where a link's page is, or a payment's, for this reader. */
export const placeOfPage = (
  { language, frame }: Pick<Reader, 'language' | 'frame'>,
  slug: string,
  paymentId: string | null = null,
): string => {
  const rest = `${slug}${paymentId === null ? '' : `/${paymentId}`}?lang=${language}`;
  return frame === null ? `/pay/${rest}` : `/embed/frame/${rest}&origin=${encodeURIComponent(frame)}`;
};

/** Seconds between two looks of a page without scripts. payments H1. */
const REFRESH_SECONDS = 20;

interface Frame {
  readonly title: string;
  readonly refresh?: boolean;
  /** Beside that of every page. */
  readonly style?: { readonly path: string };
  readonly script?: false;
  readonly body: string;
}

/** A whole document. */
export function page(
  { language, say, environment, frame }: Reader,
  { title, refresh = false, style, script, body }: Frame,
): string {
  const again = refresh ? `<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>` : '';
  const more = style === undefined ? '' : `<link rel="stylesheet" href="${style.path}">`,
    runs = script === false ? '' : `<script defer src="${SCRIPT.path}"></script>`;
  const framed = frame === null ? '' : `<script defer src="${FRAME_SCRIPT.path}"></script>`;
  const test = environment === 'sandbox' ? `<p class="test">${escaped(say('sandbox'))}</p>` : '';
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}"${attribute('data-framed-by', frame)}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow"><title>${escaped(title)}</title>${again}
<link rel="icon" href="${ICON.path}"><link rel="stylesheet" href="${STYLE.path}">${more}${runs}${framed}</head>
<body>${test}<main>${body}</main></body></html>`;
}

const qrMarkup = ({ size, path }: Pick<Qr, 'size' | 'path'>, label: string, id: string | null): string =>
  `<svg class="qr" viewBox="0 0 ${size} ${size}" role="img"${attribute('aria-label', label)} shape-rendering="crispEdges">` +
  `<rect width="100%" height="100%" fill="#fff"/><path${attribute('id', id)} d="${path}" fill="#000"/></svg>`;

function header({ link, merchant }: Pick<LinkView, 'link' | 'merchant'>, { say }: Reader): string {
  const title = say(link.mode === 'donation' ? 'donateTo' : 'to', { merchant: merchant.name ?? '' });
  const from = merchant.name === null ? '' : `<p class="merchant">${escaped(title)}</p>`;
  return `<header>${from}<h1 dir="auto">${escaped(link.title ?? merchant.name ?? link.slug)}</h1>${
    link.description === null ? '' : `<p class="description" dir="auto">${escaped(link.description)}</p>`
  }</header>`;
}

export function supportMarkup(
  { supportEmail, supportUrl }: Omit<LinkView['merchant'], 'name'>,
  { say }: Reader,
): string {
  if (supportEmail === null && supportUrl === null) return '';
  const mail =
      supportEmail === null ? '' : `<a href="mailto:${escaped(encodeURI(supportEmail))}">${escaped(supportEmail)}</a>`,
    site = supportUrl === null ? '' : `<a href="${escaped(supportUrl)}" rel="noreferrer">${escaped(supportUrl)}</a>`;
  return `<footer><p>${escaped(say('support'))} ${mail} ${site}</p></footer>`;
}

/** What leads away from a framed page opens a page of its own. */
const outOf = ({ frame }: Reader): string => (frame === null ? '' : ' target="_blank"');

const titleOf = ({ link, merchant }: Pick<LinkView, 'link' | 'merchant'>): string =>
  [link.title, merchant.name].filter((text) => text !== null).join(' · ');

const button = (kind: string, part: Part | null, label: string, extra = ''): string =>
  `<button type="button" class="${kind}" hidden data-needs-script${attribute('data-part', part)}${extra}>${escaped(label)}</button>`;

const amountOf = (amount: string, symbol: string): string =>
  `<p class="amount"><bdi dir="ltr"><b id="amount">${escaped(amount)}</b> ${escaped(symbol)}</bdi></p>`;

/** Address, code and what opens a wallet. */
function askMarkup(session: Session, model: Model, { say }: Reader): string {
  const { address, network, asset: symbol, uri } = session;
  const bare =
    uri === null
      ? ''
      : `<details><summary>${escaped(say('qrAddress'))}</summary>${qrMarkup(qrOf(address), say('qrAddress'), null)}</details>`;
  return `<section id="ask" data-part="ask"${model.parts.includes('ask') ? '' : ' hidden'}>
<h2 data-text="send">${escaped(model.send)}</h2>
${model.amount === '' ? '' : amountOf(model.amount, symbol)}
<p class="network"><strong>${escaped(say('sendOnly', { asset: symbol, network }))}</strong> ${escaped(say('otherLost'))}</p>
${qrMarkup(model.qr, `${say(uri === null ? 'qrAddress' : 'qrPayment')}: ${model.amount} ${symbol}, ${address}`, 'qr')}${bare}
<h3>${escaped(say('address'))}</h3><p>${addressMarkup(address)}</p>
<p class="buttons">${button('copy', null, say('copyAddress'), attribute('data-copy', address))}
${button('copy', 'copyAmount', say('copyAmount'), ' data-copy-amount')}
<a class="wallet" data-part="wallet"${uri === null ? ' hidden' : attribute('href', uri)}>${escaped(say('openWallet'))}</a></p>
<p class="buttons" id="wallets" data-part="wallets"${model.call === null ? ' hidden' : ''}></p></section>`;
}

/** What the script asks a wallet of the browser for, and says of it. payments H10. */
const walletMarks = ({ call }: Model, say: Say): string =>
  call === null
    ? ''
    : `${attribute('data-call', JSON.stringify(call))}${attribute('data-pay-with', say('payWith', { wallet: '{wallet}' }))}${attribute(
        'data-sent',
        say('walletSent'),
      )}${attribute('data-not-sent', say('walletDidNot'))}`;

/** What it is about, once nothing is asked any more. payments T4. */
const sumOf = ({ amount, amountPaid, asset: symbol, network }: Session, { say }: Reader): string =>
  `<dl><dt>${escaped(say('amount'))}</dt><dd><bdi dir="ltr">${escaped(amount ?? amountPaid)} ${escaped(symbol)}</bdi></dd>` +
  `<dt>${escaped(say('network'))}</dt><dd>${escaped(network)}</dd></dl>`;

const part = (name: Part, { parts }: Model, markup: string, tag = 'div'): string =>
  `<${tag} data-part="${name}"${parts.includes(name) ? '' : ' hidden'}>${markup}</${tag}>`;

/** A payment in each of its states. `path` is the page's own; null of a shared link, which has no payment to follow. */
export function paymentPage(session: Session, path: string | null, reader: Reader): string {
  const { say, language } = reader,
    { link, merchant } = session,
    model = modelOf(session, say, reader.environment);
  const transfers = model.transfers
    .map(({ text, href }) =>
      href === null
        ? `<li>${escaped(text)}</li>`
        : `<li><a href="${escaped(href)}" rel="noreferrer"${outOf(reader)}>${escaped(text)}</a></li>`,
    )
    .join('');
  const follows = path !== null && model.live;
  const body = `<div id="pay"${attribute('data-now', path === null ? null : `${path}/now?lang=${language}`)}${attribute(
    'data-events',
    follows ? `/v1/checkout/sessions/${session.paymentId}/events` : null,
  )}${attribute(
    'data-ends-in',
    model.endsInMs,
  )} data-status="${model.status}" data-live="${follows}" data-parts="${model.parts.join(' ')}" data-copied="${escaped(say('copied'))}"${walletMarks(model, say)}${attribute(
    'data-time-left',
    say('timeLeft', { time: '{time}' }),
  )}${attribute('data-minutes-left', say('minutesLeft', { minutes: '{minutes}' }))}>
${header(session, reader)}
<p class="state" role="status" id="state">${escaped(model.state)}</p>
${part('sum', model, sumOf(session, reader))}
${part('time', model, '<p id="time"></p>')}
${askMarkup(session, model, reader)}
${part('transfers', model, `<h3>${escaped(say('transfers'))}</h3><ul id="transfers">${transfers}</ul>`)}
${part('notices', model, `<ul id="notices">${model.notices.map((text) => `<li>${escaped(text)}</li>`).join('')}</ul>`)}
${part('shop', model, `<p><a class="wallet" id="shop"${attribute('href', model.shop)} rel="noreferrer"${outOf(reader)}>${escaped(say('toShop'))}</a></p>`)}
${part('wait', model, `<p>${escaped(say('bitcoinWait'))}</p>`)}
${part('help', model, `<p data-text="help">${escaped(model.help)}</p>`)}
${part('renew', model, `<p>${escaped(say('otherAddress'))}</p><p><a class="wallet" href="${escaped(placeOfPage(reader, link.slug))}">${escaped(say('renew'))}</a></p>`)}
<p class="buttons">${reader.frame === null ? button('copy', null, say('copyLink'), ' data-copy-link') : ''}
<a href="${escaped(placeOfPage(reader, link.slug))}">${escaped(say('anew'))}</a></p>
<p class="said" role="status" id="said"></p>${supportMarkup(merchant, reader)}</div>`;
  return page(reader, { title: `${model.state} · ${titleOf(session)}`, refresh: follows, body });
}

/** Why a link takes nothing now, in words. */
export function closedWord(view: LinkView): Parameters<Say>[0] {
  if (view.status === 'paused') return 'paused';
  if (view.closedReason === 'paid') return 'closedPaid';
  if (view.closedReason === 'threshold') return 'closedThreshold';
  if (view.closedReason === 'date') return 'closedDate';
  if (view.status === 'closed') return 'closedManual';
  return 'notActive';
}

export interface Problem {
  readonly text: string;
  /** What was entered, to be entered again. */
  readonly email: string;
  readonly name: string;
  readonly amount: string;
}

/** What to enter before an address is shown, or why none is. */
export function linkPage(view: LinkView, problem: Problem | null, reader: Reader): string {
  const { say, language } = reader,
    { link, merchant, network } = view;
  const asks = `<dl><dt>${escaped(say('amount'))}</dt><dd>${limitsOf(view, say)}</dd><dt>${escaped(say('network'))}</dt><dd>${escaped(network)}</dd></dl>`;
  const field = (name: string, label: string, more: string): string =>
    `<p><label for="${name}">${escaped(label)}</label><input id="${name}" name="${name}" dir="ltr"${more}></p>`;
  const form = `<form method="post" action="${escaped(placeOfPage(reader, link.slug))}"><input type="hidden" name="lang" value="${language}">
${link.mode === 'donation' ? field('amount', say('announce'), ` inputmode="decimal" autocomplete="off"${attribute('value', problem?.amount ?? '')}`) : ''}
${view.emailRequired ? field('email', say('email'), ` type="email" required maxlength="254" autocomplete="email"${attribute('value', problem?.email ?? '')}`) : ''}
${view.emailRequired ? `<p><label for="name">${escaped(say('name'))}</label><input id="name" name="name" dir="auto" maxlength="120" autocomplete="name"${attribute('value', problem?.name ?? '')}></p>` : ''}
<p><button type="submit">${escaped(say('show'))}</button></p></form>`;
  const body = `${header(view, reader)}${problem === null ? '' : `<p class="state" role="alert">${escaped(problem.text)}</p>`}
${asks}${view.open ? form : `<p class="state" role="status">${escaped(say(closedWord(view)))}</p>`}${supportMarkup(merchant, reader)}`;
  return page(reader, { title: titleOf(view), body });
}

function limitsOf({ amount, minAmount, maxAmount, asset: symbol }: LinkView, say: Say): string {
  if (amount !== null) return `<bdi dir="ltr">${escaped(amount)} ${escaped(symbol)}</bdi>`;
  const limits = [
    minAmount === null ? null : say('least', { amount: minAmount, asset: symbol }),
    maxAmount === null ? null : say('most', { amount: maxAmount, asset: symbol }),
  ].filter((text) => text !== null);
  return escaped(limits.length === 0 ? `${say('anyAmount')} (${symbol})` : limits.join(', '));
}

/** A page that says one thing. */
export const plainPage = (title: string, help: string, reader: Reader): string =>
  page(reader, { title, body: `<h1>${escaped(title)}</h1><p>${escaped(help)}</p>` });
