/**
 * The page at `/`: what this edge is doing, in words, before any sync too. It needs no credential, so it shows no
 * address, no key, no amount that a customer moves and no name of one: of a webhook that is blocked host and port, of
 * sweeps the caps and what gas and fees used of them. One file, no script, nothing from elsewhere.
 */
import { createHash } from 'node:crypto';
import type { EdgePath } from './exchange.ts';

export type Tone = 'good' | 'warn' | 'bad';
export interface StatusLine {
  readonly label: string;
  readonly value: string;
  readonly tone?: Tone;
  readonly hint?: string;
}
export interface StatusView {
  readonly headline: string;
  readonly tone: Tone;
  readonly explanation: string;
  readonly lines: readonly StatusLine[];
}

const STYLE = `
:root{color-scheme:light dark;--ink:#14181f;--soft:#5a6472;--paper:#f6f7f9;--card:#fff;--line:#dfe3e8;--good:#0b6b3a;--warn:#8a5300;--bad:#a8201a}
@media (prefers-color-scheme:dark){:root{--ink:#eef1f5;--soft:#a4aebb;--paper:#0f1318;--card:#181e26;--line:#2b333d;--good:#5fd39a;--warn:#f0b357;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;display:grid;min-height:100vh;place-items:start center;padding:8vh 1rem}
main{width:100%;max-width:40rem}
p.brand{margin:0 0 .75rem;color:var(--soft);font-size:.875rem;letter-spacing:.04em}
h1{margin:0;font-size:1.75rem;line-height:1.2;display:flex;gap:.75rem;align-items:center}
h1::before{content:"";flex:none;width:.8rem;height:.8rem;border-radius:50%;background:currentColor}
h1.good{color:var(--good)}h1.warn{color:var(--warn)}h1.bad{color:var(--bad)}
p.lead{margin:.75rem 0 2rem;color:var(--soft);max-width:34rem}
dl{margin:0;background:var(--card);border:1px solid var(--line);border-radius:12px;overflow:hidden}
div.row{display:grid;grid-template-columns:minmax(8rem,12rem) 1fr;gap:1rem;padding:.8rem 1.1rem;border-top:1px solid var(--line)}
div.row:first-child{border-top:0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
dd.good{color:var(--good)}dd.warn{color:var(--warn)}dd.bad{color:var(--bad)}
dd small{display:block;color:var(--soft)}
footer{margin-top:1.25rem;color:var(--soft);font-size:.875rem}
a{color:inherit}a:focus-visible{outline:3px solid currentColor;outline-offset:3px}
@media (max-width:30rem){div.row{grid-template-columns:1fr;gap:.1rem}}
`;

const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The page of a view, asked for at each request. */
export function createStatusPage(view: () => StatusView, nowMs: () => number): EdgePath {
  return () => ({
    kind: 'bare',
    contentType: 'text/html; charset=utf-8',
    text: pageOf(view(), new Date(nowMs())),
    headers: HEADERS,
  });
}

function pageOf({ headline, tone, explanation, lines }: StatusView, now: Date): string {
  const rows = lines
    .map(
      ({ label, value, tone: rowTone, hint }) =>
        `<div class="row"><dt>${escaped(label)}</dt><dd${rowTone === undefined ? '' : ` class="${rowTone}"`}>${escaped(
          value,
        )}${hint === undefined ? '' : `<small>${escaped(hint)}</small>`}</dd></div>`,
    )
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(headline)} · Flock edge</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="brand">Flock edge</p>
<h1 class="${tone}">${escaped(headline)}</h1>
<p class="lead">${escaped(explanation)}</p>
<dl>
${rows}
</dl>
<footer>As of <time datetime="${now.toISOString()}">${now.toISOString().replace('T', ' ').slice(0, 19)} UTC</time>. <a href="/">Look again</a></footer>
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
